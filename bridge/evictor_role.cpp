// Victims one step at a time: marked, deleted, watched until they are gone, or touched and let go.
#include "bridge/evictor_role.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "bridge/backoff.hpp"
#include "bridge/pod_requests.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

namespace {

/// How a touch ends that stops an attempt's evictions.
std::string stop_of(const base::attempt_id& attempt) {
  return " stops " + to_text(attempt);
}

} // namespace

evictor_role::evictor_role(options o)
    : options_(std::move(o)), window_(limits::evictions_in_flight) {}

protocol::effects evictor_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  protocol::effects out;
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    seed_ = x->seed;
    incarnation_ = x->incarnation.value;
  } else if (const auto* m = std::get_if<protocol::received>(&e)) {
    if (const auto* v = std::get_if<protocol::evict>(&m->what))
      hear(*v);
    else if (const auto* s = std::get_if<protocol::stop_evicting>(&m->what))
      hear(*s);
    else if (const auto* q = std::get_if<protocol::inspect>(&m->what))
      out.tell(m->from, protocol::inspected{q->id, fmt::format(R"({{"victims":{},"inFlight":{}}})",
                                                               requests_.size(), window_.open())});
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, a->status, a->body, a->retry_after_ms, out);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, 0, {}, 0, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    window_.on_timer(t->timer);
  }
  window_.pump(now_, out, [&](request_id id) { return next_exchange(id); });
  report_stops(out);
  return out;
}

// ---------------------------------------------------------------- what gangs ask

void evictor_role::hear(const protocol::evict& x) {
  request r;
  r.attempt = x.attempt;
  r.gang = x.gang;
  r.who = x.who;
  r.why = x.why;
  r.event = x.event;
  r.is_for_pod = x.is_for_pod;
  r.fence = x.fence.value != 0 ? x.fence : x.attempt.epoch;
  if (!stopping_.contains(x.attempt)) // what comes late of a stopped attempt is not begun again
    add(std::move(r));
}

void evictor_role::add(request r) {
  const request_key key{r.attempt, r.who.pod};
  if (const auto pos = by_key_.find(key); pos != by_key_.end()) {
    auto& known = requests_.at(pos->second); // a copy, by an owner that may have been raised since
    known.fence = std::max(known.fence, r.fence);
    return;
  }
  const auto id = ++last_request_;
  by_key_.emplace(key, id);
  requests_.emplace(id, std::move(r));
  window_.enqueue(id, false);
}

void evictor_role::hear(const protocol::stop_evicting& x) {
  stopping_.insert(x.attempt);
  const auto by = x.fence.value != 0 ? x.fence : x.attempt.epoch;
  // An earlier life may have sent a DELETE that is still on its way: touch those too.
  for (const auto& v : x.who) {
    if (by_key_.contains({x.attempt, v.pod}))
      continue;
    request r;
    r.at = step::touching;
    r.attempt = x.attempt;
    r.who = v;
    r.is_stopped = true;
    r.touch_no = ++last_touch_;
    add(std::move(r));
  }
  std::vector<request_id> mine;
  for (auto& [id, r] : requests_)
    if (r.attempt == x.attempt) {
      r.fence = std::max(r.fence, by);
      mine.push_back(id);
    }
  for (const auto id : mine)
    stop(id);
}

/// A victim that is being deleted cannot be kept; any other is touched before its room is given up.
void evictor_role::stop(request_id id) {
  auto& r = requests_.at(id);
  if (r.at == step::waiting) {
    finish(id);
    return;
  }
  if (r.is_stopped)
    return;
  r.is_stopped = true;
  r.touch_no = ++last_touch_;
  if (base::is_planted(base::mutant::stop_without_a_touch) && !r.is_open) {
    finish(id);
    return;
  }
  if (!r.is_open) // else the answer is heard first: it may have been deleted already
    go(id, r, step::touching);
}

