// How an attempt ends for the queue: counters, rest, and where the gang goes next.
#include "queue/queue_role.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "queue/announce.hpp"
#include "queue/backoff.hpp"
#include "queue/wake.hpp"

namespace tutti::queue {

using base::reason_code;
using protocol::attempt_outcome;

namespace {

void remember(gang_life& life, const attempt_now& tried, const protocol::attempt_over& x,
              base::time_point now) {
  if (life.history.size() == history_longest)
    life.history.erase(life.history.begin());
  life.history.push_back({.ordinal = x.attempt.ordinal,
                          .try_no = x.attempt.try_no,
                          .outcome = x.outcome,
                          .reason = x.why.primary,
                          .bound = x.bound,
                          .from = tried.from,
                          .until = now});
}

/// Upholds S14: whatever ended the attempt, there is a reason.
base::explanation with_reason(base::explanation why, reason_code otherwise) {
  if (why.primary == reason_code::none)
    why.primary = otherwise;
  return why;
}

} // namespace

void queue_role::finish(gang_entry& g, const protocol::attempt_over& x) {
  if (g.life->attempt->is_heard && x.attempt < g.life->attempt->id)
    return; // a late word of an attempt before the live one
  pools_.leave(g);
  const auto tried = std::move(g.life->attempt);
  remember(*g.life, *tried, x, now_);
  settle_members(g, x);
  judge_outcome(g, *tried, x);
  if (!x.members_bound.empty())
    wake_by_arrivals();
}

/// No pod is planned twice, and nobody by facts of the past: what was bound and the watch has not
/// shown yet is owed, and while anything is owed the gang settles. Upholds P2.
void queue_role::settle_members(gang_entry& g, const protocol::attempt_over& x) {
  for (const auto& uid : x.members_bound)
    if (auto* pod = registry_.find_pod(uid); pod && pod->gang == &g)
      pod->is_owed = pod->is_pending() && !base::is_planted(base::mutant::forget_who_is_owed);
}

void queue_role::judge_outcome(gang_entry& g, const attempt_now& tried,
                               const protocol::attempt_over& x) {
  switch (x.outcome) {
  case attempt_outcome::bound:
    after_bound(g, tried, x);
    return;
  case attempt_outcome::refused:
    if (is_passing(x.why))
      after_error(g, x.why);
    else
      after_refusal(g, tried, x.why);
    return;
  case attempt_outcome::conflict:
    after_conflict(g, with_reason(x.why, reason_code::reservation_conflict));
    return;
  case attempt_outcome::withdrawn:
    after_error(g, with_reason(x.why, reason_code::reservation_conflict));
    return;
  case attempt_outcome::degraded:
    g.has_run = true; // it was covered, or nobody of it would be bound
    after_error(g, with_reason(x.why, reason_code::degraded), true);
    return;
  case attempt_outcome::stopped:
    after_error(g, with_reason(x.why, reason_code::shard_unavailable));
    return;
  }
}

/// Q-17, Q-18a: members that are left are tried again at once, by the gang's old age. That attempt
/// is the one that may preempt for them (C-22); if it is refused, its explanation is theirs. If the
/// attempt has said itself why they do not fit, they wait until something changes. If nobody of its
/// plan is bound, trying again at once would go in a circle.
void queue_role::after_bound(gang_entry& g, const attempt_now& tried,
                             const protocol::attempt_over& x) {
  auto& life = *g.life;
  if (x.members_bound.empty()) {
    after_error(g, with_reason(x.why, reason_code::undecided));
    return;
  }
  const bool is_first = x.bound <= x.members_bound.size() && !tried.had_started;
  if (is_first)
    out_.add(protocol::note{"queue.bound",
                            {{"gang", to_text(g.name())}, {"created_ms", g.created_ms()}}});
  life.refused = life.errors = life.conflicts = 0;
  life.not_before = now_;
  life.why.reset();
  if (base::is_planted(base::mutant::leave_the_rest) && count(g).pending > 0) {
    after_refusal(g, {}, with_reason(x.why, reason_code::undecided));
    return;
  }
  if (explains_the_rest(x.why)) {
    // Only an attempt that is refused asks who could be evicted.
    const bool may_preempt = how_.may_preempt && tried.who && !tried.who->never_preempts;
    life.knows_why_left = !may_preempt && !tried.has_changed && tried.grew <= x.why.view_version;
    keep_why(life, x.why);
  }
  reconsider(g, !life.knows_why_left);
}

void queue_role::after_refusal(gang_entry& g, const attempt_now& tried, base::explanation why) {
  auto& life = *g.life;
  why = with_reason(std::move(why), reason_code::undecided);
  ++life.refused;
  life.errors = life.conflicts = 0;
  life.not_before = window_of(now_, backoff_of({.failures = life.refused,
                                                .size = count(g).pending,
                                                .is_lone_pod = g.is_lone_pod()}));
  const bool has_grown = tried.grew > why.view_version;
  const bool goes_again = has_grown && std::exchange(life.has_free_retry, !has_grown);
  has_arrival_waiters_ |= is_helped_by_arrivals(why);
  keep_why(life, std::move(why));
  if (goes_again)
    life.not_before = now_;
  const bool is_open = judge(g, how_).what == gate_verdict::kind::open && g.owed() == 0;
  if (is_open)
    announce_refusal(g, *life.why, how_, out_);
  if (!is_open || has_grown || tried.has_changed) {
    reconsider(g, true);
    return;
  }
  life.is_stale = false;
  explain(life, life.why->primary);
  // A quarantine is over by itself, and nobody says so.
  const bool is_quarantined = life.why->primary == reason_code::scheduler_error;
  pools_.move(
      g, pool::waiting,
      now_ + (is_quarantined ? base::limits::quarantine_rest : base::limits::flush_interval));
}

void queue_role::after_conflict(gang_entry& g, base::explanation why) {
  auto& life = *g.life;
  ++life.conflicts;
  life.not_before = now_ + conflict_backoff_of(seed_, g.uid(), life.conflicts);
  keep_why(life, std::move(why));
  reconsider(g, true);
}

void queue_role::after_error(gang_entry& g, base::explanation why, bool runs_already) {
  auto& life = *g.life;
  ++life.errors;
  life.not_before = window_of(now_, backoff_of({.failures = life.errors,
                                                .size = count(g).pending,
                                                .is_lone_pod = g.is_lone_pod()}));
  if (runs_already && life.errors == 1)
    life.not_before = now_; // what runs waits for the rest
  if (base::is_planted(base::mutant::rest_for_ever))
    life.not_before = now_ + std::chrono::hours{24};
  keep_why(life, std::move(why));
  reconsider(g, true);
}

void queue_role::wake_by_arrivals() {
  if (!has_arrival_waiters_)
    return;
  std::vector<gang_entry*> woken;
  for (auto* g : pools_.in(pool::waiting))
    if (is_helped_by_arrivals(*g->life->why))
      woken.push_back(g);
  has_arrival_waiters_ = !woken.empty();
  for (auto* g : woken)
    reconsider(*g, true);
}

} // namespace tutti::queue
