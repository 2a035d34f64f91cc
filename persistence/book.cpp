// The rules of the store: who may write what, in which order, and when the journal is cut.
#include "persistence/book.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/records_codec.hpp"
#include "protocol/sharding.hpp"

namespace tutti::persistence {

using base::code;
using base::error;
using protocol::decision;
using protocol::is_finished;
using protocol::record;
using protocol::verdict;

bool holds_journal(const protocol::address& writer, const record& x) {
  return writer.kind != protocol::role_kind::partition
         || !std::holds_alternative<protocol::life_record>(x);
}

base::result<outcome> book::answer(const request& what, batch& into) {
  return std::visit([&](const auto& x) { return answer_one(x, into); }, what);
}

void book::begin_life(batch& into) {
  ++all_.ends.incarnation.value;
  into.synced = true;
}

void book::set_identity(identity who, batch& into) {
  all_.who = std::move(who);
  into.puts.push_back({family::meta, std::string{meta_key::format}, make_format()});
  into.puts.push_back({family::meta, std::string{meta_key::identity}, make_identity(all_.who)});
  into.synced = true;
}

bool book::seal(batch& b) {
  if (b.puts.empty() && b.removals.empty() && !b.synced)
    return false;
  put_tail(b);
  return true;
}

void book::put_tail(batch& b) {
  b.number = ++all_.ends.batch;
  said_synced_ = all_.ends.synced_batch;
  b.puts.push_back({family::meta, std::string{meta_key::tail}, make_tail(all_.ends)});
}

bool book::say_synced(batch& b) {
  ensure(b.puts.empty() && !b.synced, b.puts.size());
  if (said_synced_ >= all_.ends.synced_batch)
    return false;
  put_tail(b);
  return true;
}

void book::was_synced(std::uint64_t number) {
  ensure(number > all_.ends.synced_batch, number, all_.ends.synced_batch);
  ensure(number <= all_.ends.batch, number, all_.ends.batch);
  all_.ends.synced_batch = number;
}

base::result<void> book::check_life(const protocol::address& writer, base::incarnation_no x) {
  const auto pos = all_.roles.find(writer);
  if (pos == all_.roles.end() || x >= pos->second.lowest)
    return {};
  return error{code::conflict, fmt::format("retired: incarnation {} of {}, which lives as {}",
                                           x.value, to_text(writer), pos->second.lowest.value)};
}

base::result<outcome> book::answer_one(const append_request& x, batch& into) {
  if (auto ok = check_life(x.writer, x.incarnation); !ok)
    return ok.error();
  note_incarnation(x.incarnation);
  if (const auto* life = std::get_if<protocol::life_record>(&x.what)) {
    // Nothing of an earlier life may land behind the first record of its successor.
    auto& lowest = all_.roles[x.writer].lowest;
    lowest = std::max(lowest, life->incarnation);
    note_incarnation(life->incarnation);
    if (x.writer.kind == protocol::role_kind::partition)
      note_epoch({x.writer.index}, life->epoch, into);
  }
  into.synced |= x.synced;
  return appended{put_record(x.writer, x.what, into)};
}

base::result<outcome> book::answer_one(const decide_request& x, batch& into) {
  const auto& [slot, what, riders] = x.what;
  ensure(slot == base::slot_of(what.by), slot.gang.value, slot.ordinal, what.by.ordinal);
  ensure(riders.empty() || what.what == verdict::committed, slot.gang.value, riders.size());
  // Upholds S2: what stands in a slot stays there; the loser is told who won.
  if (const auto taken = all_.decisions.find(slot); taken != all_.decisions.end())
    return decide_outcome{taken->second.what, {}};
  if (auto ok = check_epoch(what.by); !ok)
    return ok.error();
  if (auto ok = check_slot_is_next(slot); !ok)
    return ok.error();
  for (const auto& r : riders) {
    ensure(r.prepared.attempt == what.by, slot.gang.value, r.shard.value);
    const bool is_checked = !base::is_planted(base::mutant::skip_incarnation_check);
    if (auto ok = check_life(protocol::to_shard(r.shard), r.incarnation); !ok && is_checked)
      return ok.error();
  }

  decide_outcome out;
  for (const auto& r : riders) {
    const auto writer = protocol::to_shard(r.shard);
    const auto& [attempt, coordinator, asked] = r.prepared;
    out.rider_indices.push_back(put_record(writer, r.prepared, into));
    out.rider_indices.push_back(
        put_record(writer, protocol::committed_record{attempt, coordinator, asked}, into));
    note_incarnation(r.incarnation);
  }
  const kept_decision kept{std::make_shared<decision>(what), false};
  put_decision(slot, kept, into);
  note_epoch(protocol::partition_of(slot.gang), what.by.epoch, into);
  drop_oldest_finished(slot.gang, into);
  into.synced = true;
  out.winner = kept.what;
  return out;
}

/// A coordinator that was rebuilt has written down its epoch before it read the log: what its dead
/// predecessor still had in the queue comes too late, so that an empty slot stays empty (rule 4).
base::result<void> book::check_epoch(const base::attempt_id& by) const {
  const auto partition = protocol::partition_of(by.gang).value;
  const auto pos = all_.epochs.find(partition);
  if (pos == all_.epochs.end() || by.epoch >= pos->second)
    return {};
  return error{code::conflict, fmt::format("epoch {} of partition {} is over, it is {} now",
                                           by.epoch.value, partition, pos->second.value)};
}

// Upholds S7: the next ordinal begins only when the last is done or aborted.
base::result<void> book::check_slot_is_next(const base::slot_id& slot) const {
  const auto behind = all_.decisions.upper_bound({slot.gang, UINT64_MAX});
  if (behind == all_.decisions.begin())
    return {};
  const auto& [last, kept] = *std::prev(behind);
  if (last.gang != slot.gang)
    return {};
  if (auto refused = protocol::refuse_turn(*kept.what, slot))
    return *refused;
  return {};
}

base::result<outcome> book::answer_one(const amend_request& x, batch& into) {
  const auto& [slot, change] = x.what;
  const auto pos = all_.decisions.find(slot);
  if (pos == all_.decisions.end())
    return amend_outcome{true, nullptr};
  auto became = protocol::amend_decision(*pos->second.what, change);
  if (became.is_refused || !became.is_changed)
    return amend_outcome{became.is_refused, pos->second.what};

  const auto now = std::make_shared<const decision>(std::move(became.now));
  auto kept = pos->second;
  kept.what = now->is_done ? std::make_shared<const decision>(protocol::tombstone_of(*now)) : now;
  if (now->is_done && kept.forget_when_done)
    drop_decision(slot, into);
  else
    put_decision(slot, kept, into);
  note_epoch(protocol::partition_of(slot.gang), change.by, into);
  into.synced = true;
  return amend_outcome{false, now};
}

base::result<outcome> book::answer_one(const retire_request& x, batch&) {
  auto& lowest = all_.roles[x.writer].lowest;
  lowest = std::max(lowest, x.incarnation);
  note_incarnation(x.incarnation);
  return retired{};
}

base::result<outcome> book::answer_one(const checkpoint_request& x, batch& into) {
  ensure(x.applied <= all_.ends.last, to_text(x.writer), x.applied, all_.ends.last);
  auto& role = all_.roles[x.writer];
  if (role.has_checkpoint && x.applied < role.applied)
    return error{code::conflict,
                 fmt::format("checkpoint of {} up to record {}: there is one up to {}",
                             to_text(x.writer), x.applied, role.applied)};
  const auto key = checkpoint_key(x.writer);
  into.puts.push_back(
      {family::checkpoint, key, make_frame(family::checkpoint, key, {x.applied, {}, 0, x.bytes})});
  all_.ends.checkpoints += role.has_checkpoint ? 0 : 1;
  role.has_checkpoint = true;
  role.applied = x.applied;
  while (!role.unapplied.empty() && role.unapplied.front() <= x.applied)
    role.unapplied.pop_front();
  cut_journal(into);
  return checkpointed{};
}

base::result<outcome> book::answer_one(const forget_request& x, batch& into) {
  auto pos = all_.decisions.lower_bound({x.gang, 0});
  while (pos != all_.decisions.end() && pos->first.gang == x.gang) {
    const auto slot = pos->first;
    auto kept = pos->second;
    ++pos;
    if (is_finished(*kept.what)) {
      drop_decision(slot, into);
    } else if (!kept.forget_when_done) {
      kept.forget_when_done = true;
      put_decision(slot, kept, into);
    }
  }
  return forgotten{};
}

base::result<outcome> book::answer_one(const recover_request& x, batch&) {
  return error{code::internal, "the book has no records of " + to_text(x.writer)};
}

base::result<outcome> book::answer_one(const check_request& x, batch& into) {
  into.synced |= x.what == check_request::part::journal;
  return checked{};
}

journal_index book::put_record(const protocol::address& writer, const record& x, batch& into) {
  const auto index = ++all_.ends.last;
  const auto key = journal_key(index);
  const auto payload = protocol::encode(x);
  into.puts.push_back(
      {family::journal, key,
       make_frame(family::journal, key, {index, checkpoint_key(writer), 0, payload})});
  ++into.records;
  if (holds_journal(writer, x))
    all_.roles[writer].unapplied.push_back(index);
  return index;
}

void book::put_decision(const base::slot_id& slot, const kept_decision& x, batch& into) {
  const auto key = decision_key(slot);
  const auto payload = protocol::encode(*x.what);
  const std::uint16_t flags = x.forget_when_done ? flag_forget_when_done : 0;
  into.puts.push_back({family::decisions, key,
                       make_frame(family::decisions, key, {slot.ordinal, {}, flags, payload})});
  // Removals are carried out behind the puts: one of this key, earlier in the batch, is overtaken.
  std::erase(into.removals, std::pair{family::decisions, key});
  const bool is_new = all_.decisions.insert_or_assign(slot, x).second;
  all_.ends.decisions += is_new ? 1 : 0;
}

void book::drop_decision(const base::slot_id& slot, batch& into) {
  const auto erased = all_.decisions.erase(slot);
  ensure(erased == 1, slot.gang.value, slot.ordinal);
  --all_.ends.decisions;
  auto key = decision_key(slot);
  into.removals.emplace_back(family::decisions, std::move(key));
}

void book::drop_oldest_finished(const base::gang_uid& gang, batch& into) {
  const auto begin = all_.decisions.lower_bound({gang, 0});
  const auto end = all_.decisions.upper_bound({gang, UINT64_MAX});
  // All but the last are finished (S7).
  if (static_cast<std::size_t>(std::distance(begin, end)) > finished_kept_per_gang + 1) {
    ensure(is_finished(*begin->second.what), gang.value, begin->first.ordinal);
    drop_decision(base::slot_id{begin->first}, into);
  }
}

void book::note_epoch(base::partition_id partition, base::epoch_no x, batch& into) {
  auto& highest = all_.epochs[partition.value];
  if (x <= highest)
    return;
  highest = x;
  into.puts.push_back({family::meta, std::string{meta_key::epochs}, make_epochs(all_.epochs)});
}

void book::note_incarnation(base::incarnation_no x) {
  // The tail carries it with whatever is written next; a life that wrote nothing left no trace.
  all_.ends.incarnation = std::max(all_.ends.incarnation, x);
}

void book::cut_journal(batch& into) {
  auto needed = all_.ends.last + 1;
  for (const auto& [writer, role] : all_.roles)
    if (!role.unapplied.empty() && !base::is_planted(base::mutant::cut_what_others_need))
      needed = std::min(needed, role.unapplied.front());
  ensure(needed >= all_.ends.first, needed, all_.ends.first);
  if (needed == all_.ends.first)
    return;
  if (!into.has_cut())
    into.cut_from = all_.ends.first;
  into.cut_below = needed;
  all_.ends.first = needed;
}

} // namespace tutti::persistence
