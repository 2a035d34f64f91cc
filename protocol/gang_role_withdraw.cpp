// Giving up committed members, one or all: CANCEL durable, then touch, then release. Never another
// order.
#include "protocol/gang_role.hpp"

#include <algorithm>
#include <map>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::protocol {

using base::reason_code;

void gang_role::cancel(seat_progress& s, std::string cause, bool needs_touch) {
  s.cause = std::move(cause);
  s.was_cancelled = true;
  s.needs_touch = needs_touch;
  move(s, seat_state::cancelling);
  to_cancel_.push_back(s.where->pod);
  if (base::is_planted(base::mutant::release_before_cancel))
    out_.tell(to_shard(rolling_->slices()[s.slice].asked->shard),
              release{attempt_, {s.where->pod}});
}

/// Rule 7a: all that waits to be cancelled, in one durable write. Where later owners may have
/// written, an amendment that changes nothing is the look before a post: it is refused once one of
/// them has adopted the record. One amendment is under way at a time.
void gang_role::amend_record() {
  if (is_amending_ || (to_cancel_.empty() && !must_look()))
    return;
  is_amending_ = true;
  ++amendments_;
  if (to_cancel_.empty()) {
    out_.add(amend{slot_of(attempt_), {.by = fence_epoch_, .cancel = {}, .adopt = true}});
    return;
  }
  out_.add(fault{"C10"});
  out_.add(amend{slot_of(attempt_), {.by = fence_epoch_, .cancel = std::exchange(to_cancel_, {})}});
}

/// Rule 7b: from here on any Binding prepared earlier is refused by the pod's new resourceVersion.
void gang_role::fence(seat_progress& s) {
  move(s, seat_state::fencing);
  out_.tell(to(role_kind::binder),
            touch{attempt_, pod_name(*s.where), s.where->pod, partition_, fence_epoch_});
}

/// Rule 7c.
void gang_role::let_go(seat_progress& s) {
  move(s, seat_state::releasing);
  out_.tell(to_shard(rolling_->slices()[s.slice].asked->shard), release{attempt_, {s.where->pod}});
}

void gang_role::send_releases() {
  std::map<base::shard_id, release> owed;
  for (const auto& s : rolling_->seats())
    if (s.state == seat_state::releasing) {
      const auto shard = rolling_->slices()[s.slice].asked->shard;
      owed.try_emplace(shard, release{attempt_, {}}).first->second.pods.push_back(s.where->pod);
    }
  for (auto& [shard, what] : owed)
    out_.tell(to_shard(shard), std::move(what));
}

void gang_role::hear(const released& x) {
  if (!rolling_ || !is_mine(x.attempt))
    return;
  for (const auto& pod : x.pods)
    if (auto* s = rolling_->find(pod); s != nullptr && s->state == seat_state::releasing)
      move(*s, seat_state::given_up);
  advance();
}

/// The whole plan is taken back, because the minimum cannot be reached and nobody of it is bound,
/// as far as we know. To know it, every member is touched first: a Binding of a paused predecessor
/// may have won.
///
/// Upholds S9: whoever resumes the decision does not know whom its former life has begun to evict.
/// Victims that are touched first outlive a removal that is still on its way.
void gang_role::withdraw(std::string cause) {
  ensure(rolling_->bound_count() == 0, name_.name);
  const bool is_resumed = gang_ == nullptr;
  if (is_resumed && state_ == attempt_state::committing && victims_left_ > 0
      && !base::is_planted(base::mutant::withdraw_without_stopping)) {
    go(attempt_state::evicting);
    is_late_ = true;
    late_ = std::move(cause);
    out_.tell(to(role_kind::evictor), stop_evicting{attempt_, victims(), fence_epoch_});
    return;
  }
  go(attempt_state::withdrawing);
  for (const auto& pod : victims_gone_) // whose room nobody uses now
    out_.add(note{"gang.eviction_wasted", {{"gang", to_text(name_)}, {"pod", pod.value}}});
  progress(reason_code::reservation_conflict);
  withdrawal_ = std::move(cause);
  first_touch_ = true;
  for (auto& s : rolling_->seats())
    if (is_alive(s.state) && !base::is_planted(base::mutant::withdraw_without_first_touch)) {
      ++touches_left_;
      s.was_touched = false;
      out_.tell(to(role_kind::binder),
                touch{attempt_, pod_name(*s.where), s.where->pod, partition_, fence_epoch_});
    }
  if (touches_left_ == 0)
    cancel_all();
}

void gang_role::on_first_touch(seat_progress& s, const pod_read& x) {
  ensure(touches_left_ > 0);
  s.was_touched = true;
  keep_version(s, x.resource_version);
  --touches_left_;
  const bool has_run = x.state == pod_state::bound || x.state == pod_state::terminal;
  if (has_run && x.node == s.where->node_name) {
    // No withdrawal then: what is bound stays, the rest is bound or given up one by one (repair).
    out_.add(fault{"C14"});
    became_bound(s);
    first_touch_ = false;
    touches_left_ = 0;
    was_covered_ = true;
    begin_binding();
    advance();
    return;
  }
  if (x.state != pod_state::pending)
    s.needs_touch = false;
  if (touches_left_ == 0)
    cancel_all();
}

void gang_role::cancel_all() {
  first_touch_ = false;
  for (auto& s : rolling_->seats())
    if (is_alive(s.state))
      cancel(s, withdrawal_, s.needs_touch);
  advance();
}

} // namespace tutti::protocol
