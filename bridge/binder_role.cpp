// What the binder does with each answer, and which exchange comes next.
#include "bridge/binder_role.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "bridge/backoff.hpp"
#include "bridge/json_read.hpp"
#include "bridge/pod_requests.hpp"
#include "protocol/messages_codec.hpp"

namespace tutti::bridge {

using protocol::bind_verdict;
using protocol::pod_state;

namespace {

/// "500", or with the words of the Status that came with it.
std::string failure_text(int status, const std::string& body) {
  const auto message = status_message(body);
  return message.empty() ? fmt::format("{}", status) : fmt::format("{} {}", status, message);
}

} // namespace

binder_role::binder_role(std::size_t in_flight) : window_(in_flight) {
  ensure(in_flight > 0);
}

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
  window_.pump(now_, out, [&](request_id id) { return next_exchange(id, out); });
  return out;
}

// ---------------------------------------------------------------- what gangs ask

void binder_role::add(request r, protocol::effects& out) {
  const request_key key{r.what.attempt, r.what.uid, r.kind};
  if (by_key_.contains(key))
    return; // a second copy is answered by the first
  const auto id = ++last_request_;
  by_key_.emplace(key, id);
  const bool is_first = r.kind != request_kind::bind; // reads and touches free what others wait for
  requests_.emplace(id, std::move(r));
  if (is_fenced(requests_.at(id)))
    drop_fenced(id, out);
  else
    window_.enqueue(id, is_first);
}

void binder_role::hear(const protocol::bind& x, protocol::effects& out) {
  ensure(!x.node.value.empty(), x.pod.name);
  auto& known = fences_[x.partition];
  known = std::max(known, x.fence);
  if (const auto pos = by_key_.find({x.attempt, x.uid, request_kind::bind}); pos != by_key_.end()) {
    replace(pos->second, x);
    return;
  }
  request r{.kind = request_kind::bind, .at = first_step(x), .what = x, .asked = now_};
  add(std::move(r), out);
}

/// Without a version there is nothing to post: the answer to the read is `moved` with one.
binder_role::step binder_role::first_step(const protocol::bind& x) {
  const bool has_writes =
      !x.before.empty() && !base::is_planted(base::mutant::post_before_the_writes);
  return x.resource_version.empty() ? step::reading : has_writes ? step::writing : step::posting;
}

/// The gang asks again, and what it asks has changed: it has read a newer version and looked at its
/// record since, or its owner has a higher fence. The older words would be refused, dropped as
/// fenced and never answered, or bind to a node that is not meant any more. What is on its way may
/// still win, so the pod is read, and the gang told what became of it (read, look, post). A gang
/// that has heard nothing asks without a version: what is known here stands.
void binder_role::replace(request_id id, const protocol::bind& x) {
  auto& r = requests_.at(id);
  const bool is_same_version =
      x.resource_version.empty() || x.resource_version == r.what.resource_version;
  const bool is_copy = x.node == r.what.node && is_same_version && x.fence == r.what.fence
                       && x.before == r.what.before;
  if (is_copy || x.fence < r.what.fence)
    return; // a second copy is answered by the first; an older owner's by nobody
  if (base::is_planted(base::mutant::post_what_was_asked_first))
    return;
  const bool has_left = r.is_open || r.at == step::reading;
  r.what = x;
  r.asked = now_;
  r.next_write = 0;
  r.tries = 0;
  r.was_refused = false;
  r.is_superseded = r.is_open;
  r.at = has_left ? step::reading : first_step(x);
}

void binder_role::hear(const protocol::read_pod& x, protocol::effects& out) {
  request r{.kind = request_kind::read, .at = step::reading};
  r.what.attempt = x.attempt;
  r.what.pod = x.pod;
  r.what.uid = x.uid;
  add(std::move(r), out);
}