// ---------------------------------------------------------------- asking the server

std::optional<protocol::http_request> evictor_role::next_exchange(request_id id) {
  const auto pos = requests_.find(id);
  if (pos == requests_.end() || pos->second.is_open)
    return std::nullopt;
  auto& r = pos->second;
  r.is_open = true;
  switch (r.at) {
  case step::marking:
    return disruption_request(
        {r.who.pod_name, r.who.pod, r.why.empty() ? "PreemptionByScheduler" : "GangDegraded",
         fmt::format("{}: {}", options_.scheduler_name,
                     !r.why.empty() ? r.why
                                    : fmt::format("preempting to accommodate a higher priority {}",
                                                  r.is_for_pod ? "pod" : "podgroup")),
         wall_now()});
  case step::deleting:
    // Upholds S9: only what was judged, by uid and version.
    ensure(!r.resource_version.empty(), r.who.pod.value);
    return removal_request({r.who.pod_name, r.who.pod, r.resource_version});
  case step::reading:
  case step::waiting:
    return get_pod_request(r.who.pod_name);
  case step::touching:
    return touch_request(
        {r.who.pod_name, r.who.pod, fence_of_request(r),
         fmt::format("e{:x}.{}.{}{}", seed_, incarnation_, r.touch_no, stop_of(r.attempt))});
  }
  return std::nullopt;
}

void evictor_role::on_answer(std::uint64_t exchange, int status, const std::string& body,
                             std::int64_t retry_after_ms, protocol::effects& out) {
  const auto id = window_.close(exchange);
  const auto pos = id ? requests_.find(*id) : requests_.end();
  if (pos == requests_.end())
    return;
  auto& r = pos->second;
  r.is_open = false;
  if (r.at == step::deleting)
    out.add(protocol::fault{"B3"});
  const auto asked = r.at == step::deleting                           ? operation::remove
                     : r.at == step::reading || r.at == step::waiting ? operation::read
                                                                      : operation::patch;
  const auto v = judge(asked, status, body);
  if (v == verdict::gone || v == verdict::replaced) {
    gone(*id, out);
    return;
  }
  if (on_common(*id, r, v, retry_after_ms, out))
    return;
  switch (r.at) {
  case step::marking:
    on_mark(*id, r, v, body, out);
    return;
  case step::deleting:
    on_delete(*id, r, v, out);
    return;
  case step::reading:
  case step::waiting:
    on_read(*id, r, v, body, out);
    return;
  case step::touching:
    on_touch(*id, r, v, out);
    return;
  }
}

bool evictor_role::on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                             protocol::effects& out) {
  switch (v) {
  case verdict::wait: {
    const auto asked = asked_wait(retry_after_ms);
    if (asked.count() > 0)
      window_.pause(asked, now_, out);
    retry(id, r, asked, out);
    return true;
  }
  case verdict::invalid:
    if (r.at == step::marking
        && !r.is_unmarkable) { // some admission; the Event says it all the same
      out.add(protocol::note{"evictor.unmarkable", {{"pod", to_text(r.who.pod_name)}}, false});
      r.is_unmarkable = true;
      go(id, r, step::reading);
      return true;
    }
    [[fallthrough]];
  case verdict::forbidden:
    out.add(protocol::note{"evictor.refused",
                           {{"pod", to_text(r.who.pod_name)}, {"verdict", std::string{name_of(v)}}},
                           true});
    retry(id, r, limits::forbidden_wait, out);
    return true;
  case verdict::done:
  case verdict::gone:
  case verdict::replaced:
  case verdict::look:
  case verdict::unknown:
  case verdict::relist:
  case verdict::too_new:
  case verdict::reconnect:
    return false;
  }
  return false;
}

// ---------------------------------------------------------------- steps

