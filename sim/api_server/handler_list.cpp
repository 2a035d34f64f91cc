// Lists and watches: many objects at once, consistent at one revision.
#include <fmt/format.h>

#include "sim/api_server/handler_parts.hpp"
#include "sim/api_server/table.hpp"

namespace tutti::sim::api_server {

namespace {
/// What closes a line of a watch around an object.
constexpr std::size_t line_end_most = 8;
} // namespace

response plain(int status, std::string body) {
  response r;
  r.status = status;
  r.body = std::move(body);
  return r;
}

void write_object(const endpoint& what, const object& x, std::string& out) {
  if (what.group == "events.k8s.io") {
    draft d{x.body};
    to_new_event(d.doc());
    out.append(what.head).append(json::serialize(d.doc()), 1);
    return;
  }
  out.reserve(out.size() + what.head.size() + x.body.size() + line_end_most);
  out.append(what.head).append(x.body, 1);
}

std::string one_table(const endpoint& what, const object& x, base::wall_time now,
                      row_object carries) {
  return table_of(what, {std::make_shared<object>(x)},
                  fmt::format(R"({{"resourceVersion":"{}"}})", x.rev), now, carries);
}

namespace {

/// A watch without timeoutSeconds ends after this, as servers do after half an hour to an hour.
constexpr auto watch_default = std::chrono::minutes{30};
constexpr auto bookmark_first = std::chrono::minutes{1};

std::string hex_of(std::string_view text) {
  std::string out;
  for (unsigned char c : text)
    out += fmt::format("{:02x}", c);
  return out;
}

std::string from_hex(std::string_view text) {
  std::string out;
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return out;
}

std::string to_token(const page_mark& m) {
  return hex_of(fmt::format("{}:{}", m.at, m.key));
}

std::optional<page_mark> from_token(std::string_view token) {
  auto text = from_hex(token);
  auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0)
    return std::nullopt;
  page_mark m;
  for (char c : text.substr(0, colon)) {
    if (c < '0' || c > '9')
      return std::nullopt;
    m.at = m.at * 10 + static_cast<revision>(c - '0');
  }
  m.key = text.substr(colon + 1);
  return m;
}

/// `{"kind":"PodList",…,"items":[…]}`.
std::string list_of(const endpoint& what, const std::vector<object_ptr>& rows,
                    std::string_view meta) {
  std::size_t size = 256;
  for (const auto& x : rows)
    size += x->body.size() + 1;
  std::string out;
  out.reserve(size);
  out = fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{},"items":[)",
                    what.what->kind, what.api_version, meta);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0)
      out += ',';
    if (what.group == "events.k8s.io")
      write_object(what, *rows[i], out);
    else
      out += rows[i]->body;
  }
  out += "]}";
  return out;
}

/// Objects in the order of their keys from `from` on, as they were at a revision.
class walk {
public:
  walk(const store::table& now, const store::table& then, std::string_view from)
      : a_(now.lower_bound(from)), a_end_(now.end()), b_(then.lower_bound(from)),
        b_end_(then.end()) {}

  /// Null at the end.
  object_ptr next() {
    for (;;) {
      if (a_ == a_end_ && b_ == b_end_)
        return nullptr;
      if (b_ == b_end_ || (a_ != a_end_ && a_->first < b_->first))
        return (a_++)->second;
      if (a_ != a_end_ && a_->first == b_->first)
        ++a_;
      if (auto x = (b_++)->second)
        return x;
    }
  }

private:
  store::table::const_iterator a_, a_end_, b_, b_end_;
};

} // namespace

/// Where the list begins: at its first page, or where the last one ended.
outcome<page_mark> handler::page_of(const target& path, const route& to) const {
  auto limit = path.number("limit").value_or(0);
  auto asked = path.number("resourceVersion").value_or(0);
  auto match = path.parameter("resourceVersionMatch");
  if (asked > store_.last())
    return too_large_version(asked, store_.last());
  page_mark mark{store_.last(), to.ns.empty() ? "" : fmt::format("{}/", to.ns)};
  auto is_exact = asked > 0 && (match == "Exact" || (match.empty() && limit > 0));
  if (is_exact)
    mark.at = asked;
  if (auto token = path.parameter("continue"); !token.empty()) {
    auto parsed = from_token(token);
    if (!parsed || parsed->at > store_.last())
      return bad_request("continue key is not valid");
    mark = *parsed;
    if (mark.at == 0) // an inconsistent continuation: from there on as things are now
      mark.at = store_.last();
  }
  return mark;
}