void binder_role::hear(const protocol::touch& x, protocol::effects& out) {
  auto& known = fences_[x.partition];
  known = std::max(known, x.fence);
  // The gang gives this member up: a Binding that has not left must not leave any more.
  if (const auto pos = by_key_.find({x.attempt, x.uid, request_kind::bind}); pos != by_key_.end()) {
    const auto older_id = pos->second;
    auto& older = requests_.at(older_id);
    if (older.is_open)
      older.is_stopped = true;
    else if (!base::is_planted(base::mutant::post_behind_the_touch))
      finish(older_id);
  }
  request r{.kind = request_kind::touch, .at = step::touching};
  r.what.attempt = x.attempt;
  r.what.pod = x.pod;
  r.what.uid = x.uid;
  r.what.partition = x.partition;
  r.what.fence = x.fence;
  r.touch_no = ++last_touch_;
  add(std::move(r), out);
}

void binder_role::inspect(const protocol::received& e, protocol::effects& out) const {
  const auto& x = std::get<protocol::inspect>(e.what);
  out.tell(e.from, protocol::inspected{
                       x.id, fmt::format(R"({{"requests":{},"inFlight":{},"waiting":{},"bound":{},)"
                                         R"("unknownAnswers":{}}})",
                                         requests_.size(), window_.open(), window_.ready(), bound_,
                                         unknown_)});
}

// ---------------------------------------------------------------- asking the server

std::optional<protocol::http_request> binder_role::next_exchange(request_id id,
                                                                 protocol::effects& out) {
  const auto pos = requests_.find(id);
  if (pos == requests_.end() || pos->second.is_open)
    return std::nullopt;
  auto& r = pos->second;
  if (is_fenced(r)) {
    drop_fenced(id, out);
    return std::nullopt;
  }
  if (r.is_stopped && r.at != step::reading) {
    finish(id); // the touch that stopped it is the answer
    return std::nullopt;
  }
  if (is_leave_old(r)) {
    answer_bind(id, bind_verdict::moved, {.resource_version = r.what.resource_version}, out);
    return std::nullopt;
  }
  r.is_open = true;
  switch (r.at) {
  case step::writing: {
    const auto& w = r.what.before.at(r.next_write);
    return protocol::http_request{.method = w.method,
                                  .target = w.path,
                                  .body = w.body,
                                  .content_type = w.content_type,
                                  .is_urgent = true};
  }
  case step::checking:
    return protocol::http_request{.method = "GET",
                                  .target = r.what.before.at(r.next_write).path,
                                  .body = {},
                                  .content_type = {},
                                  .is_urgent = true};
  case step::posting:
    // Upholds S3: the sender posts only what its durable decision contains.
    out.add(protocol::fault{"B0"});
    return binding_request(r.what);
  case step::reading:
    return get_pod_request(r.what.pod);
  case step::touching: {
    const auto highest = std::max(fences_[r.what.partition], r.what.fence);
    return touch_request({r.what.pod, r.what.uid, fence{r.what.partition, highest},
                          fmt::format("{:x}.{}.{}", seed_, incarnation_, r.touch_no)});
  }
  }
  return std::nullopt;
}

void binder_role::on_answer(std::uint64_t exchange, int status, const std::string& body,
                            std::int64_t retry_after_ms, protocol::effects& out) {
  const auto id = window_.close(exchange);
  const auto pos = id ? requests_.find(*id) : requests_.end();
  if (pos == requests_.end())
    return;
  auto& r = pos->second;
  r.is_open = false;
  if (std::exchange(r.is_superseded, false)) {
    again(*id, r, step::reading); // whatever became of the older words, the pod says it
    return;
  }
  if (r.at == step::posting)
    out.add(protocol::fault{"B1"});
  const auto asked = r.at == step::posting                             ? operation::bind
                     : r.at == step::reading || r.at == step::checking ? operation::read
                                                                       : operation::patch;
  const auto v = judge(asked, status, body);
  if (r.at == step::posting)
    r.failure = status >= 500 ? failure_text(status, body) : std::string{};
  if (v == verdict::unknown) {
    ++unknown_;
    if (r.at == step::posting)
      out.add(protocol::note{"binder.unknown", {{"pod", to_text(r.what.pod)}}, false});
  }
  if (on_common(*id, r, v, retry_after_ms, out))
    return;
  switch (r.at) {
  case step::writing:
    on_write(*id, r, v);
    return;
  case step::checking:
    on_check(*id, r, v, body, out);
    return;
  case step::posting:
    on_post(*id, r, v, out);
    return;
  case step::reading:
    on_read(*id, r, v, body, out);
    return;
  case step::touching:
    on_touch(*id, r, v, body, out);
    return;
  }
}

