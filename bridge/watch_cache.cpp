#include "bridge/watch_cache.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bridge/json_read.hpp"

namespace tutti::bridge {

namespace {

constexpr std::uint8_t watch_channel = 1;
constexpr std::uint8_t list_channel = 2;
/// What an entry of the history costs beside its object.
constexpr std::size_t entry_bytes = 64;

std::string status_text(int code, std::string_view reason, std::string_view message) {
  return boost::json::serialize(boost::json::object{{"kind", "Status"},
                                                    {"apiVersion", "v1"},
                                                    {"status", "Failure"},
                                                    {"message", message},
                                                    {"reason", reason},
                                                    {"code", code}});
}

const std::string& too_old() {
  static const auto text = status_text(410, "Expired", "too old resource version");
  return text;
}

std::string bookmark_text(std::uint64_t version, bool ends_list) {
  const auto* notes = ends_list ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version, notes);
}

std::uint64_t version_in(const boost::json::object& object) {
  const auto* meta = object_at(object, "metadata");
  return meta ? version_number(text_at(*meta, "resourceVersion")).value_or(0) : 0;
}

/// The same id for whatever it is.
http_event under(std::uint64_t id, http_event e) {
  std::visit([id](auto& x) { x.id = id; }, e);
  return e;
}

/// "/api/v1/pods" and "/apis/GROUP/VERSION/PLURAL".
bool is_whole_collection(std::string_view path) {
  const auto parts = std::count(path.begin(), path.end(), '/');
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
  };
  return !path.ends_with('/') && std::all_of(path.begin(), path.end(), is_plain)
         && ((path.starts_with("/api/") && parts == 3)
             || (path.starts_with("/apis/") && parts == 4));
}

} // namespace

std::optional<watch_wish> watch_wish_of(const protocol::http_request& x) {
  const auto target = std::string_view{x.target};
  const auto mark = target.find('?');
  if (!x.is_stream || x.method != "GET" || mark == target.npos
      || !is_whole_collection(target.substr(0, mark)))
    return std::nullopt;
  watch_wish out{.path = std::string{target.substr(0, mark)}};
  bool is_watch = false, has_bookmarks = false;
  for (auto rest = target.substr(mark + 1); !rest.empty();) {
    const auto field = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    const auto name = field.substr(0, field.find('='));
    const auto value = field.substr(std::min(name.size() + 1, field.size()));
    if (name == "watch")
      is_watch = value == "true";
    else if (name == "allowWatchBookmarks")
      has_bookmarks = value == "true";
    else if (name == "sendInitialEvents")
      out.lists = value == "true";
    else if (name == "resourceVersion")
      out.version = value;
    else if (name != "resourceVersionMatch" && name != "timeoutSeconds")
      return std::nullopt;
  }
  const bool is_clear = out.lists ? out.version.empty() : version_number(out.version).has_value();
  return is_watch && has_bookmarks && is_clear ? std::optional{out} : std::nullopt;
}

watch_cache::watch_cache(options o)
    : options_(std::move(o)), seen_({.path = options_.path, .channel = watch_channel}),
      fresh_({.path = options_.path, .channel = list_channel}) {}

void watch_cache::start(base::time_point now, protocol::effects& out) {
  seen_.start(options_.seed, now, out);
}

bool watch_cache::on(const protocol::event& e, base::time_point now, protocol::effects& out) {
  const auto before = first_ + history_.size();
  const bool is_of_watch = seen_.on(e, now, out, [this](const change& c) { apply(c); });
  if (!is_of_watch && !fresh_.on(e, out))
    return false;
  if (seen_.is_fresh() && history_of_ != seen_.list_no())
    begin_history();
  const bool was_heard = is_of_watch && std::holds_alternative<protocol::stream_lines>(e);
  // Whatever the server says shows that it lives, also what changes nothing here.
  if (was_heard && seen_.is_fresh()) {
    const bool is_news = first_ + history_.size() > before;
    if (!is_news || history_.empty() || history_.back().version < version())
      remember({kind::bookmark, nullptr, version()});
  }
  settle(out);
  return true;
}

