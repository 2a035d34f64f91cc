// Events filtered for one client.
#include "sim/api_server/watch.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {
/// Real servers send a bookmark about once a minute.
constexpr auto bookmark_every = std::chrono::minutes{1};
} // namespace

std::string bookmark_line(const endpoint& what, revision r, bool ends_initial, bool as_table) {
  if (as_table)
    return fmt::format(R"({{"type":"BOOKMARK","object":{{"kind":"Table","apiVersion":)"
                       R"("meta.k8s.io/v1","metadata":{{"resourceVersion":"{}"}},)"
                       R"("columnDefinitions":[],"rows":[]}}}})"
                       "\n",
                       r);
  return fmt::format(R"({{"type":"BOOKMARK","object":{}"metadata":{{"resourceVersion":"{}"{}}}}}}})"
                     "\n",
                     what.head, r,
                     ends_initial ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
}

watch::watch(options o, const store& from, revision after, std::string initial,
             revision initial_rev)
    : options_(std::move(o)), store_(from), next_(from.event_after(options_.what->what->id, after)),
      shown_(after), initial_(std::move(initial)), initial_rev_(initial_rev),
      is_expired_(after < from.window_start(options_.what->what->id)) {}

base::time_point watch::next_deadline() const {
  return options_.wants_bookmarks ? std::min(options_.ends_at, options_.bookmark_at)
                                  : options_.ends_at;
}

void watch::line(std::string_view type, const object& x, std::string& out) {
  out.append(R"({"type":")").append(type).append(R"(","object":)");
  options_.write(x, out);
  out.append("}\n");
  ++events_sent_;
}

void watch::show(const event& e, std::string& out) {
  if (!options_.ns.empty() && e.now->ns() != options_.ns)
    return;
  auto is_in = e.what != change::deleted && options_.wanted.matches(*e.now);
  auto was_in = e.before && options_.wanted.matches(*e.before);
  if (is_in && was_in)
    line("MODIFIED", *e.now, out);
  else if (is_in)
    line("ADDED", *e.now, out);
  else if (was_in && e.what == change::deleted)
    line("DELETED", *e.now, out);
  else if (was_in) // still there, but out of the selector: its last state inside, at this revision
    line("DELETED", *with_revision(*e.before, e.now->rev), out);
}

void watch::bookmark(std::string& out) const {
  out += bookmark_line(*options_.what, std::max(shown_, store_.durable()), false,
                       options_.wants_table);
}

bool watch::poll(base::time_point now, std::string& out, std::size_t bytes_max) {
  auto kind = options_.what->what->id;
  if (is_over_ || initial_rev_ > store_.durable())
    return false;
  out += std::exchange(initial_, {});
  if (is_expired_ || next_ < store_.first_event(kind)) {
    out += fmt::format(R"({{"type":"ERROR","object":{}}})"
                       "\n",
                       to_status(expired(shown_, store_.window_start(kind))));
    is_over_ = true;
    return false;
  }
  auto start = out.size();
  for (auto end = store_.end_event(kind); next_ < end; ++next_) {
    const auto& e = store_.event_at(kind, next_);
    if (e.now->rev > store_.durable())
      break;
    if (out.size() - start > bytes_max)
      return true;
    show(e, out);
    shown_ = e.now->rev;
  }
  auto ends = now >= options_.ends_at;
  if (options_.wants_bookmarks && (ends || now >= options_.bookmark_at)) {
    bookmark(out);
    options_.bookmark_at = now + bookmark_every;
  }
  is_over_ = ends;
  return false;
}

} // namespace tutti::sim::api_server