bool binder_role::on_common(request_id id, request& r, verdict v, std::int64_t retry_after_ms,
                            protocol::effects& out) {
  if (v == verdict::wait) {
    const auto asked = asked_wait(retry_after_ms);
    if (asked.count() > 0)
      window_.pause(asked, now_, out);
    retry(id, r, asked, out);
    return true;
  }
  if (v == verdict::forbidden) {
    out.add(protocol::note{"binder.forbidden", {{"pod", to_text(r.what.pod)}}, true});
    if (r.kind == request_kind::bind)
      answer_bind(id, bind_verdict::forbidden, {}, out);
    else
      retry(id, r, limits::forbidden_wait, out);
    return true;
  }
  // A read that brought nothing is simply repeated; it changes nothing.
  if (v == verdict::unknown && (r.at == step::reading || r.at == step::checking)) {
    retry(id, r, {}, out);
    return true;
  }
  return false;
}

// ---------------------------------------------------------------- writes before the Binding

void binder_role::on_write(request_id id, request& r, verdict v) {
  // Whatever the answer, only what is read back is believed.
  r.was_refused = v != verdict::done && v != verdict::unknown;
  if (v == verdict::done && base::is_planted(base::mutant::believe_a_write)) {
    ++r.next_write;
    again(id, r, r.next_write < r.what.before.size() ? step::writing : step::posting);
    return;
  }
  again(id, r, step::checking);
}

void binder_role::on_check(request_id id, request& r, verdict v, const std::string& body,
                           protocol::effects& out) {
  const auto& write = r.what.before.at(r.next_write);
  if (v == verdict::done && json_contains(body, write.body)) {
    ++r.next_write;
    r.tries = 0;
    again(id, r, r.next_write < r.what.before.size() ? step::writing : step::posting);
    return;
  }
  if (r.was_refused || v != verdict::done) {
    // The object is not what the plan was made on, or gone: this member cannot be bound as planned.
    answer_bind(id, bind_verdict::refused, {}, out);
    return;
  }
  r.at = step::writing;
  retry(id, r, {}, out);
}

// ---------------------------------------------------------------- Bindings

void binder_role::on_post(request_id id, request& r, verdict v, protocol::effects& out) {
  if (v == verdict::done) {
    answer_bind(id, bind_verdict::bound, {.node = r.what.node.value}, out);
    return;
  }
  if (v == verdict::gone) {
    answer_bind(id, bind_verdict::gone, {}, out);
    return;
  }
  if (v == verdict::invalid) {
    out.add(protocol::note{"binder.refused", {{"pod", to_text(r.what.pod)}}, true});
    answer_bind(id, bind_verdict::refused, {}, out);
    return;
  }
  if (v == verdict::unknown && base::is_planted(base::mutant::take_unknown_for_failed)) {
    answer_bind(id, bind_verdict::gone, {}, out);
    return;
  }
  if (v == verdict::look && base::is_planted(base::mutant::take_conflict_for_bound)) {
    answer_bind(id, bind_verdict::bound, {.node = r.what.node.value}, out);
    return;
  }
  // Refused or unknown: the pod itself says what happened.
  ++r.tries;
  again(id, r, step::reading);
}

