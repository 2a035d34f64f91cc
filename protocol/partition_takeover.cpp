// A decision log that several owners write into: adopt before speaking, close before presuming.
#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/partition_role.hpp"

namespace tutti::protocol {

// ---------------------------------------------------------------- adopting (2.7)

/// From here on the older owner may write neither CANCEL nor DONE: what it believes of the gang is
/// stopped at the record (Q3).
void partition_role::adopt(const decision_ptr& what) {
  const auto slot = slot_of(what->by);
  adopting_[slot.gang] = what;
  amendment ours{.by = epoch_, .cancel = {}, .adopt = true, .finish = false};
  out_.add(amend{slot, std::move(ours)});
}

void partition_role::on(const amended& x) {
  const auto pos = adopting_.find(x.slot.gang);
  if (pos == adopting_.end() || slot_of(pos->second->by) != x.slot)
    return;
  adopting_.erase(pos);
  ensure(x.now != nullptr, x.slot.gang.value);
  if (!x.now->is_done) {
    resume(x.now);
    return;
  }
  // Finished while we were on our way to it.
  resumed_.erase(x.slot.gang);
  auto& mine = gangs_.at(x.slot.gang);
  mine.is_done = true;
  mine.bound = bound_by(*x.now);
  if (closing_.contains(x.slot.gang))
    go_on_closing(x.slot.gang);
}

/// A later owner has it: then so it has the partition, and this life is about to end; or the map
/// was lost, and the partition begins again above that owner. Or the record is gone, with its gang.
void partition_role::on(const amend_refused& x) {
  const auto pos = adopting_.find(x.slot.gang);
  if (pos == adopting_.end() || slot_of(pos->second->by) != x.slot)
    return;
  const bool is_over = x.now == nullptr || x.now->is_done;
  out_.add(note{"partition.not_adopted",
                {{"gang", to_text(pos->second->gang_name)}, {"over", std::int64_t{is_over}}}});
  if (!is_over) { // not another word about it: the keeper looks whose the partition is
    out_.tell(to(role_kind::keeper), new_epoch{how_.partition, {owner_of(*x.now).value + 1}, 0});
    return;
  }
  adopting_.erase(pos);
  resumed_.erase(x.slot.gang);
  auto& mine = gangs_.at(x.slot.gang);
  mine.is_done = true;
  if (x.now != nullptr)
    mine.bound = bound_by(*x.now);
}

// ---------------------------------------------------------------- closing (rule 4)

/// True if the log may still be written by whoever began this attempt: an older owner, perhaps only
/// paused, and a slot that was empty when we last heard of it.
bool partition_role::must_close(const inquiry& x) const {
  if (!how_.shares_log || x.attempt.epoch >= epoch_
      || base::is_planted(base::mutant::presume_without_closing))
    return false;
  const auto pos = gangs_.find(x.attempt.gang);
  return pos == gangs_.end() || x.attempt.ordinal > pos->second.ordinal;
}

void partition_role::close_for(const inquiry& x) {
  auto& shut = closing_[x.attempt.gang];
  shut.askers.insert({x.attempt, x.shard});
  go_on_closing(x.attempt.gang);
}

/// Waits for an attempt of ours that competes for the same slot: it decides it, or leaves it empty.
void partition_role::go_on_closing(const base::gang_uid& gang) {
  auto& shut = closing_.at(gang);
  auto& mine = gangs_[gang];
  if (shut.is_deciding || mine.live.try_no != 0 || resumed_.contains(gang))
    return;
  const bool is_open = std::any_of(shut.askers.begin(), shut.askers.end(), [&](const auto& who) {
    return who.first.ordinal > mine.ordinal;
  });
  if (!is_open) {
    answer_askers(gang);
    return;
  }
  if (mine.name.name.empty()) {
    // Asked again with every inquiry. A gang that is there is told by its name; one that is gone by
    // `gang_deleted`.
    out_.tell(to(role_kind::queue), last_look{{gang, 0, epoch_, 0}});
    out_.tell(to(role_kind::queue), gangs_kept{{gang}});
    return;
  }
  shut.is_deciding = true;
  shut.ordinal = mine.ordinal + 1;
  out_.add(
      note{"partition.closes_slot",
           {{"gang", to_text(mine.name)}, {"ordinal", static_cast<std::int64_t>(shut.ordinal)}}});
  out_.add(decide{{gang, shut.ordinal}, closing_decision(gang), {}});
}

decision partition_role::closing_decision(const base::gang_uid& gang) {
  const auto& mine = gangs_.at(gang);
  decision out;
  out.by = {gang, closing_.at(gang).ordinal, epoch_, next_try_++};
  out.what = verdict::aborted;
  out.gang_name = mine.name;
  out.is_lone_pod = mine.is_lone_pod;
  out.is_done = true; // there is nothing to do about it
  return out;
}

void partition_role::answer_askers(const base::gang_uid& gang) {
  const auto shut = std::move(closing_.extract(gang).mapped());
  const auto pos = gangs_.find(gang);
  for (const auto& [attempt, shard] : shut.askers) {
    const bool is_winner = pos != gangs_.end() && pos->second.decided_by == attempt;
    if (is_winner && !pos->second.is_done)
      continue; // COMMIT comes
    out_.tell(to_shard(shard), inquiry_answer{attempt, is_winner});
  }
}

void partition_role::hear(const last_look_answer& x) {
  const auto pos = closing_.find(x.attempt.gang);
  if (pos == closing_.end() || pos->second.is_deciding || !x.now)
    return;
  auto& mine = gangs_[x.attempt.gang];
  mine.name = x.now->name;
  mine.is_lone_pod = x.now->is_lone_pod;
  go_on_closing(x.attempt.gang);
}

/// The slots of gangs that the queue does not know: whatever an older owner has decided stands
/// here.
void partition_role::hear(const slots_told& x) {
  for (auto pos = reading_.begin(); pos != reading_.end();) {
    const auto [gang, asked] = *pos;
    if (asked > x.id) {
      ++pos;
      continue;
    }
    pos = reading_.erase(pos);
    if (const auto shut = closing_.find(gang); shut == closing_.end() || shut->second.is_deciding)
      continue;
    const auto there =
        std::find_if(x.all.begin(), x.all.end(), [&](const auto& d) { return d.by.gang == gang; });
    if (there != x.all.end()) {
      gangs_.try_emplace(gang);
      stands_there(std::make_shared<const decision>(*there));
    }
    answer_askers(gang);
    if (const auto mine = gangs_.find(gang); mine != gangs_.end())
      forget_if_over(mine);
  }
}

/// Closed; or an older owner came first, and its decision is ours to roll forward.
void partition_role::on(const decided& x) {
  const auto pos = closing_.find(x.slot.gang);
  if (pos == closing_.end() || !pos->second.is_deciding || pos->second.ordinal != x.slot.ordinal) {
    override_settled(x);
    return;
  }
  pos->second.is_deciding = false;
  stands_there(x.winner);
  answer_askers(x.slot.gang);
}

void partition_role::stands_there(const decision_ptr& what) {
  ensure(what != nullptr);
  auto& mine = gangs_.at(what->by.gang);
  if (what->by.ordinal <= mine.ordinal)
    return;
  mine.ordinal = what->by.ordinal;
  mine.decided_by = what->by;
  mine.is_done = what->is_done || what->what == verdict::aborted;
  if (what->what == verdict::committed) // an aborted slot says nothing of who was bound before
    mine.bound = bound_by(*what);
  if (!mine.is_done)
    take_up(what);
}

/// From the attempt under way: somebody else has decided. It says its own end next; before that
/// nobody may be put in its place. Or from the keeper, which has come upon it in the log: it may
/// stand there since a moment ago, and may be over by now; and an older owner may have written it
/// long after we have listed. Upholds S5.
void partition_role::hear(const resume_decision& x) {
  if (epoch_.value == 0)
    return;
  const auto& by = x.what->by;
  const auto [pos, is_new] = gangs_.try_emplace(by.gang);
  auto& mine = pos->second;
  if (mine.live.try_no != 0) {
    if (by != mine.live && (!mine.overtaken_by || mine.overtaken_by->by.ordinal < by.ordinal))
      mine.overtaken_by = x.what;
    return;
  }
  const bool is_later = owner_of(*x.what) > epoch_;
  if (is_later || is_under_way(by.gang, mine)) {
    if (is_new)
      gangs_.erase(pos);
    return;
  }
  if (is_new) {
    mine.name = x.what->gang_name;
    mine.is_lone_pod = x.what->is_lone_pod;
    out_.tell(to(role_kind::queue), gangs_kept{{by.gang}}); // it may be gone for long
  }
  stands_there(x.what);
}

/// Not its turn: what we know of the gang is older than the log. Shards ask again, and the keeper
/// says before long whose the partition is.
void partition_role::on(const decide_refused& x) {
  if (const auto pos = closing_.find(x.slot.gang);
      pos != closing_.end() && pos->second.is_deciding && pos->second.ordinal == x.slot.ordinal)
    closing_.erase(pos);
  else
    override_refused(x);
}

void partition_role::on(const decide_unknown& x) {
  const auto pos = closing_.find(x.slot.gang);
  if (pos != closing_.end() && pos->second.is_deciding && pos->second.ordinal == x.slot.ordinal)
    out_.add(decide{x.slot, closing_decision(x.slot.gang), {}});
  else
    override_unknown(x);
}

} // namespace tutti::protocol