/// 410: what was there at the mark is forgotten; says how to go on all the same.
refusal handler::page_expired(kind_id kind, const page_mark& mark, bool has_token) const {
  auto r = expired(mark.at, store_.window_start(kind));
  if (has_token) {
    r.message = "The provided continue parameter is too old to display a consistent list result. "
                "You can start a new list without the continue parameter, or use the continue "
                "token in this response to retrieve the remainder of the results.";
    r.continue_token = to_token({0, mark.key});
  }
  return r;
}

outcome<response> handler::list(const request& r, const target& path, const route& to) {
  count("list", to);
  auto table = table_asked(r.accept, path.parameter("includeObject"));
  if (auto* refused = std::get_if<refusal>(&table))
    return *refused;
  auto kind = to.what->what->id;
  auto wanted = selector::parse(*to.what->what, path.parameter("labelSelector"),
                                path.parameter("fieldSelector"));
  if (auto* refused = std::get_if<refusal>(&wanted))
    return *refused;
  auto page = page_of(path, to);
  if (auto* refused = std::get_if<refusal>(&page))
    return *refused;
  const auto& mark = std::get<page_mark>(page);
  auto then = store_.difference_to(kind, mark.at);
  if (!then)
    return page_expired(kind, mark, !path.parameter("continue").empty());
  auto limit = path.number("limit").value_or(0);
  auto prefix = to.ns.empty() ? std::string{} : fmt::format("{}/", to.ns);
  std::vector<object_ptr> rows;
  std::string next_key;
  walk objects{store_.all(kind), *then, mark.key};
  while (auto x = objects.next()) {
    if (!x->key.starts_with(prefix))
      break;
    if (!std::get<selector>(wanted).matches(*x))
      continue;
    if (limit > 0 && rows.size() == limit) {
      next_key = x->key;
      break;
    }
    rows.push_back(std::move(x));
  }
  auto meta = fmt::format(R"({{"resourceVersion":"{}")", mark.at);
  if (!next_key.empty())
    meta += fmt::format(R"(,"continue":"{}")", to_token({mark.at, next_key}));
  meta += "}";
  if (const auto carries = std::get<0>(table))
    return plain(200, table_of(*to.what, rows, meta, clock_.wall_now(), *carries));
  return plain(200, list_of(*to.what, rows, meta));
}

outcome<response> handler::start_watch(const request& r, const target& path, const route& to,
                                       answer& out) {
  count("watch", to);
  auto table = table_asked(r.accept, path.parameter("includeObject"));
  if (auto* refused = std::get_if<refusal>(&table))
    return *refused;
  auto wanted = selector::parse(*to.what->what, path.parameter("labelSelector"),
                                path.parameter("fieldSelector"));
  if (auto* refused = std::get_if<refusal>(&wanted))
    return *refused;
  auto asked = path.number("resourceVersion").value_or(0);
  auto is_streaming_list = path.flag("sendInitialEvents");
  if (is_streaming_list && path.parameter("resourceVersionMatch") != "NotOlderThan")
    return invalid("ListOptions", {"meta.k8s.io", "", ""},
                   {{"FieldValueForbidden",
                     "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                     "NotOlderThan",
                     "sendInitialEvents"}});
  if (asked > store_.last())
    return too_large_version(asked, store_.last());
  auto now = clock_.now();
  watch::options how;
  how.what = to.what;
  how.ns = to.ns;
  how.wanted = std::get<selector>(wanted);
  how.wants_bookmarks = path.flag("allowWatchBookmarks");
  const auto carries = std::get<0>(table);
  how.wants_table = carries.has_value();
  how.bookmark_at = now + bookmark_first;
  auto seconds = path.number("timeoutSeconds").value_or(0);
  how.ends_at = now
                + (seconds > 0 ? base::duration{std::chrono::seconds{seconds}}
                               : base::duration{watch_default});
  how.write = [what = to.what, carries, this](const object& x, std::string& line) {
    if (carries)
      line += one_table(*what, x, clock_.wall_now(), *carries);
    else
      write_object(*what, x, line);
  };
  std::string initial;
  if (is_streaming_list || asked == 0) {
    auto prefix = to.ns.empty() ? std::string{} : fmt::format("{}/", to.ns);
    const auto& all = store_.all(to.what->what->id);
    for (auto it = all.lower_bound(prefix); it != all.end(); ++it) {
      if (!it->first.starts_with(prefix))
        break;
      if (!how.wanted.matches(*it->second))
        continue;
      initial += R"({"type":"ADDED","object":)";
      how.write(*it->second, initial);
      initial += "}\n";
    }
    if (is_streaming_list && how.wants_bookmarks)
      initial += bookmark_line(*to.what, store_.last(), true, how.wants_table);
    asked = store_.last();
  }
  out.stream =
      std::make_unique<watch>(std::move(how), store_, asked, std::move(initial), store_.last());
  return response{};
}

} // namespace tutti::sim::api_server