void binder_role::on_read(request_id id, request& r, verdict v, const std::string& body,
                          protocol::effects& out) {
  if (v == verdict::gone) {
    if (r.kind == request_kind::bind)
      answer_bind(id, bind_verdict::gone, {}, out);
    else
      answer_read(id, pod_state::gone, {}, out);
    return;
  }
  const auto pod = read_pod_view(body);
  if (v != verdict::done || !pod) {
    retry(id, r, {}, out);
    return;
  }
  learn(r, *pod);
  if (r.kind == request_kind::bind)
    bind_by_view(id, r, *pod, out);
  else
    answer_read(id, pod_state::pending, *pod, out);
}

/// The answer to a Binding that was refused or lost, from the pod as it is (B1, B2, C7).
void binder_role::bind_by_view(request_id id, request& r, const pod_view& pod,
                               protocol::effects& out) {
  if (pod.uid != r.what.uid.value)
    answer_bind(id, bind_verdict::replaced, pod, out);
  else if (!pod.node.empty())
    answer_bind(id,
                pod.node == r.what.node.value || base::is_planted(base::mutant::believe_any_node)
                    ? bind_verdict::bound
                    : bind_verdict::elsewhere,
                pod, out);
  else if (pod.is_deleting || pod.is_terminal)
    answer_bind(id, bind_verdict::gone, pod, out);
  else if (is_fenced(r))
    drop_fenced(id, out);
  else if (pod.is_gated)
    answer_bind(id, bind_verdict::gated, pod, out);
  else {
    tell_failure(r, out);
    answer_bind(id, bind_verdict::moved, pod, out);
  }
}

/// The gang asks again and again, and says nothing until it gives up: meanwhile only the server's
/// own words tell why the pod waits. Of a series of them few are written.
void binder_role::tell_failure(const request& r, protocol::effects& out) {
  if (r.failure.empty())
    return;
  out.tell(protocol::to(protocol::role_kind::status),
           protocol::emit_event{
               .about = r.what.pod,
               .is_pod = true,
               .uid = r.what.uid.value,
               .is_warning = true,
               .reason = "FailedScheduling",
               .action = "Binding",
               .text = fmt::format("Binding to node {} failed: {}", r.what.node.value, r.failure)});
}

/// Upholds S1b: leave of a node does not last, for a node may go and another come under its name.
bool binder_role::is_leave_old(const request& r) const {
  return r.kind == request_kind::bind && r.at == step::posting
         && now_ - r.asked > limits::leave_lasts && !base::is_planted(base::mutant::let_leave_last);
}

void binder_role::answer_bind(request_id id, bind_verdict v, const pod_view& pod,
                              protocol::effects& out) {
  const auto& r = requests_.at(id);
  ensure(r.kind == request_kind::bind, id);
  bound_ += v == bind_verdict::bound ? 1 : 0;
  out.add(protocol::fault{"B2"});
  out.tell(protocol::to_gang(r.what.attempt.gang),
           protocol::bind_answer{r.what.attempt, r.what.uid, v, pod.resource_version, {pod.node}});
  finish(id);
}

// ---------------------------------------------------------------- reads and touches

void binder_role::on_touch(request_id id, request& r, verdict v, const std::string& body,
                           protocol::effects& out) {
  switch (v) {
  case verdict::done:
    if (const auto pod = read_pod_view(body)) {
      learn(r, *pod);
      answer_read(id, pod_state::pending, *pod, out);
    } else {
      retry(id, r, {}, out);
    }
    return;
  case verdict::gone:
    answer_read(id, pod_state::gone, {}, out);
    return;
  case verdict::replaced:
    answer_read(id, pod_state::replaced, {}, out);
    return;
  case verdict::invalid:
    out.add(protocol::note{"binder.touch_refused", {{"pod", to_text(r.what.pod)}}, true});
    retry(id, r, limits::forbidden_wait, out);
    return;
  case verdict::look:
  case verdict::wait:
  case verdict::forbidden:
  case verdict::unknown:
  case verdict::relist:
  case verdict::too_new:
  case verdict::reconnect:
    // Touching twice does no harm: the mark is the same, and so is the reason.
    retry(id, r, {}, out);
    return;
  }
}

