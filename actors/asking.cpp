#include "actors/asking.hpp"

#include <utility>

#include <boost/json.hpp>

namespace tutti::actors {

namespace json = boost::json;

json::value ask(scheduler& who, const protocol::address& whom, const char* what, std::string name) {
  const auto text = who.desk().ask(whom, what, std::move(name), answer_patience);
  if (text.empty())
    return nullptr;
  boost::system::error_code ec;
  auto parsed = json::parse(text, ec);
  return ec ? json::value{nullptr} : parsed;
}

json::value keeper_word(scheduler& who) {
  return ask(who, protocol::to(protocol::role_kind::keeper), "replicas");
}

std::optional<std::vector<std::uint32_t>> shards_here(scheduler& who) {
  std::vector<std::uint32_t> out;
  if (!who.options().has_others()) {
    for (std::uint32_t s = 0; s < who.options().shards; ++s)
      out.push_back(s);
    return out;
  }
  const auto said = keeper_word(who);
  if (!said.is_object())
    return std::nullopt;
  std::uint32_t s = 0; // they come first, ascending
  for (const auto& unit : said.at("units").as_array()) {
    if (s < who.options().shards && unit.at("runsHere").as_bool())
      out.push_back(s);
    ++s;
  }
  return out;
}

} // namespace tutti::actors
