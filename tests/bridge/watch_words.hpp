// The words of watches: what servers write, and what was heard in short.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "bridge/api_client.hpp"
#include "bridge/json_read.hpp"

namespace tutti::bridge::watch_words {

inline std::string object(std::string_view name, std::uint64_t version, std::string_view uid = "") {
  return fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"{}",)"
                     R"("resourceVersion":"{}"}}}})",
                     name, uid.empty() ? name : uid, version);
}
inline std::string event(std::string_view type, const std::string& what) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, what);
}
inline std::string bookmark(std::uint64_t version, bool ends_list = false) {
  const auto* notes = ends_list ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return event("BOOKMARK",
               fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version, notes));
}
inline std::string page(const std::vector<std::string>& items, std::uint64_t version,
                        std::string_view more = "") {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                     version, more, fmt::join(items, ","));
}

/// "+a" "~a" "-a", "|12" and "|12*" for bookmarks, "410!" for an error.
inline std::string line_in_words(std::string_view line) {
  const auto x = boost::json::parse(boost::json::string_view{line.data(), line.size()}).as_object();
  const auto type = text_at(x, "type");
  const auto& what = x.at("object").as_object();
  if (type == "ERROR")
    return fmt::format("{}!", what.at("code").as_int64());
  const auto& meta = what.at("metadata").as_object();
  if (type == "BOOKMARK")
    return fmt::format("|{}{}", text_at(meta, "resourceVersion"),
                       meta.contains("annotations") ? "*" : "");
  return fmt::format("{}{}",
                     type == "ADDED"     ? '+'
                     : type == "DELETED" ? '-'
                                         : '~',
                     text_at(meta, "name"));
}

/// One piece that a follower hears; its id must be `who`.
inline std::string in_words(const http_event& e, std::uint64_t who) {
  std::visit([who](const auto& x) { EXPECT_EQ(x.id, who); }, e);
  if (const auto* x = std::get_if<protocol::answered>(&e))
    return fmt::format("{} {}", x->status, x->body);
  if (const auto* x = std::get_if<protocol::answer_unknown>(&e))
    return fmt::format("unknown({})", x->why);
  if (const auto* x = std::get_if<protocol::stream_closed>(&e))
    return fmt::format("closed({})", x->why);
  const auto* lines = std::get_if<protocol::stream_lines>(&e);
  if (lines == nullptr)
    return "open";
  std::string out;
  for (std::string_view rest = lines->lines; !rest.empty();) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    out += (out.empty() ? "" : " ") + line_in_words(line);
  }
  return out;
}

} // namespace tutti::bridge::watch_words