void binder_role::answer_read(request_id id, pod_state state, const pod_view& pod,
                              protocol::effects& out) {
  const auto& r = requests_.at(id);
  ensure(r.kind != request_kind::bind, id);
  if (state == pod_state::pending) {
    if (pod.uid != r.what.uid.value)
      state = pod_state::replaced;
    else if (pod.is_terminal)
      state = pod_state::terminal;
    else if (!pod.node.empty())
      state = pod_state::bound;
    else if (pod.is_deleting)
      state = pod_state::gone; // never bound any more: the server refuses a pod being deleted
  }
  out.tell(protocol::to_gang(r.what.attempt.gang), protocol::pod_read{r.what.attempt,
                                                                      r.what.uid,
                                                                      state,
                                                                      r.kind == request_kind::touch,
                                                                      pod.resource_version,
                                                                      {pod.node}});
  finish(id);
}

// ---------------------------------------------------------------- helpers

void binder_role::again(request_id id, request& r, step at) {
  r.at = at;
  window_.enqueue(id, true);
}

void binder_role::retry(request_id id, request& r, base::duration at_least,
                        protocol::effects& out) {
  const auto wait = backoff({base::limits::resend_first, base::limits::resend_longest}, r.tries,
                            seed_, base::hash_of(r.what.uid.value));
  ++r.tries;
  window_.later(id, std::max(wait, at_least), out);
}

void binder_role::finish(request_id id) {
  const auto pos = requests_.find(id);
  ensure(pos != requests_.end(), id);
  by_key_.erase({pos->second.what.attempt, pos->second.what.uid, pos->second.kind});
  requests_.erase(pos);
}

void binder_role::learn(const request& r, const pod_view& pod) {
  const bool is_ours = pod.fenced && pod.fenced->partition == r.what.partition;
  if (!is_ours || pod.uid != r.what.uid.value || r.kind == request_kind::read)
    return;
  auto& known = fences_[r.what.partition];
  known = std::max(known, pod.fenced->epoch);
}

/// Upholds rule 7: who reads a fence above its own stops.
bool binder_role::is_fenced(const request& r) const {
  if (r.kind != request_kind::bind)
    return false;
  const auto known = fences_.find(r.what.partition);
  return known != fences_.end() && known->second > r.what.fence
         && !base::is_planted(base::mutant::ignore_the_fence);
}

void binder_role::drop_fenced(request_id id, protocol::effects& out) {
  const auto& r = requests_.at(id);
  out.add(protocol::note{"binder.fenced", {{"pod", to_text(r.what.pod)}}, false});
  finish(id);
}

/// A request goes by what was asked, not by its number, so that the order of questions does not
/// count. The number does where a timer knows the request by it. Left out: what `inspect` counts.
std::uint64_t binder_role::state_hash() const {
  using base::hash_of;
  auto h = hash_of(std::uint64_t{requests_.size()});
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto& line = window_.line();
  for (const auto& [key, id] : by_key_) {
    const auto& r = requests_.at(id);
    const bool waits = !r.is_open && std::find(line.begin(), line.end(), id) == line.end();
    add(hash_of(protocol::encode(protocol::envelope{{}, {}, protocol::message{r.what}})));
    add(static_cast<std::uint64_t>(r.kind) * 64 + static_cast<std::uint64_t>(r.at) * 8
        + (r.is_open ? 1u : 0u) + (r.is_stopped ? 2u : 0u) + (r.was_refused ? 4u : 0u));
    add(r.is_superseded ? 1 : 0);
    if (!r.failure.empty())
      add(hash_of(r.failure));
    add(r.next_write);
    add(r.touch_no);
    add(r.tries);
    add(static_cast<std::uint64_t>(r.asked.time_since_epoch().count()));
    add(waits ? id : 0);
  }
  for (const auto id : line)
    if (const auto pos = requests_.find(id); pos != requests_.end()) {
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
