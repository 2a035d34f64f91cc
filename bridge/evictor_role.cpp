#include "bridge/evictor_role.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/backoff.hpp"
#include "bridge/pod_requests.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

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
                                                               jobs_.size(), window_.open())});
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, a->status, a->body, a->retry_after_ms, out);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, 0, {}, 0, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    window_.on_timer(t->timer);
  }
  window_.pump(now_, out, [&](job_id id) { return next_request(id); });
  report_stops(out);
  return out;
}

// ---------------------------------------------------------------- what gangs ask

void evictor_role::hear(const protocol::evict& x) {
  job j;
  j.attempt = x.attempt;
  j.gang = x.gang;
  j.who = x.who;
  j.fence = x.fence.value != 0 ? x.fence : x.attempt.epoch;
  if (!stopping_.contains(x.attempt)) // what comes late of a stopped attempt is not begun again
    add(std::move(j));
}

void evictor_role::add(job j) {
  const job_key key{j.attempt, j.who.pod};
  if (by_key_.contains(key))
    return;
  const auto id = ++last_job_;
  by_key_.emplace(key, id);
  jobs_.emplace(id, std::move(j));
  window_.enqueue(id, false);
}

void evictor_role::hear(const protocol::stop_evicting& x) {
  stopping_.insert(x.attempt);
  const auto by = x.fence.value != 0 ? x.fence : x.attempt.epoch;
  // An earlier life may have sent a DELETE that is still on its way: touch those too.
  for (const auto& v : x.who) {
    if (by_key_.contains({x.attempt, v.pod}))
      continue;
    job j;
    j.at = step::touching;
    j.attempt = x.attempt;
    j.who = v;
    j.is_stopped = true;
    j.touch_no = ++last_touch_;
    add(std::move(j));
  }
  std::vector<job_id> mine;
  for (auto& [id, j] : jobs_)
    if (j.attempt == x.attempt) {
      j.fence = std::max(j.fence, by);
      mine.push_back(id);
    }
  for (const auto id : mine)
    stop(id);
}

/// A victim that is being deleted cannot be kept; any other is touched before its room is given up.
void evictor_role::stop(job_id id) {
  auto& j = jobs_.at(id);
  if (j.at == step::waiting) {
    finish(id);
    return;
  }
  if (j.is_stopped)
    return;
  j.is_stopped = true;
  j.touch_no = ++last_touch_;
  if (!j.is_open) // else the answer is heard first: it may have been deleted already
    go(id, j, step::touching);
}

// ---------------------------------------------------------------- asking the server

std::optional<protocol::http_request> evictor_role::next_request(job_id id) {
  const auto pos = jobs_.find(id);
  if (pos == jobs_.end() || pos->second.is_open)
    return std::nullopt;
  auto& j = pos->second;
  j.is_open = true;
  switch (j.at) {
  case step::marking:
    return disruption_request(
        {j.who.pod_name, j.who.pod,
         fmt::format("{}: preempting to accommodate a higher priority podgroup",
                     options_.scheduler_name),
         wall_now()});
  case step::deleting:
    // Upholds S9: only what was judged, by uid and version.
    ensure(!j.resource_version.empty(), j.who.pod.value);
    return removal_request({j.who.pod_name, j.who.pod, j.resource_version});
  case step::reading:
  case step::waiting:
    return get_pod_request(j.who.pod_name);
  case step::touching:
    return touch_request({j.who.pod_name, j.who.pod, fence_of_job(j),
                          fmt::format("e{:x}.{}.{}", seed_, incarnation_, j.touch_no)});
  }
  return std::nullopt;
}

void evictor_role::on_answer(std::uint64_t exchange, int status, const std::string& body,
                             std::int64_t retry_after_ms, protocol::effects& out) {
  const auto id = window_.close(exchange);
  const auto pos = id ? jobs_.find(*id) : jobs_.end();
  if (pos == jobs_.end())
    return;
  auto& j = pos->second;
  j.is_open = false;
  if (j.at == step::deleting)
    out.add(protocol::fault{"B3"});
  const auto asked = j.at == step::deleting                           ? operation::remove
                     : j.at == step::reading || j.at == step::waiting ? operation::read
                                                                      : operation::patch;
  const auto v = judge(asked, status, body);
  if (v == verdict::gone || v == verdict::replaced) {
    gone(*id, out);
    return;
  }
  if (on_common(*id, j, v, retry_after_ms, out))
    return;
  switch (j.at) {
  case step::marking:
    on_mark(*id, j, v, body, out);
    return;
  case step::deleting:
    on_delete(*id, j, v, out);
    return;
  case step::reading:
  case step::waiting:
    on_read(*id, j, v, body, out);
    return;
  case step::touching:
    on_touch(*id, j, v, out);
    return;
  }
}

