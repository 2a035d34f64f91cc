// The judge's own reading of the journal: what a shard must know when it begins.
#include "chaos/checker.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "persistence/format.hpp"
#include "protocol/records_codec.hpp"
#include "shards/shard_role.hpp"

namespace tutti::chaos {

/// Takes records once, in their order. One that was cut off before it was seen stands in a
/// checkpoint, which the judge does not read: then it must ask again later.
void checker::follow_journal(const std::string& who, const std::string& key,
                             const std::string& value) {
  const auto framed = persistence::open_frame(persistence::family::journal, key, value);
  ensure(framed.has_value(), key.size());
  auto& journal = journals_[who];
  if (framed->number <= journal.last)
    return;
  if (framed->number != journal.last + 1)
    journal.is_whole = false;
  journal.last = framed->number;
  const auto writer = persistence::read_checkpoint_key(framed->writer);
  ensure(writer.has_value(), framed->number);
  if (writer->kind != protocol::role_kind::shard)
    return;
  const auto read = protocol::decode_record(framed->payload);
  ensure(read.has_value(), framed->number);
  auto& open = journal.open[writer->index];
  if (const auto* p = std::get_if<protocol::prepared_record>(&*read))
    open.emplace(p->attempt, false);
  if (const auto* c = std::get_if<protocol::committed_record>(&*read)) {
    committed_.emplace(c->attempt, writer->index);
    open[c->attempt] = true;
  }
  if (const auto* gone = std::get_if<protocol::released_record>(&*read); gone && gone->pods.empty())
    open.erase(gone->attempt);
}

/// A promise of the fast path has no record of its own, but stands in a checkpoint that is written
/// while it is in doubt: records of its decision may be cut off behind it. It is undone without a
/// record, too, so that a later life may find it there and ask what became of it.
void checker::follow_checkpoint(sim::process& who, const std::string& key,
                                const std::string& value) {
  const auto where = persistence::read_checkpoint_key(key);
  const auto framed = persistence::open_frame(persistence::family::checkpoint, key, value);
  ensure(where.has_value() && framed.has_value(), key.size());
  if (where->kind != protocol::role_kind::shard)
    return;
  shards::shard_role reader{{.shard = {where->index}, .shards = who.options().shards}};
  const auto read = reader.restore(framed->payload);
  ensure(read.has_value(), where->index);
  auto& unrecorded = journals_[who.name()].unrecorded[where->index];
  unrecorded.clear();
  for (const auto& [attempt, r] : reader.reservations().all())
    if (r.is_in_doubt())
      unrecorded.insert(attempt);
}

/// The last records may have been cut off as well.
void checker::follow_tail(sim::process& who) {
  const auto& meta = who.disk().of(persistence::family::meta);
  const auto pos = meta.find(std::string{persistence::meta_key::tail});
  if (pos == meta.end())
    return;
  const auto read = persistence::read_tail(pos->second);
  ensure(read.has_value(), who.name());
  auto& journal = journals_[who.name()];
  if (read->last > journal.last) {
    journal.is_whole = false;
    journal.last = read->last;
  }
}

/// Upholds S11. The first life of a shard in its process begins with exactly what is durable; a
/// later one, with records that are on their way to the disk as well, so that only what nobody can
/// have released must be there.
void checker::check_replay(sim::process& who, std::uint32_t shard) {
  auto& journal = journals_[who.name()];
  const auto* role = dynamic_cast<const shards::shard_role*>(who.role(protocol::to_shard({shard})));
  if (role == nullptr || !look("S11"))
    return;
  if (journal.unchecked.erase(shard) == 0) {
    for (const auto& [attempt, is_committed] : journal.open[shard]) {
      const auto decided = decisions_.find(base::slot_of(attempt));
      const bool is_live = decided != decisions_.end() && decided->second.is_live()
                           && decided->second.first.by == attempt;
      if (is_live && is_committed && role->reservations().find(attempt) == nullptr)
        say("S11", fmt::format("shard {} is made anew without its promise to gang {}, which is "
                               "durable",
                               shard, attempt.gang.value));
    }
    return;
  }
  auto& open = journal.open[shard];
  if (!journal.is_whole) {
    open.clear();
    for (const auto& [attempt, r] : role->reservations().all())
      open.emplace(attempt, !r.is_in_doubt());
    journal.is_whole = journal.unchecked.empty();
  }
  compare_replay(who.name(), shard, role->reservations(),
                 who.options().log == actors::decision_log::objects);
}

/// `found` is what a shard makes of what is durable, the judge's own reading of it being whole.
void checker::compare_replay(const std::string& who, std::uint32_t shard,
                             const shards::reservation_book& found, bool is_log_elsewhere) {
  auto& journal = journals_[who];
  auto& open = journal.open[shard];
  for (const auto& [attempt, is_committed] : open) {
    const auto* r = found.find(attempt);
    if (r == nullptr)
      say("S11", fmt::format("shard {} begins without its promise to gang {}, which is durable",
                             shard, attempt.gang.value));
    else if (r->is_in_doubt() == is_committed)
      say("S11", fmt::format("shard {} begins with gang {} in doubt or committed, and its journal "
                             "says otherwise",
                             shard, attempt.gang.value));
  }
  // What the decision log holds elsewhere is held whether the journal knows it or not (2.7).
  const auto is_listed = [&](const base::attempt_id& attempt) {
    const auto decided = decisions_.find(base::slot_of(attempt));
    return is_log_elsewhere && decided != decisions_.end() && decided->second.is_live()
           && decided->second.first.by == attempt;
  };
  const auto& unrecorded = journal.unrecorded[shard];
  for (const auto& [attempt, r] : found.all())
    if (!open.contains(attempt) && !(r.is_in_doubt() && unrecorded.contains(attempt))
        && !is_listed(attempt))
      say("S11", fmt::format("shard {} begins with a promise to gang {} that is not durable", shard,
                             attempt.gang.value));
}

/// Upholds S11, of a disk as it lies there: two roles that replay it are the same, one that begins
/// with the snapshot of such a role is, too, and all hold what the judge has read of the journal.
void checker::check_replay_twice(const std::string& who, const persistence::disk& left,
                                 std::uint32_t shards) {
  auto opened = persistence::memory_store::open(left);
  if (!opened || !look("S11"))
    return; // damaged: nobody begins on it
  auto remains = (*opened)->take_remains();
  const auto replay = [&](std::uint32_t s, const std::string& snapshot, bool has_records) {
    auto role = std::make_unique<shards::shard_role>(
        shards::shard_role::options{.shard = {s}, .shards = shards});
    if (!snapshot.empty())
      ensure(role->restore(snapshot).has_value(), s);
    if (has_records)
      for (const auto& [at, record] : remains.roles[protocol::to_shard({s})].records)
        static_cast<void>(role->on(protocol::replayed{record}, on_.time().now()));
    return role;
  };
  for (std::uint32_t s = 0; s < shards; ++s) {
    const auto& snapshot = remains.roles[protocol::to_shard({s})].checkpoint;
    const auto first = replay(s, snapshot, true);
    const auto second = replay(s, snapshot, true);
    const auto third = replay(s, first->snapshot(), false);
    const auto hash = first->state_hash();
    if (hash != second->state_hash())
      say("S11", fmt::format("shard {} replays the same disk into two states", s));
    if (hash != third->state_hash())
      say("S11", fmt::format("shard {} is not what its own snapshot says", s));
    if (journals_[who].is_whole)
      compare_replay(who, s, first->reservations(), false);
  }
}

} // namespace tutti::chaos
