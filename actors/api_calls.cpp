#include "actors/api_calls.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "bridge/json_read.hpp"

namespace tutti::actors {

namespace {

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

} // namespace

/// /api/VERSION/… or /apis/GROUP/VERSION/…, then [namespaces/NAME/]PLURAL[/NAME[/SUBRESOURCE]].
api_call call_of(const protocol::http_request& x) {
  const auto url = boost::urls::parse_origin_form(x.target);
  const std::string path = url ? url->path() : x.target;
  std::vector<std::string> parts;
  if (url)
    parts.assign(url->segments().begin(), url->segments().end());
  const bool has_group = !parts.empty() && parts[0] == "apis";
  const std::size_t head = has_group ? 3 : 2;
  if (parts.size() <= head || (parts[0] != "api" && !has_group))
    return {std::string{verb_of(x.method, true, false)}, path};
  const auto group = has_group ? parts[1] : std::string{};
  parts.erase(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(head));
  if (parts[0] == "namespaces" && parts.size() > 2)
    parts.erase(parts.begin(), parts.begin() + 2);
  api_call out{std::string{verb_of(x.method, parts.size() > 1, x.is_stream)}, parts[0]};
  if (parts.size() > 2)
    out.resource += "/" + parts[2];
  if (!group.empty())
    out.resource += "." + group;
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
