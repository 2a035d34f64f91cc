#include "bridge/binder_role.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/backoff.hpp"
#include "bridge/pod_requests.hpp"
#include "protocol/messages_codec.hpp"

namespace tutti::bridge {

using protocol::bind_verdict;
using protocol::pod_state;

binder_role::binder_role() : window_(base::limits::bindings_in_flight) {}

protocol::effects binder_role::on(const protocol::event& e, base::time_point now) {
  ensure(now >= now_);
  now_ = now;
  protocol::effects out;
  if (const auto* x = std::get_if<protocol::started>(&e)) {
    seed_ = x->seed;
    incarnation_ = x->incarnation.value;
  } else if (const auto* m = std::get_if<protocol::received>(&e)) {
    if (const auto* b = std::get_if<protocol::bind>(&m->what))
      hear(*b, out);
    else if (const auto* r = std::get_if<protocol::read_pod>(&m->what))
      hear(*r, out);
    else if (const auto* t = std::get_if<protocol::touch>(&m->what))
      hear(*t, out);
    else if (std::holds_alternative<protocol::inspect>(m->what))
      inspect(*m, out);
  } else if (const auto* a = std::get_if<protocol::answered>(&e)) {
    on_answer(a->id, a->status, a->body, a->retry_after_ms, out);
  } else if (const auto* u = std::get_if<protocol::answer_unknown>(&e)) {
    on_answer(u->id, 0, {}, 0, out);
  } else if (const auto* t = std::get_if<protocol::timer_fired>(&e)) {
    window_.on_timer(t->timer);
  }
  window_.pump(now_, out, [&](job_id id) { return next_request(id, out); });
  return out;
}

// ---------------------------------------------------------------- what gangs ask

void binder_role::add(job j, protocol::effects& out) {
  const job_key key{j.what.attempt, j.what.uid, j.kind};
  if (by_key_.contains(key))
    return; // a second copy is answered by the first
  const auto id = ++last_job_;
  by_key_.emplace(key, id);
  const bool is_first = j.kind != job_kind::bind; // reads and touches free what others wait for
  jobs_.emplace(id, std::move(j));
  if (is_fenced(jobs_.at(id)))
    drop_fenced(id, out);
  else
    window_.enqueue(id, is_first);
}

void binder_role::hear(const protocol::bind& x, protocol::effects& out) {
  ensure(!x.node.value.empty(), x.pod.name);
  auto& known = fences_[x.partition];
  known = std::max(known, x.fence);
  job j{.kind = job_kind::bind, .what = x};
  // Without a version there is nothing to post: the answer to the read is `moved` with one.
  j.at = x.resource_version.empty() ? step::reading
         : x.before.empty()         ? step::posting
                                    : step::writing;
  add(std::move(j), out);
}

void binder_role::hear(const protocol::read_pod& x, protocol::effects& out) {
  job j{.kind = job_kind::read, .at = step::reading};
  j.what.attempt = x.attempt;
  j.what.pod = x.pod;
  j.what.uid = x.uid;
  add(std::move(j), out);
}

void binder_role::hear(const protocol::touch& x, protocol::effects& out) {
  auto& known = fences_[x.partition];
  known = std::max(known, x.fence);
  // The gang gives this member up: a Binding that has not left must not leave any more.
  if (const auto pos = by_key_.find({x.attempt, x.uid, job_kind::bind}); pos != by_key_.end()) {
    const auto bind_id = pos->second;
    auto& bind_job = jobs_.at(bind_id);
    if (bind_job.is_open)
      bind_job.is_stopped = true;
    else
      finish(bind_id);
  }
  job j{.kind = job_kind::touch, .at = step::touching};
  j.what.attempt = x.attempt;
  j.what.pod = x.pod;
  j.what.uid = x.uid;
  j.what.partition = x.partition;
  j.what.fence = x.fence;
  j.touch_no = ++last_touch_;
  add(std::move(j), out);
}

void binder_role::inspect(const protocol::received& e, protocol::effects& out) const {
  const auto& x = std::get<protocol::inspect>(e.what);
  out.tell(e.from,
           protocol::inspected{
               x.id, fmt::format(R"({{"jobs":{},"inFlight":{},"waiting":{},"bound":{},)"
                                 R"("unknownAnswers":{}}})",
                                 jobs_.size(), window_.open(), window_.ready(), bound_, unknown_)});
}

// ---------------------------------------------------------------- asking the server

std::optional<protocol::http_request> binder_role::next_request(job_id id, protocol::effects& out) {
  const auto pos = jobs_.find(id);
  if (pos == jobs_.end() || pos->second.is_open)
    return std::nullopt;
  auto& j = pos->second;
  if (is_fenced(j)) {
    drop_fenced(id, out);
    return std::nullopt;
  }
  if (j.is_stopped && j.at != step::reading) {
    finish(id); // the touch that stopped it is the answer
    return std::nullopt;
  }
  j.is_open = true;
  switch (j.at) {
  case step::writing: {
    const auto& w = j.what.before.at(j.next_write);
    return protocol::http_request{.method = w.method,
                                  .target = w.path,
                                  .body = w.body,
                                  .content_type = w.content_type,
                                  .is_urgent = true};
  }
  case step::checking:
    return protocol::http_request{.method = "GET",
                                  .target = j.what.before.at(j.next_write).path,
                                  .body = {},
                                  .content_type = {},
                                  .is_urgent = true};
  case step::posting:
    // Upholds S3: the sender posts only what its durable decision contains.
    out.add(protocol::fault{"B0"});
    return binding_request(j.what);
  case step::reading:
    return get_pod_request(j.what.pod);
  case step::touching: {
    const auto highest = std::max(fences_[j.what.partition], j.what.fence);
    return touch_request({j.what.pod, j.what.uid, fence{j.what.partition, highest},
                          fmt::format("{:x}.{}.{}", seed_, incarnation_, j.touch_no)});
  }
  }
  return std::nullopt;
}

void binder_role::on_answer(std::uint64_t exchange, int status, const std::string& body,
                            std::int64_t retry_after_ms, protocol::effects& out) {
  const auto id = window_.close(exchange);
  const auto pos = id ? jobs_.find(*id) : jobs_.end();
  if (pos == jobs_.end())
    return;
  auto& j = pos->second;
  j.is_open = false;
  if (j.at == step::posting)
    out.add(protocol::fault{"B1"});
  const auto asked = j.at == step::posting                             ? operation::bind
                     : j.at == step::reading || j.at == step::checking ? operation::read
                                                                       : operation::patch;
  const auto v = judge(asked, status, body);
  if (v == verdict::unknown)
    ++unknown_;
  if (on_common(*id, j, v, retry_after_ms, out))
    return;
  switch (j.at) {
  case step::writing:
    on_write(*id, j, v);
    return;
  case step::checking:
    on_check(*id, j, v, body, out);
    return;
  case step::posting:
    on_post(*id, j, v, out);
    return;
  case step::reading:
    on_read(*id, j, v, body, out);
    return;
  case step::touching:
    on_touch(*id, j, v, body, out);
    return;
  }
}

bool binder_role::on_common(job_id id, job& j, verdict v, std::int64_t retry_after_ms,
                            protocol::effects& out) {
  if (v == verdict::wait) {
    const auto asked = asked_wait(retry_after_ms);
    if (asked.count() > 0)
      window_.pause(asked, now_, out);
    retry(id, j, asked, out);
    return true;
  }
  if (v == verdict::forbidden) {
    out.add(protocol::note{"binder.forbidden", {{"pod", to_text(j.what.pod)}}, true});
    if (j.kind == job_kind::bind)
      answer_bind(id, bind_verdict::forbidden, {}, out);
    else
      retry(id, j, limits::forbidden_wait, out);
    return true;
  }
  // A read that brought nothing is simply repeated; it changes nothing.
  if (v == verdict::unknown && (j.at == step::reading || j.at == step::checking)) {
    retry(id, j, {}, out);
    return true;
  }
  return false;
}

// ---------------------------------------------------------------- writes before the Binding

void binder_role::on_write(job_id id, job& j, verdict v) {
  // Whatever the answer, only what is read back is believed.
  j.was_refused = v != verdict::done && v != verdict::unknown;
  again(id, j, step::checking);
}

void binder_role::on_check(job_id id, job& j, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto& write = j.what.before.at(j.next_write);
  if (v == verdict::done && json_contains(body, write.body)) {
    ++j.next_write;
    j.tries = 0;
    again(id, j, j.next_write < j.what.before.size() ? step::writing : step::posting);
    return;
  }
  if (j.was_refused || v != verdict::done) {
    // The object is not what the plan was made on, or gone: this member cannot be bound as planned.
    answer_bind(id, bind_verdict::refused, {}, out);
    return;
  }
  j.at = step::writing;
  retry(id, j, {}, out);
}

// ---------------------------------------------------------------- Bindings

void binder_role::on_post(job_id id, job& j, verdict v, protocol::effects& out) {
  if (v == verdict::done) {
    answer_bind(id, bind_verdict::bound, {.node = j.what.node.value}, out);
    return;
  }
  if (v == verdict::gone) {
    answer_bind(id, bind_verdict::gone, {}, out);
    return;
  }
  if (v == verdict::invalid) {
    out.add(protocol::note{"binder.refused", {{"pod", to_text(j.what.pod)}}, true});
    answer_bind(id, bind_verdict::refused, {}, out);
    return;
  }
  // Refused or unknown: the pod itself says what happened.
  ++j.tries;
  again(id, j, step::reading);
}

void binder_role::on_read(job_id id, job& j, verdict v, const std::string& body,
                          protocol::effects& out) {
  if (v == verdict::gone) {
    if (j.kind == job_kind::bind)
      answer_bind(id, bind_verdict::gone, {}, out);
    else
      answer_read(id, pod_state::gone, {}, out);
    return;
  }
  const auto pod = read_pod_view(body);
  if (v != verdict::done || !pod) {
    retry(id, j, {}, out);
    return;
  }
  learn(j, *pod);
  if (j.kind == job_kind::bind)
    bind_by_view(id, j, *pod, out);
  else
    answer_read(id, pod_state::pending, *pod, out);
}

/// The answer to a Binding that was refused or lost, from the pod as it is (B1, B2, C7).
void binder_role::bind_by_view(job_id id, job& j, const pod_view& pod, protocol::effects& out) {
  if (pod.uid != j.what.uid.value)
    answer_bind(id, bind_verdict::replaced, pod, out);
  else if (!pod.node.empty())
    answer_bind(id, pod.node == j.what.node.value ? bind_verdict::bound : bind_verdict::elsewhere,
                pod, out);
  else if (pod.is_deleting || pod.is_terminal)
    answer_bind(id, bind_verdict::gone, pod, out);
  else if (is_fenced(j))
    drop_fenced(id, out);
  else if (pod.is_gated)
    answer_bind(id, bind_verdict::gated, pod, out);
  else if (pod.resource_version != j.what.resource_version || j.is_stopped)
    answer_bind(id, bind_verdict::moved, pod, out);
  else {
    // Same version, unbound: nothing has happened yet, and the very same Binding may go out again.
    j.at = step::posting;
    retry(id, j, {}, out);
  }
}

void binder_role::answer_bind(job_id id, bind_verdict v, const pod_view& pod,
                              protocol::effects& out) {
  const auto& j = jobs_.at(id);
  ensure(j.kind == job_kind::bind, id);
  bound_ += v == bind_verdict::bound ? 1 : 0;
  out.add(protocol::fault{"B2"});
  out.tell(protocol::to_gang(j.what.attempt.gang),
           protocol::bind_answer{j.what.attempt, j.what.uid, v, pod.resource_version, {pod.node}});
  finish(id);
}

// ---------------------------------------------------------------- reads and touches

void binder_role::on_touch(job_id id, job& j, verdict v, const std::string& body,
                           protocol::effects& out) {
  switch (v) {
  case verdict::done:
    if (const auto pod = read_pod_view(body)) {
      learn(j, *pod);
      answer_read(id, pod_state::pending, *pod, out);
    } else {
      retry(id, j, {}, out);
    }
    return;
  case verdict::gone:
    answer_read(id, pod_state::gone, {}, out);
    return;
  case verdict::replaced:
    answer_read(id, pod_state::replaced, {}, out);
    return;
  case verdict::invalid:
    out.add(protocol::note{"binder.touch_refused", {{"pod", to_text(j.what.pod)}}, true});
    retry(id, j, limits::forbidden_wait, out);
    return;
  case verdict::look:
  case verdict::wait:
  case verdict::forbidden:
  case verdict::unknown:
  case verdict::relist:
  case verdict::too_new:
  case verdict::reconnect:
    // Touching twice does no harm: the mark is the same, and so is the reason.
    retry(id, j, {}, out);
    return;
  }
}

void binder_role::answer_read(job_id id, pod_state state, const pod_view& pod,
                              protocol::effects& out) {
  const auto& j = jobs_.at(id);
  ensure(j.kind != job_kind::bind, id);
  if (state == pod_state::pending) {
    if (pod.uid != j.what.uid.value)
      state = pod_state::replaced;
    else if (pod.is_terminal)
      state = pod_state::terminal;
    else if (!pod.node.empty())
      state = pod_state::bound;
    else if (pod.is_deleting)
      state = pod_state::gone; // never bound any more: the server refuses a pod being deleted
  }
  out.tell(protocol::to_gang(j.what.attempt.gang), protocol::pod_read{j.what.attempt,
                                                                      j.what.uid,
                                                                      state,
                                                                      j.kind == job_kind::touch,
                                                                      pod.resource_version,
                                                                      {pod.node}});
  finish(id);
}

// ---------------------------------------------------------------- helpers

void binder_role::again(job_id id, job& j, step at) {
  j.at = at;
  window_.enqueue(id, true);
}

void binder_role::retry(job_id id, job& j, base::duration at_least, protocol::effects& out) {
  const auto wait = backoff({base::limits::resend_first, base::limits::resend_longest}, j.tries,
                            seed_, base::hash_of(j.what.uid.value));
  ++j.tries;
  window_.later(id, std::max(wait, at_least), out);
}

void binder_role::finish(job_id id) {
  const auto pos = jobs_.find(id);
  ensure(pos != jobs_.end(), id);
  by_key_.erase({pos->second.what.attempt, pos->second.what.uid, pos->second.kind});
  jobs_.erase(pos);
}

void binder_role::learn(const job& j, const pod_view& pod) {
  const bool is_ours = pod.fenced && pod.fenced->partition == j.what.partition;
  if (!is_ours || pod.uid != j.what.uid.value || j.kind == job_kind::read)
    return;
  auto& known = fences_[j.what.partition];
  known = std::max(known, pod.fenced->epoch);
}

/// Upholds rule 7: who reads a fence above its own stops.
bool binder_role::is_fenced(const job& j) const {
  if (j.kind != job_kind::bind)
    return false;
  const auto known = fences_.find(j.what.partition);
  return known != fences_.end() && known->second > j.what.fence;
}

void binder_role::drop_fenced(job_id id, protocol::effects& out) {
  const auto& j = jobs_.at(id);
  out.add(protocol::note{"binder.fenced", {{"pod", to_text(j.what.pod)}}, false});
  finish(id);
}

/// A job goes by what was asked, not by its number, so that the order of questions does not count.
/// The number does where a timer knows the job by it. Left out: what `inspect` counts.
std::uint64_t binder_role::state_hash() const {
  using base::hash_of;
  auto h = hash_of(std::uint64_t{jobs_.size()});
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto& line = window_.line();
  for (const auto& [key, id] : by_key_) {
    const auto& j = jobs_.at(id);
    const bool waits = !j.is_open && std::find(line.begin(), line.end(), id) == line.end();
    add(hash_of(protocol::encode(protocol::envelope{{}, {}, protocol::message{j.what}})));
    add(static_cast<std::uint64_t>(j.kind) * 64 + static_cast<std::uint64_t>(j.at) * 8
        + (j.is_open ? 1u : 0u) + (j.is_stopped ? 2u : 0u) + (j.was_refused ? 4u : 0u));
    add(j.next_write);
    add(j.touch_no);
    add(j.tries);
    add(waits ? id : 0);
  }
  for (const auto id : line)
    if (const auto pos = jobs_.find(id); pos != jobs_.end()) {
      add(std::hash<base::attempt_id>{}(pos->second.what.attempt));
      add(hash_of(pos->second.what.uid.value) + static_cast<std::uint64_t>(pos->second.kind));
    }
  for (const auto& [partition, epoch] : fences_)
    add(base::hash_combine(partition.value, epoch.value));
  add(last_touch_);
  add(base::hash_combine(seed_, incarnation_));
  add(static_cast<std::uint64_t>(window_.paused_until().time_since_epoch().count()));
  return h;
}

} // namespace tutti::bridge