void evictor_role::on_mark(request_id id, request& r, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto pod = v == verdict::done ? read_pod_view(body) : std::nullopt;
  if (!pod) {
    retry(id, r, {}, out); // the mark may be there or not: marking again does no harm
    return;
  }
  if (pod->is_deleting || pod->is_terminal) {
    // A terminal pod takes no room any more, so it is as good as gone.
    if (pod->is_terminal)
      gone(id, out);
    else
      poll(id, r, out);
    return;
  }
  if (is_reprieved(r, *pod)) {
    drop(id, out);
    return;
  }
  r.resource_version = pod->resource_version;
  r.touch = pod->touch;
  r.was_marked = true;
  r.tries = 0;
  go(id, r, step::deleting);
}

void evictor_role::on_delete(request_id id, request& r, verdict v, protocol::effects& out) {
  if (v != verdict::done) {
    go(id, r, step::reading); // refused or lost: the pod says which
    return;
  }
  if (base::is_planted(base::mutant::call_a_dying_victim_gone)) {
    gone(id, out);
    return;
  }
  r.polls = 0; // an accepted DELETE is not the end: the pod may take its grace period
  poll(id, r, out);
}

void evictor_role::on_read(request_id id, request& r, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto pod = v == verdict::done ? read_pod_view(body) : std::nullopt;
  if (!pod) {
    retry(id, r, {}, out);
    return;
  }
  if (pod->uid != r.who.pod.value || pod->is_terminal) {
    gone(id, out); // the newcomer is nobody's victim
    return;
  }
  if (pod->is_deleting) {
    poll(id, r, out);
    return;
  }
  if (is_reprieved(r, *pod)) {
    drop(id, out);
    return;
  }
  if (r.is_unmarkable) { // this reading stands for the mark
    r.resource_version = pod->resource_version;
    r.touch = pod->touch;
    r.was_marked = true;
    go(id, r, step::deleting);
    return;
  }
  // Alive: the DELETE was lost or its version stale. Mark it again for a version of now.
  r.at = step::marking;
  retry(id, r, {}, out);
}

void evictor_role::on_touch(request_id id, request& r, verdict v, protocol::effects& out) {
  if (v == verdict::done)
    finish(id);
  else
    retry(id, r, {}, out);
}

void evictor_role::tell_people(request& r, protocol::effects& out) {
  if (r.event.empty() || !r.was_marked) // what was leaving already was not made to
    return;
  out.add(protocol::note{"evictor.preempted", {{"pod", to_text(r.who.pod_name)}}, false});
  out.tell(protocol::to(protocol::role_kind::status),
           protocol::emit_event{.about = r.who.pod_name,
                                .is_pod = true,
                                .uid = r.who.pod.value,
                                .is_warning = false,
                                .reason = "Preempted",
                                .action = "Preempting",
                                .text = std::exchange(r.event, {})});
}

/// Somebody else decided otherwise since we marked it: a newer owner, or a withdrawal. That of our
/// own attempt may be older than the mark: what gangs ask may be long on its way.
bool evictor_role::is_reprieved(const request& r, const pod_view& pod) const {
  const auto own = fence_of_request(r);
  const bool is_fenced =
      pod.fenced && pod.fenced->partition == own.partition && pod.fenced->epoch > own.epoch;
  const bool is_over = pod.touch.ends_with(stop_of(r.attempt));
  return (is_fenced || is_over || (r.was_marked && pod.touch != r.touch))
         && !base::is_planted(base::mutant::evict_the_reprieved);
}

// ---------------------------------------------------------------- helpers

void evictor_role::go(request_id id, request& r, step to) {
  r.at = r.is_stopped && to != step::waiting ? step::touching : to;
  window_.enqueue(id, true);
}

void evictor_role::poll(request_id id, request& r, protocol::effects& out) {
  tell_people(r, out);
  if (r.is_stopped) {
    finish(id); // it goes, whatever we want now
    return;
  }
  r.at = step::waiting;
  const auto wait = backoff({limits::victim_poll_first, limits::victim_poll_longest}, r.polls,
                            seed_, base::hash_of(r.who.pod.value));
  ++r.polls;
  window_.later(id, wait, out);
}