bool evictor_role::on_common(job_id id, job& j, verdict v, std::int64_t retry_after_ms,
                             protocol::effects& out) {
  switch (v) {
  case verdict::wait: {
    const auto asked = asked_wait(retry_after_ms);
    if (asked.count() > 0)
      window_.pause(asked, now_, out);
    retry(id, j, asked, out);
    return true;
  }
  case verdict::forbidden:
  case verdict::invalid:
    out.add(protocol::note{"evictor.refused",
                           {{"pod", to_text(j.who.pod_name)}, {"verdict", std::string{name_of(v)}}},
                           true});
    retry(id, j, limits::forbidden_wait, out);
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

void evictor_role::on_mark(job_id id, job& j, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto pod = v == verdict::done ? read_pod_view(body) : std::nullopt;
  if (!pod) {
    retry(id, j, {}, out); // the mark may be there or not: marking again does no harm
    return;
  }
  if (pod->is_deleting || pod->is_terminal) {
    // A terminal pod takes no room any more, so it is as good as gone.
    if (pod->is_terminal)
      gone(id, out);
    else
      poll(id, j, out);
    return;
  }
  if (is_reprieved(j, *pod)) {
    drop(id, out);
    return;
  }
  j.resource_version = pod->resource_version;
  j.touch = pod->touch;
  j.was_marked = true;
  j.tries = 0;
  go(id, j, step::deleting);
}

void evictor_role::on_delete(job_id id, job& j, verdict v, protocol::effects& out) {
  if (v != verdict::done) {
    go(id, j, step::reading); // refused or lost: the pod says which
    return;
  }
  j.polls = 0; // an accepted DELETE is not the end: the pod may take its grace period
  poll(id, j, out);
}

void evictor_role::on_read(job_id id, job& j, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto pod = v == verdict::done ? read_pod_view(body) : std::nullopt;
  if (!pod) {
    retry(id, j, {}, out);
    return;
  }
  if (pod->uid != j.who.pod.value || pod->is_terminal) {
    gone(id, out); // the newcomer is nobody's victim
    return;
  }
  if (pod->is_deleting) {
    poll(id, j, out);
    return;
  }
  if (is_reprieved(j, *pod)) {
    drop(id, out);
    return;
  }
  // Alive: the DELETE was lost or its version stale. Mark it again for a version of now.
  j.at = step::marking;
  retry(id, j, {}, out);
}

void evictor_role::on_touch(job_id id, job& j, verdict v, protocol::effects& out) {
  if (v == verdict::done)
    finish(id);
  else
    retry(id, j, {}, out);
}

/// Somebody else decided otherwise since we marked it: a newer owner, or a withdrawal.
bool evictor_role::is_reprieved(const job& j, const pod_view& pod) const {
  const auto own = fence_of_job(j);
  const bool is_fenced =
      pod.fenced && pod.fenced->partition == own.partition && pod.fenced->epoch > own.epoch;
  return is_fenced || (j.was_marked && pod.touch != j.touch);
}

// ---------------------------------------------------------------- helpers

void evictor_role::go(job_id id, job& j, step to) {
  j.at = j.is_stopped && to != step::waiting ? step::touching : to;
  window_.enqueue(id, true);
}

void evictor_role::poll(job_id id, job& j, protocol::effects& out) {
  if (j.is_stopped) {
    finish(id); // it goes, whatever we want now
    return;
  }
  j.at = step::waiting;
  const auto wait = backoff({limits::victim_poll_first, limits::victim_poll_longest}, j.polls,
                            seed_, base::hash_of(j.who.pod.value));
  ++j.polls;
  window_.later(id, wait, out);
}

void evictor_role::retry(job_id id, job& j, base::duration at_least, protocol::effects& out) {
  if (j.is_stopped)
    j.at = step::touching;
  const auto wait = backoff({base::limits::resend_first, base::limits::resend_longest}, j.tries,
                            seed_, base::hash_of(j.who.pod.value));
  ++j.tries;
  window_.later(id, std::max(wait, at_least), out);
}

void evictor_role::gone(job_id id, protocol::effects& out) {
  const auto& j = jobs_.at(id);
  out.tell(protocol::to_gang(j.attempt.gang), protocol::victim_gone{j.attempt, j.who.pod});
  finish(id);
}

void evictor_role::drop(job_id id, protocol::effects& out) {
  const auto& j = jobs_.at(id);
  out.add(protocol::note{"evictor.reprieved", {{"pod", to_text(j.who.pod_name)}}, false});
  finish(id);
}

void evictor_role::finish(job_id id) {
  const auto pos = jobs_.find(id);
  ensure(pos != jobs_.end(), id);
  by_key_.erase({pos->second.attempt, pos->second.who.pod});
  jobs_.erase(pos);
}

void evictor_role::report_stops(protocol::effects& out) {
  std::erase_if(stopping_, [&](const base::attempt_id& attempt) {
    const bool is_busy = std::any_of(jobs_.begin(), jobs_.end(),
                                     [&](const auto& x) { return x.second.attempt == attempt; });
    if (!is_busy)
      out.tell(protocol::to_gang(attempt.gang), protocol::eviction_stopped{attempt});
    return !is_busy;
  });
}

fence evictor_role::fence_of_job(const job& j) const {
  return {protocol::partition_of(j.attempt.gang), j.fence};
}

base::wall_time evictor_role::wall_now() const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch());
  return {options_.wall_at_zero.unix_ms + since.count()};
}

std::uint64_t evictor_role::state_hash() const {
  auto h = base::hash_of(std::uint64_t{stopping_.size()});
  for (const auto& [id, j] : jobs_) {
    h = base::hash_combine(h, base::hash_of(j.who.pod.value));
    h = base::hash_combine(h, static_cast<std::uint64_t>(j.at) << 2 | (j.is_open ? 2u : 0u)
                                  | (j.is_stopped ? 1u : 0u));
  }
  return h;
}

} // namespace tutti::bridge