// ---------------------------------------------------------------- what the server says

void watch_cache::apply(const change& c) {
  const bool is_live = seen_.is_fresh(); // else it is part of a list
  if (is_live && history_of_ != seen_.list_no())
    begin_history();
  if (c.what == change::kind::deleted) {
    ensure(c.tag > 0 && c.tag <= objects_.size(), c.tag, options_.path);
    auto last_seen = std::exchange(objects_[c.tag - 1], nullptr);
    free_tags_.push_back(std::exchange(c.tag, 0));
    if (!is_live)
      return;
    auto text = c.object == nullptr
                    ? last_seen
                    : std::make_shared<const std::string>(
                        c.text.empty() ? boost::json::serialize(*c.object) : std::string{c.text});
    remember({kind::deleted, std::move(text), c.object ? version_in(*c.object) : 0});
    return;
  }
  auto text = std::make_shared<const std::string>(c.text.empty() ? boost::json::serialize(*c.object)
                                                                 : std::string{c.text});
  if (c.tag == 0 && free_tags_.empty()) {
    objects_.emplace_back();
    c.tag = objects_.size();
  } else if (c.tag == 0) {
    c.tag = free_tags_.back();
    free_tags_.pop_back();
  }
  objects_[c.tag - 1] = text;
  if (is_live)
    remember({c.what == change::kind::added ? kind::added : kind::modified, std::move(text),
              version_in(*c.object)});
}

/// Versions never go back here: what was revealed without one has that of its neighbour.
void watch_cache::remember(entry e) {
  e.version = std::max(e.version, history_.empty() ? oldest_ : history_.back().version);
  history_bytes_ += entry_bytes + (e.text ? e.text->size() : 0);
  history_.push_back(std::move(e));
  while (history_bytes_ > options_.history_bytes_most && history_.size() > 1) {
    const auto& gone = history_.front();
    history_bytes_ -= entry_bytes + (gone.text ? gone.text->size() : 0);
    oldest_ = gone.version;
    history_.pop_front();
    ++first_;
  }
}

/// Nobody's place is in it any more, not even that of who had heard everything.
void watch_cache::begin_history() {
  first_ += history_.size() + 1;
  history_.clear();
  history_bytes_ = 0;
  oldest_ = version();
  history_of_ = seen_.list_no();
}

std::uint64_t watch_cache::version() const {
  return version_number(seen_.resource_version()).value_or(0);
}

// ---------------------------------------------------------------- who may follow

void watch_cache::follow(std::uint64_t who, const watch_wish& what, protocol::effects& out) {
  ensure(what.path == options_.path, what.path, options_.path);
  auto [pos, is_new] = followers_.try_emplace(who);
  ensure(is_new, who);
  if (what.lists) {
    fresh_.ask(who, out);
    return;
  }
  pos->second.now = follower::state::waits_for_watch;
  pos->second.since = version_number(what.version).value_or(0);
  settle(out);
}

void watch_cache::leave(std::uint64_t who) {
  followers_.erase(who);
  fresh_.forget(who);
}

void watch_cache::settle(protocol::effects& out) {
  if (was_fresh_ && !seen_.is_fresh())
    cut_off("the bridge has lost its watch: " + seen_.last_failure());
  was_fresh_ = seen_.is_fresh();
  settle_lists(out);
  settle_watches();
}

/// Upholds S12: who followed must not take silence for peace.
void watch_cache::cut_off(const std::string& why) {
  for (auto& [who, f] : followers_)
    if (f.now == follower::state::open && !f.last)
      f.last = f.was_opened ? http_event{protocol::stream_closed{who, why}}
                            : http_event{protocol::answer_unknown{who, why}};
}