void evictor_role::retry(request_id id, request& r, base::duration at_least,
                         protocol::effects& out) {
  if (!r.why.empty() && !r.is_stopped) {
    finish(id); // its grounds may have gone meanwhile: the queue asks again if they have not
    return;
  }
  if (r.is_stopped)
    r.at = step::touching;
  const auto wait = backoff({base::limits::resend_first, base::limits::resend_longest}, r.tries,
                            seed_, base::hash_of(r.who.pod.value));
  ++r.tries;
  window_.later(id, std::max(wait, at_least), out);
}

void evictor_role::gone(request_id id, protocol::effects& out) {
  auto& r = requests_.at(id);
  tell_people(r, out);
  out.tell(protocol::to_gang(r.attempt.gang), protocol::victim_gone{r.attempt, r.who.pod});
  finish(id);
}

void evictor_role::drop(request_id id, protocol::effects& out) {
  const auto& r = requests_.at(id);
  out.add(protocol::note{"evictor.reprieved", {{"pod", to_text(r.who.pod_name)}}, false});
  finish(id);
}

void evictor_role::finish(request_id id) {
  const auto pos = requests_.find(id);
  ensure(pos != requests_.end(), id);
  by_key_.erase({pos->second.attempt, pos->second.who.pod});
  requests_.erase(pos);
}

void evictor_role::report_stops(protocol::effects& out) {
  std::erase_if(stopping_, [&](const base::attempt_id& attempt) {
    const bool is_busy = std::any_of(requests_.begin(), requests_.end(),
                                     [&](const auto& x) { return x.second.attempt == attempt; });
    if (!is_busy)
      out.tell(protocol::to_gang(attempt.gang), protocol::eviction_stopped{attempt});
    return !is_busy;
  });
}

fence evictor_role::fence_of_request(const request& r) const {
  return {protocol::partition_of(r.attempt.gang), r.fence};
}

base::wall_time evictor_role::wall_now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch());
  return {options_.wall_at_zero.unix_ms + since.count()};
}

/// All that the next steps depend on: exhaustive search takes two evictors of equal hash for one.
std::uint64_t evictor_role::state_hash() const {
  using base::hash_of;
  auto h = hash_of(std::uint64_t{requests_.size()});
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto add_request = [&](const request_key& key) {
    add(std::hash<base::attempt_id>{}(key.first));
    add(hash_of(key.second.value));
  };
  const auto& line = window_.line();
  for (const auto& [key, id] : by_key_) {
    const auto& r = requests_.at(id);
    const bool waits = !r.is_open && std::find(line.begin(), line.end(), id) == line.end();
    add_request(key);
    add(static_cast<std::uint64_t>(r.at) * 8 + (r.is_open ? 1u : 0u) + (r.is_stopped ? 2u : 0u)
        + (r.was_marked ? 4u : 0u));
    add(r.is_unmarkable ? 1 : 0);
    add(hash_of(r.why));
    add(r.event.empty() ? 0 : 1);
    add(r.fence.value);
    add(hash_of(r.resource_version));
    add(hash_of(r.touch));
    add(r.touch_no);
    add(r.tries);
    add(r.polls);
    add(waits ? id : 0); // its timer names it
  }
  for (const auto id : line)
    if (const auto pos = requests_.find(id); pos != requests_.end())
      add_request({pos->second.attempt, pos->second.who.pod});
  add(stopping_.size());
  for (const auto& attempt : stopping_)
    add(std::hash<base::attempt_id>{}(attempt));
  add(last_touch_);
  add(base::hash_combine(seed_, incarnation_));
  add(static_cast<std::uint64_t>(window_.paused_until().time_since_epoch().count()));
  return h;
}

} // namespace tutti::bridge
