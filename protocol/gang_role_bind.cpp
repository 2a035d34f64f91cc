// Bindings: leave of the node, the post, and the API server's word. Only after cover.
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

namespace limits = base::limits;
using base::reason_code;

void gang_role::start_binding() {
  ensure(was_covered_, name_.name);
  ensure(victims_left_ == 0, victims_left_);
  begin_binding();
  progress(reason_code::binding);
  ask_leave(false);
}

void gang_role::begin_binding() {
  go(attempt_state::binding);
  is_overdue_ = false;
  out_.add(arm{{deadline_timer, 0}, how_.repair_deadline});
}

/// Who is not bound now and may not be for long is given up by rule 7, so that the queue plans for
/// whoever is missing, with the bound ones counted: a node that is full stays full, and what this
/// plan cannot bring to its minimum any more only keeps the next one waiting.
void gang_role::give_up_blocked() {
  const bool is_hopeless = rolling_->bound_count() > 0 && !rolling_->can_reach_minimum();
  for (auto& s : rolling_->seats()) {
    const bool is_open = s.state == seat_state::reading || s.state == seat_state::waiting
                         || s.state == seat_state::checking;
    if (!is_open)
      continue;
    const bool is_full =
        s.lacks_room && now_ - s.blocked_since.value_or(now_) >= limits::leave_patience;
    if (is_full || (is_hopeless && s.blocked_since))
      cancel(s, s.lacks_room ? "no room on the node" : "it cannot be bound now", true);
    else if (is_overdue_ && rolling_->bound_count() > 0)
      cancel(s, "it could not be bound in time", true);
  }
}

/// Read, look, post (rule 7). Whoever adopts the record touches its members before it gives them
/// up, and then a Binding by a version from before is refused; by a version that was read after the
/// touch it would not be. So between the read of a new version and its use the record is looked at.
/// Alone in the log there is nobody to look for.
void gang_role::keep_version(seat_progress& s, const std::string& version) {
  if (how_.reads_map && s.resource_version != version)
    s.look_due = amendments_ + (base::is_planted(base::mutant::count_an_earlier_look) ? 0 : 1);
  s.resource_version = version;
}

bool gang_role::is_looked_at(const seat_progress& s) const {
  return s.look_due <= amendments_ - (is_amending_ ? 1 : 0)
         || base::is_planted(base::mutant::post_without_a_look);
}

/// Somebody could be bound, but for a look.
bool gang_role::must_look() const {
  return state_ == attempt_state::binding
         && std::any_of(rolling_->seats().begin(), rolling_->seats().end(), [this](const auto& s) {
              return (s.state == seat_state::waiting || s.state == seat_state::checking)
                     && !is_looked_at(s) && rolling_->slices()[s.slice].acked;
            });
}

/// Asks each node once for all members that wait for it: is everything really there plus these
/// within allocatable? Upholds S1b. `again` repeats the question for those that were refused or not
/// answered.
void gang_role::ask_leave(bool again) {
  std::map<std::pair<base::shard_id, base::node_uid>, may_bind> questions;
  for (auto& s : rolling_->seats()) {
    const bool is_due =
        s.state == seat_state::waiting || (again && s.state == seat_state::checking);
    if (!is_due)
      continue;
    // A seat binds only on its own shard's ack, even when others have covered the gang.
    if (!rolling_->slices()[s.slice].acked || !is_looked_at(s))
      continue;
    if (s.state == seat_state::waiting)
      move(s, seat_state::checking);
    if (base::is_planted(base::mutant::bind_without_leave)) {
      post(s);
      continue;
    }
    const std::pair at{rolling_->slices()[s.slice].asked->shard, s.where->node};
    auto& q = questions.try_emplace(at, may_bind{attempt_, s.where->node, {}}).first->second;
    q.pods.push_back(s.where->pod);
  }
  for (auto& [at, question] : questions)
    out_.tell(how_.asks_by_shard ? to_shard(at.first) : to_node(at.second), std::move(question));
}

void gang_role::hear(const may_bind_answer& x) {
  if (state_ != attempt_state::binding || !is_mine(x.attempt))
    return;
  if (x.is_gone) {
    // A real server would accept a Binding to a node that is gone: never POST it.
    for (auto& s : rolling_->seats())
      if (s.state == seat_state::checking && s.where->node == x.node)
        cancel(s, "the node is gone", true);
    advance();
    return;
  }
  for (const auto& pod : x.allowed)
    if (auto* s = rolling_->find(pod); s != nullptr && s->state == seat_state::checking)
      post(*s);
  for (const auto& pod : x.refused)
    if (auto* s = rolling_->find(pod); s != nullptr && s->state == seat_state::checking) {
      s->lacks_room = true;
      s->blocked_since = s->blocked_since.value_or(now_);
    }
  if (!x.refused.empty())
    advance();
}

void gang_role::post(seat_progress& s) {
  ensure(was_covered_);
  ensure(s.state == seat_state::checking, s.where->pod.value);
  // Rule 6, "stop posting": not while the gang is being withdrawn, not once the minimum is out of
  // reach with nobody bound, and not on a shard's word that was taken back. The timer asks again.
  const bool is_hopeless = rolling_->bound_count() == 0 && !rolling_->can_be_covered();
  if (state_ != attempt_state::binding || is_hopeless || !rolling_->slices()[s.slice].acked
      || !is_looked_at(s))
    return;
  if (s.resource_version.empty()) {
    out_.tell(to(role_kind::binder), read_pod{attempt_, pod_name(*s.where), s.where->pod});
    return;
  }
  move(s, seat_state::posting);
  s.blocked_since.reset();
  s.lacks_room = false;
  // Upholds S3: the record that contains this seat is durable; `rolling_` exists only since then.
  out_.tell(to(role_kind::binder),
            bind{attempt_, pod_name(*s.where), s.where->pod, s.resource_version, s.where->node_name,
                 partition_, fence_epoch_, s.where->before_bind});
}

