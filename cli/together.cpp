#include "cli/together.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <boost/json.hpp>

#include "bridge/json_read.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

json::array* items_of(json::object& answer) {
  auto* items = answer.if_contains("items");
  return items != nullptr ? items->if_array() : nullptr;
}

/// In place of a row of somebody who does not place the gang comes that of who does.
void take_better_rows(json::array& into, json::array& more) {
  using key = std::pair<std::string, std::string>;
  const auto key_of = [](const json::object& row) {
    return key{bridge::text_at(row, "namespace"), bridge::text_at(row, "name")};
  };
  std::map<key, std::size_t> known;
  for (std::size_t i = 0; i < into.size(); ++i)
    known.emplace(key_of(into[i].as_object()), i);
  for (auto& x : more) {
    const auto pos = known.find(key_of(x.as_object()));
    if (pos == known.end())
      into.push_back(std::move(x));
    else if (is_elsewhere(into[pos->second].as_object()) && !is_elsewhere(x.as_object()))
      into[pos->second] = std::move(x);
  }
}

/// What a story is told in the order of, and what everything else is.
std::int64_t place_of(const json::value& item) {
  for (const char* field : {"unix_ms", "shard"})
    if (const auto* at = item.as_object().if_contains(field); at != nullptr && at->is_number())
      return at->to_number<std::int64_t>();
  return 0;
}

void take_pieces(json::array& into, json::array& more) {
  std::set<std::string> known; // there may be tens of thousands
  for (const auto& x : into)
    known.insert(json::serialize(x));
  for (auto& x : more)
    if (known.insert(json::serialize(x)).second)
      into.push_back(std::move(x));
  std::stable_sort(into.begin(), into.end(), [](const json::value& a, const json::value& b) {
    return place_of(a) < place_of(b);
  });
}

} // namespace

togetherness togetherness_of(std::string_view path) {
  path = path.substr(0, path.find('?'));
  if (path == "/api/gangs")
    return togetherness::best_row;
  if (path.starts_with("/api/gangs/"))
    return togetherness::owner;
  if (path.starts_with("/api/trace/") || path == "/api/reservations" || path == "/api/shards")
    return togetherness::pieces;
  return togetherness::anyone;
}

bool is_elsewhere(const json::object& gang) {
  const auto* said = gang.if_contains("elsewhere");
  return said != nullptr && said->is_bool() && said->get_bool();
}

json::object together(togetherness how, std::vector<json::object> answers) {
  auto& first = answers.front();
  for (auto& next : answers) {
    if (&next == &first)
      continue;
    auto* into = items_of(first);
    auto* more = items_of(next);
    if (how == togetherness::owner && is_elsewhere(first) && !is_elsewhere(next))
      first = std::move(next);
    else if (how == togetherness::best_row && into != nullptr && more != nullptr)
      take_better_rows(*into, *more);
    else if (how == togetherness::pieces && into != nullptr && more != nullptr)
      take_pieces(*into, *more);
  }
  return std::move(first);
}

} // namespace tutti::cli