void watch_cache::settle_lists(protocol::effects& out) {
  if (const auto* failed = fresh_.failure()) {
    const auto words = *failed;
    for (const auto who : fresh_.finish(out))
      if (const auto pos = followers_.find(who); pos != followers_.end())
        pos->second.last = under(who, words);
    return;
  }
  if (!seen_.is_fresh())
    return;
  const auto serve = [&](const list_of& what) {
    for (const auto who : fresh_.finish(out))
      if (const auto pos = followers_.find(who); pos != followers_.end())
        open_with(pos->second, what);
  };
  if (const auto wanted = fresh_.awaited(); wanted && version() >= *wanted)
    serve(all_objects());
  else if (fresh_.is_late())
    fresh_.read_pages(out);
  else if (const auto found = fresh_.listed(); found && *found >= oldest_)
    serve({fresh_.take_items(), *found});
  else if (found)
    fresh_.ask_again(out); // what has happened since is not known here
}

void watch_cache::settle_watches() {
  for (auto& [who, f] : followers_) {
    if (f.now != follower::state::waits_for_watch || f.last)
      continue;
    if (seen_.is_forbidden()) {
      f.last = protocol::answered{who, 403, status_text(403, "Forbidden", seen_.last_failure())};
    } else if (seen_.is_fresh() && (f.since < oldest_ || f.since > version())) {
      f.last = protocol::answered{who, 410, too_old()};
    } else if (seen_.is_fresh()) {
      f.now = follower::state::open;
      f.place = place_after(f.since);
    }
  }
}

watch_cache::list_of watch_cache::all_objects() const {
  list_of out{.items = {}, .version = version()};
  out.items.reserve(seen_.size());
  for (const auto& x : objects_)
    if (x)
      out.items.push_back(x);
  return out;
}

void watch_cache::open_with(follower& f, list_of what) const {
  f.now = follower::state::open;
  f.list = std::move(what.items);
  f.list_version = what.version;
  f.place = place_after(what.version);
}

std::uint64_t watch_cache::place_after(std::uint64_t version) const {
  const auto pos = std::partition_point(history_.begin(), history_.end(),
                                        [&](const entry& e) { return e.version <= version; });
  return first_ + static_cast<std::uint64_t>(pos - history_.begin());
}

// ---------------------------------------------------------------- what a follower hears

std::optional<http_event> watch_cache::next(std::uint64_t who, std::size_t most) {
  const auto pos = followers_.find(who);
  if (pos == followers_.end())
    return std::nullopt;
  auto& f = pos->second;
  if (f.last) {
    auto out = under(who, std::move(*f.last));
    followers_.erase(pos);
    return out;
  }
  if (f.now != follower::state::open)
    return std::nullopt;
  if (!std::exchange(f.was_opened, true))
    return protocol::stream_opened{who};
  std::string lines;
  take_lines(f, most, lines);
  if (lines.empty())
    return std::nullopt;
  return protocol::stream_lines{who, std::move(lines)};
}

void watch_cache::add_line(std::string& to, kind what, std::string_view text) {
  constexpr std::string_view names[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK"};
  to.append(R"({"type":")").append(names[static_cast<std::size_t>(what)]);
  to.append(R"(","object":)").append(text).append("}\n");
}

void watch_cache::take_lines(follower& f, std::size_t most, std::string& out) const {
  for (; f.told < f.list.size() && out.size() < most; ++f.told)
    add_line(out, kind::added, *f.list[f.told]);
  if (f.told < f.list.size())
    return;
  f.list = {};
  f.told = 0;
  if (f.place < first_) { // also of a list that was told too slowly
    out = fmt::format("{{\"type\":\"ERROR\",\"object\":{}}}\n", too_old());
    f.last = protocol::stream_closed{};
    return;
  }
  if (f.list_version)
    add_line(out, kind::bookmark, bookmark_text(*std::exchange(f.list_version, {}), true));
  for (; f.place < first_ + history_.size() && out.size() < most; ++f.place) {
    const auto& e = history_[f.place - first_];
    add_line(out, e.what, e.text ? *e.text : bookmark_text(e.version, false));
  }
}

} // namespace tutti::bridge
