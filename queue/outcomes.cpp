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

std::uint32_t newly_bound(const attempt_now& tried, const protocol::attempt_over& x) {
  return x.bound > tried.bound_before ? x.bound - tried.bound_before : 0;
}

} // namespace

void queue_role::finish(gang_entry& g, const protocol::attempt_over& x) {
  if (g.life->attempt->is_heard && x.attempt < g.life->attempt->id)
    return; // a late word of an attempt before the live one
  pools_.leave(g);
  const auto tried = std::move(g.life->attempt);
  remember(*g.life, *tried, x, now_);
  settle_members(g, *tried, x);
  judge_outcome(g, *tried, x);
  if (newly_bound(*tried, x) > 0)
    wake_by_arrivals();
}

/// No pod is planned twice: what the attempt bound and the watch has not shown yet is owed, and
/// while something is owed the gang settles. The attempt counts bound members and names those of
/// its plan that are left; members that its plan left out are told apart only by the watch.
void queue_role::settle_members(gang_entry& g, const attempt_now& tried,
                                const protocol::attempt_over& x) {
  const auto newly = newly_bound(tried, x);
  const auto seen = count(g).bound;
  const auto unseen = x.bound > seen ? x.bound - seen : 0;
  const auto owed = std::min(unseen, newly > tried.arrived ? newly - tried.arrived : 0);
  const bool was_resumed = !tried.who; // then nobody has marked what was offered
  for (auto* pod : g.members) {
    const bool is_left =
        std::find(x.members_left.begin(), x.members_left.end(), pod->uid) != x.members_left.end();
    pod->is_owed = owed > 0 && !is_left && (pod->is_owed || (was_resumed && pod->is_pending()));
  }
  g.owed = owed;
  g.limit_owed();
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
/// is the one that may preempt for them (C-22); if it is refused, its explanation is theirs.
///
/// An attempt of an earlier life that was resumed may find its members bound already, and has never
/// been asked for those that are left: that nobody was bound anew says nothing about them.
void queue_role::after_bound(gang_entry& g, const attempt_now& tried,
                             const protocol::attempt_over& x) {
  auto& life = *g.life;
  life.refused = life.errors = life.conflicts = 0;
  life.not_before = now_;
  life.why.reset();
  const bool has_tried_them = tried.who && !tried.is_earlier;
  const bool is_enough = (newly_bound(tried, x) == 0 && has_tried_them)
                         || base::is_planted(base::mutant::leave_the_rest);
  if (is_enough && count(g).pending > 0) { // no progress: never in a circle
    after_refusal(g, {}, with_reason(x.why, reason_code::undecided));
    return;
  }
  reconsider(g, true);
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
  life.why = std::make_unique<base::explanation>(std::move(why));
  if (goes_again)
    life.not_before = now_;
  const bool is_open = judge(g, how_).what == gate_verdict::kind::open && g.owed == 0;
  if (is_open)
    announce_refusal(g, *life.why, how_, out_);
  if (!is_open || has_grown || tried.has_changed) {
    reconsider(g, true);
    return;
  }
  life.is_stale = false;
  explain(life, life.why->primary);
  pools_.move(g, pool::waiting, now_ + base::limits::flush_interval);
}

void queue_role::after_conflict(gang_entry& g, base::explanation why) {
  auto& life = *g.life;
  ++life.conflicts;
  life.not_before = now_ + conflict_backoff_of(seed_, g.uid(), life.conflicts);
  life.why = std::make_unique<base::explanation>(std::move(why));
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
  life.why = std::make_unique<base::explanation>(std::move(why));
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
