// What a partition does to a gang at an operator's word: takes back what is under way, also from an
// actor that does not answer, and has the members of a degraded gang evicted.
#include "protocol/partition_role.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"

namespace tutti::protocol {

namespace {

constexpr std::uint32_t silence_timer = 2; ///< by the id of the question
/// A gang that is alive answers in microseconds.
constexpr auto silence = base::limits::prepare_timeout;

} // namespace

void partition_role::answer(const cancel_gang& x, bool is_done, std::string text) {
  out_.tell(to(role_kind::admin), gang_cancelled{x.id, x.gang, is_done, std::move(text)});
}

/// Only what is under way can be taken back; the gang knows how far it is.
void partition_role::hear(const cancel_gang& x) {
  if (epoch_.value == 0)
    return; // not started: whoever asks loses patience
  if (cancels_.contains(x.gang)) {
    answer(x, false, "another word about it is being carried out: look again");
    return;
  }
  if (quarantined_.contains(x.gang)) {
    lift_quarantine(x);
    return;
  }
  const auto pos = gangs_.find(x.gang);
  if (pos == gangs_.end() || !is_under_way(pos->first, pos->second)) {
    answer(x, false, "nothing of it is under way: no attempt and no unfinished decision");
    return;
  }
  cancels_.emplace(x.gang, x);
  out_.tell(to_gang(x.gang), x);
  out_.add(arm{{silence_timer, x.id}, silence});
}

/// Its members' room is held by an unfinished decision, if there is one: whoever hosts it now has
/// only to give it up, which is less than what it died of. If it dies again, it is quarantined
/// again.
void partition_role::lift_quarantine(const cancel_gang& x) {
  quarantined_.erase(x.gang);
  out_.add(note{"partition.quarantine_lifted", {{"gang", to_text(x.name)}, {"reason", x.reason}}});
  const auto pos = std::find_if(resting_.begin(), resting_.end(),
                                [&x](const auto& d) { return d->by.gang == x.gang; });
  if (pos == resting_.end()) {
    answer(x, true, "the quarantine is lifted: it is tried again with the queue's next flush");
    return;
  }
  const auto what = *pos;
  resting_.erase(pos);
  take_up(what);
  cancels_.emplace(x.gang, x);
  out_.tell(to_gang(x.gang), x);
  out_.add(arm{{silence_timer, x.id}, silence});
}

void partition_role::hear(const gang_cancelled& x) {
  const auto pos = cancels_.find(x.gang);
  if (pos == cancels_.end() || pos->second.id != x.id)
    return;
  out_.add(disarm{{silence_timer, x.id}});
  cancels_.erase(pos);
  out_.tell(to(role_kind::admin), x);
}

/// The gang's actor is stuck. What it holds is taken from it without its help: before a decision by
/// writing ABORTED into its slot, so that whatever it still decides loses (rule 4).
void partition_role::gang_is_silent(std::uint64_t question) {
  auto asked = cancels_.begin();
  while (asked != cancels_.end() && asked->second.id != question)
    ++asked;
  if (asked == cancels_.end())
    return;
  const auto pos = gangs_.find(asked->first);
  if (pos == gangs_.end() || !is_under_way(pos->first, pos->second)) {
    answer(asked->second, false, "its attempt has ended meanwhile");
    cancels_.erase(asked);
  } else if (pos->second.live.try_no != 0) {
    close_slot(asked->second, pos->second.live);
  } else {
    make_anew(asked);
  }
}

void partition_role::close_slot(const cancel_gang& x, const base::attempt_id& live) {
  decision closed{.by = live, .what = verdict::aborted};
  closed.by.try_no =
      next_try_++; // not the attempt that it ends: who asks about that hears "aborted"
  closed.gang_name = x.name;
  closed.is_lone_pod = x.is_lone_pod;
  closed.is_done = true; // there is nothing to do about it
  out_.add(decide{slot_of(live), std::move(closed), {}});
}

/// The gang may have answered or ended since: the slot is taken all the same.
void partition_role::override_settled(const decided& x) {
  const auto pos = gangs_.find(x.slot.gang);
  if (pos == gangs_.end())
    return;
  const auto asked = cancels_.find(x.slot.gang);
  const auto& live = pos->second.live;
  const bool is_live = live.try_no != 0 && slot_of(live) == x.slot;
  if (x.winner->what == verdict::aborted) {
    slot_is_closed(pos, x.slot);
  } else if (asked != cancels_.end() && is_live) {
    make_anew(asked);
  } else if (asked != cancels_.end()) {
    answer(asked->second, false, "its attempt has ended meanwhile");
    cancels_.erase(asked);
  }
}

/// Upholds S2, S7: the slot is used up, the next attempt has the next one. What was live on it may
/// be over for everybody: nothing can be decided by it any more.
void partition_role::slot_is_closed(gang_entry pos, const base::slot_id& slot) {
  auto& mine = pos->second;
  if (slot.ordinal > mine.ordinal) {
    mine.ordinal = slot.ordinal;
    mine.decided_by = {};
    mine.is_done = true;
  }
  std::string reason = "its slot was closed";
  const auto asked = cancels_.find(slot.gang);
  if (asked != cancels_.end())
    reason = asked->second.reason;
  if (mine.live.try_no != 0 && slot_of(mine.live) == slot)
    end_live(mine, reason);
  if (asked != cancels_.end()) {
    const auto& what = asked->second;
    out_.add(note{"partition.slot_closed", {{"gang", to_text(what.name)}, {"reason", reason}}});
    out_.tell(to(role_kind::status),
              emit_event{what.name, what.is_lone_pod, what.gang.value, true, "GangCancelled",
                         "Cancelling",
                         fmt::format("An operator took it back: the slot of its silent attempt is "
                                     "closed ({})",
                                     reason)});
    answer(what, true, "its coordinator is silent: the decision slot is closed");
    cancels_.erase(asked);
  }
  if (closing_.contains(slot.gang))
    go_on_closing(slot.gang);
  forget_if_over(pos);
}

void partition_role::end_live(entry& mine, const std::string& reason) {
  const auto ended = std::exchange(mine.live, {});
  mine.overtaken_by = nullptr;
  live_tries_.erase(ended.try_no);
  for (std::uint32_t s = 0; s < how_.shards; ++s)
    out_.tell(to_shard({s}), abort_attempt{ended, low_water()});
  out_.tell(to(role_kind::topology), plan_dropped{ended});
  attempt_over over{.attempt = ended, .outcome = attempt_outcome::stopped};
  over.why.primary = base::reason_code::backing_off;
  over.why.detail = "given up by an operator: " + reason;
  out_.tell(to(role_kind::queue), std::move(over));
}

/// Decided, and nobody carries it out: what the log says is rolled forward by a new actor, which
/// can be told again.
void partition_role::make_anew(pending_cancel asked) {
  answer(asked->second, false,
         "it is decided and its coordinator is silent; it is made anew from its decision: say it "
         "again in a moment");
  out_.add(rebuild{"the coordinator of " + to_text(asked->second.name)
                   + " does not answer an operator"});
}

void partition_role::override_refused(const decide_refused& x) {
  const auto asked = cancels_.find(x.slot.gang);
  if (asked == cancels_.end())
    return;
  answer(asked->second, false, x.why.message());
  cancels_.erase(asked);
}

/// The same write again settles it.
void partition_role::override_unknown(const decide_unknown& x) {
  const auto asked = cancels_.find(x.slot.gang);
  if (asked == cancels_.end())
    return;
  const auto& live = gangs_.at(x.slot.gang).live;
  if (live.try_no != 0 && slot_of(live) == x.slot)
    close_slot(asked->second, live);
}

/// Not beside an attempt, which counts on the bound members, nor beside an unfinished decision. All
/// of it goes under one name, so that the evictor knows a question that it was asked before.
void partition_role::hear(const evict_degraded& x) {
  if (epoch_.value == 0)
    return; // the queue says it again
  const auto& mine = gangs_[x.gang];
  if (is_under_way(x.gang, mine) || !mine.is_done)
    return;
  const base::attempt_id name{x.gang, mine.ordinal, epoch_, 0};
  for (const auto& m : x.members)
    out_.tell(to(role_kind::evictor), evict{name, x.name, m, epoch_, x.why});
}

} // namespace tutti::protocol
