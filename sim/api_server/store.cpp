// Tables, history window and the watermark of what is durable.
#include "sim/api_server/store.hpp"

#include <algorithm>

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

object_ptr store::find(kind_id kind, std::string_view key) const {
  const auto& objects = of(kind).objects;
  auto it = objects.find(key);
  return it == objects.end() ? nullptr : it->second;
}

void store::put(kind_id kind, object_ptr now) {
  ensure(now->rev == next(), now->rev, last_);
  last_ = now->rev;
  auto& place = of(kind).objects[now->key];
  auto what = place ? change::modified : change::added;
  writes_.push_back({kind, now, false});
  auto before = std::exchange(place, now);
  record(kind, {what, std::move(now), std::move(before)});
}

void store::erase(kind_id kind, object_ptr last_state) {
  ensure(last_state->rev == next(), last_state->rev, last_);
  auto it = of(kind).objects.find(last_state->key);
  ensure(it != of(kind).objects.end(), last_state->key);
  last_ = last_state->rev;
  auto before = std::move(it->second);
  of(kind).objects.erase(it);
  writes_.push_back({kind, last_state, true});
  record(kind, {change::deleted, std::move(last_state), std::move(before)});
}

void store::record(kind_id kind, event e) {
  auto& s = of(kind);
  s.bytes += e.now->body.size();
  s.history.push_back(std::move(e));
  while (s.history.size() > options_.events_max
         || (s.bytes > options_.bytes_max && s.history.size() > 1)) {
    const auto& oldest = s.history.front();
    s.window_start = oldest.now->rev;
    s.bytes -= oldest.now->body.size();
    s.history.pop_front();
    ++s.dropped;
  }
  if (options_.is_durable_at_once) {
    writes_.clear();
    durable_ = last_;
  }
}

std::vector<pending_write> store::take_writes() {
  return std::exchange(writes_, {});
}

void store::mark_durable(revision r) {
  ensure(r <= last_, r, last_);
  durable_ = std::max(durable_, r);
}

void store::restore(kind_id kind, object_ptr x) {
  ensure(last_ == 0, last_);
  auto key = x->key;
  of(kind).objects[std::move(key)] = std::move(x);
}

void store::restored(revision last) {
  ensure(last_ == 0, last_);
  last_ = durable_ = last;
  for (auto& s : slots_)
    s.window_start = last;
}

const event& store::event_at(kind_id kind, std::size_t i) const {
  const auto& s = of(kind);
  ensure(i >= s.dropped && i - s.dropped < s.history.size(), i, s.dropped);
  return s.history[i - s.dropped];
}

std::size_t store::event_after(kind_id kind, revision r) const {
  const auto& s = of(kind);
  auto it = std::ranges::upper_bound(s.history, r, {}, [](const event& e) { return e.now->rev; });
  return s.dropped + static_cast<std::size_t>(it - s.history.begin());
}

std::optional<std::map<std::string, object_ptr, std::less<>>>
store::difference_to(kind_id kind, revision r) const {
  if (r < window_start(kind))
    return std::nullopt;
  std::map<std::string, object_ptr, std::less<>> out;
  for (auto i = event_after(kind, r); i < end_event(kind); ++i) {
    const auto& e = event_at(kind, i);
    out.emplace(e.now->key, e.before); // the first change after r tells what was there at r
  }
  return out;
}

} // namespace tutti::sim::api_server
