#include "actors/api_calls.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "bridge/json_read.hpp"

namespace tutti::actors {

namespace {

/// /apis/GROUP/VERSION/namespaces/NAME/PLURAL/NAME/SUBRESOURCE
constexpr std::size_t path_parts_most = 8;

std::string_view verb_of(std::string_view method, bool is_one, bool is_watch) {
  if (method == "GET")
    return is_watch ? "watch" : is_one ? "get" : "list";
  if (method == "POST")
    return "create";
  if (method == "PUT")
    return "update";
  return method == "PATCH" ? "patch" : "delete";
}

/// Other reasons for a 403 are a quota, or a namespace that ends.
bool is_for_want_of_a_right(std::string_view message) {
  return message.find("User \"") != message.npos && message.find("\" cannot ") != message.npos;
}

/// Paths are our own: nothing in them is escaped.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> out;
  out.reserve(path_parts_most);
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

} // namespace

/// /api/VERSION/… or /apis/GROUP/VERSION/…, then [namespaces/NAME/]PLURAL[/NAME[/SUBRESOURCE]].
api_call call_of(const protocol::http_request& x) {
  const auto path = std::string_view{x.target}.substr(0, x.target.find('?'));
  const auto all = parts_of(path);
  std::span<const std::string_view> parts{all};
  const bool has_group = !parts.empty() && parts[0] == "apis";
  const std::size_t head = has_group ? 3 : 2;
  if (parts.size() <= head || (parts[0] != "api" && !has_group))
    return {std::string{verb_of(x.method, true, false)}, std::string{path}};
  parts = parts.subspan(head);
  if (parts[0] == "namespaces" && parts.size() > 2)
    parts = parts.subspan(2);
  api_call out{std::string{verb_of(x.method, parts.size() > 1, x.is_stream)},
               std::string{parts[0]}};
  if (parts.size() > 2)
    out.resource.append("/").append(parts[2]);
  if (has_group)
    out.resource.append(".").append(all[1]);
  return out;
}

std::string to_text(const api_call& x) {
  return x.verb + " " + x.resource;
}

void api_calls::heard(const api_call& what, const protocol::event& said) {
  const auto* answer = std::get_if<protocol::answered>(&said);
  const bool is_open = std::holds_alternative<protocol::stream_opened>(said);
  if (answer == nullptr && !is_open && !std::holds_alternative<protocol::answer_unknown>(said))
    return;
  const int status = answer != nullptr ? answer->status : is_open ? 200 : 0;
  const auto words = status == 403 ? bridge::status_message(answer->body) : std::string{};
  const std::lock_guard lock{mutex_};
  ++counts_[{what, status}];
  if (is_for_want_of_a_right(words))
    missing_[what] = words;
  else if (status != 0 && status != 401 && status != 429 && status < 500)
    missing_.erase(what);
}

std::map<std::pair<api_call, int>, std::uint64_t> api_calls::counts() const {
  const std::lock_guard lock{mutex_};
  return counts_;
}

std::vector<api_calls::missing_right> api_calls::missing() const {
  const std::lock_guard lock{mutex_};
  std::vector<missing_right> out;
  for (const auto& [what, words] : missing_)
    out.push_back({what, words});
  return out;
}

} // namespace tutti::actors