void gang_role::hear(const bind_answer& x) {
  if (!rolling_ || !is_mine(x.attempt))
    return;
  auto* s = rolling_->find(x.uid);
  if (s == nullptr || s->state != seat_state::posting)
    return;
  switch (x.verdict) {
  case bind_verdict::bound:
    became_bound(*s);
    if (rolling_->bound_count() == rolling_->seats().size())
      advance();
    else if (rolling_->all_settled())
      advance();
    return;
  case bind_verdict::moved:
    // It is unbound, still ours and not cancelled (we alone cancel, or look first): to be posted on
    // what was read, with leave once more. At once if the pod was edited; else the Binding came to
    // nothing, and the timer asks, ever later.
    move(*s,
         s->resource_version != x.resource_version ? seat_state::waiting : seat_state::checking);
    keep_version(*s, x.resource_version);
    break;
  case bind_verdict::gated:
  case bind_verdict::forbidden:
    move(*s, seat_state::checking); // asked again by the timer, given up at the repair deadline
    s->blocked_since = now_;
    progress(x.verdict == bind_verdict::forbidden ? reason_code::api_forbidden
                                                  : reason_code::gated);
    break;
  case bind_verdict::elsewhere:
  case bind_verdict::gone:
  case bind_verdict::replaced:
    cancel(*s, std::string{name_of(x.verdict)}, false);
    break;
  case bind_verdict::refused:
    cancel(*s, "the API server calls the Binding invalid", true);
    break;
  }
  advance();
}

void gang_role::became_bound(seat_progress& s) {
  const bool is_first = rolling_->bound_count() == 0;
  move(s, seat_state::bound);
  out_.add(note{
      "gang.bound",
      {{"gang", to_text(name_)}, {"pod", s.where->pod_name}, {"node", s.where->node_name.value}}});
  if (how_.writes_pod_events)
    out_.tell(to(role_kind::status),
              emit_event{pod_name(*s.where), true, s.where->pod.value, false, "Scheduled",
                         "Binding",
                         "Successfully assigned " + to_text(pod_name(*s.where)) + " to "
                             + s.where->node_name.value});
  if (is_first && rolling_->seats().size() > 1)
    out_.add(fault{"C7"});
}

void gang_role::hear(const pod_read& x) {
  if (!rolling_ || !is_mine(x.attempt))
    return;
  auto* s = rolling_->find(x.uid);
  if (s == nullptr || is_settled(s->state))
    return;
  if (x.touched && first_touch_ && is_alive(s->state) && !s->was_touched) {
    on_first_touch(*s, x);
    return;
  }
  const bool is_awaited = x.touched
                              ? s->state == seat_state::fencing
                              : s->state == seat_state::reading || s->state == seat_state::checking;
  if (is_awaited)
    on_read(*s, x);
}

/// The API server's word on a member that we read or touched.
void gang_role::on_read(seat_progress& s, const pod_read& x) {
  const bool is_cancelled = x.touched || s.was_cancelled;
  keep_version(s, x.resource_version);
  switch (x.state) {
  case pod_state::bound:
    if (x.node == s.where->node_name)
      became_bound(s); // also if it was cancelled: the room is still held for it
    else if (is_cancelled)
      let_go(s);
    else
      cancel(s, "BoundElsewhere", false);
    break;
  case pod_state::terminal:
    if (x.node == s.where->node_name) {
      became_bound(s); // it ran on our seat and has finished: not lost
      break;
    }
    [[fallthrough]];
  case pod_state::gone:
  case pod_state::replaced:
    if (is_cancelled)
      let_go(s);
    else
      cancel(s, x.state == pod_state::replaced ? "PodReplaced" : "PodGone", false);
    break;
  case pod_state::pending:
    if (x.touched) {
      out_.add(fault{"C12"});
      let_go(s);
    } else if (is_cancelled) {
      fence(s);
    } else {
      move(s, seat_state::waiting); // leave that was given before the read is not counted on
    }
    break;
  }
  advance();
}

/// The binder always answers, unless it died with the question: ask again, seldom. The leave for a
/// Binding is as old as the first question by now: without a version it is read, and not posted.
void gang_role::ask_binder_again() {
  for (auto& s : rolling_->seats()) {
    switch (s.state) {
    case seat_state::reading:
      out_.tell(to(role_kind::binder), read_pod{attempt_, pod_name(*s.where), s.where->pod});
      break;
    case seat_state::posting:
      out_.tell(to(role_kind::binder), bind{attempt_,
                                            pod_name(*s.where),
                                            s.where->pod,
                                            {},
                                            s.where->node_name,
                                            partition_,
                                            fence_epoch_,
                                            s.where->before_bind});
      break;
    case seat_state::fencing:
      out_.tell(to(role_kind::binder),
                touch{attempt_, pod_name(*s.where), s.where->pod, partition_, fence_epoch_});
      break;
    case seat_state::waiting:
    case seat_state::checking:
      if (first_touch_ && !s.was_touched)
        out_.tell(to(role_kind::binder),
                  touch{attempt_, pod_name(*s.where), s.where->pod, partition_, fence_epoch_});
      break;
    case seat_state::bound:
    case seat_state::cancelling:
    case seat_state::releasing:
    case seat_state::given_up:
      break;
    }
  }
}

} // namespace tutti::protocol
