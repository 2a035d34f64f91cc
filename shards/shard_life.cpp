// Start, replay, snapshots, epochs, and the timers that ask what became of a promise.
#include "shards/shard_role.hpp"

#include <algorithm>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/messages_codec.hpp"
#include "protocol/records_codec.hpp"
#include "protocol/sharding.hpp"
#include "shards/bytes.hpp"

namespace tutti::shards {

using namespace protocol;
using base::attempt_id;

namespace {

enum timer_kind : std::uint32_t {
  ask_timer = 1,  ///< in doubt, or quiet: ask the owner
  drop_timer = 2, ///< finished: what was not seen by now will not come
  beat_timer = 3  ///< several replicas: the view's versions go on, so that a loss shows
};

/// How long a topology may believe what a lost delta has changed.
constexpr base::duration beat_interval = base::limits::resend_longest;

/// Committed reservations are asked about now and then, for the `finish` may be lost: rarely, since
/// a gang that waits for victims is quiet for minutes.
constexpr base::duration quiet_first = base::limits::resend_longest;
constexpr base::duration quiet_longest = base::limits::view_stale_after;
/// After DONE every pod of the attempt is bound or gone. A view that was fresh all the while until
/// so much later has told all of that: what it did not tell of was never here.
constexpr base::duration told_by_then = base::limits::view_stale_after;
/// Long before that the mirror is asked, this often.
constexpr base::duration ask_interval = base::limits::resend_longest;

std::uint64_t key_of(const attempt_id& x) {
  return std::hash<attempt_id>{}(x);
}

} // namespace

// ---------------------------------------------------------------- recovery

/// The durable state is a function of the records, in their order (S11).
void shard_role::on_replayed(const record& x) {
  ensure(!is_started_, how_.shard.value);
  if (const auto* p = std::get_if<prepared_record>(&x)) {
    if (book_.find(p->attempt) == nullptr && !base::is_planted(base::mutant::replay_no_promise)) {
      book_.prepare(p->attempt, p->coordinator, p->asked);
      guards_.claim(p->attempt, *p->asked);
    }
  } else if (const auto* c = std::get_if<committed_record>(&x)) {
    const auto* r = book_.find(c->attempt);
    if (r == nullptr || r->is_in_doubt()) {
      book_.commit(c->attempt, c->coordinator, c->asked);
      guards_.claim(c->attempt, *c->asked);
      guards_.raise(c->attempt, *c->asked);
    }
  } else if (const auto* gone = std::get_if<released_record>(&x)) {
    for (const auto& pod : gone->pods)
      if (!base::is_planted(base::mutant::replay_no_release))
        book_.settle(gone->attempt, pod);
    if (const auto* r = book_.find(gone->attempt); r != nullptr && gone->pods.empty()) {
      guards_.drop(gone->attempt, *r->asked, true);
      book_.forget(gone->attempt);
    }
  } else if (const auto* e = std::get_if<epoch_record>(&x)) {
    if (!base::is_planted(base::mutant::replay_no_fence))
      fences_.apply(*e);
  } else if (const auto* life = std::get_if<life_record>(&x)) {
    enter(life->epoch);
  }
}

/// The shard's own epoch. The very first owner's guards begin at nothing; any later one cannot know
/// what its predecessors gave out.
void shard_role::enter(base::epoch_no epoch) {
  if (epoch_ < epoch && epoch.value > 1)
    guards_.begin(epoch);
  epoch_ = std::max(epoch_, epoch);
}

void shard_role::on_started(const started& x) {
  ensure(!is_started_, how_.shard.value);
  ensure(epoch_ <= x.epoch, epoch_.value, x.epoch.value);
  is_started_ = true;
  enter(x.epoch);
  incarnation_ = x.incarnation;
  out_.add(append{life_record{epoch_, incarnation_}, append::durability::synced});
  if (how_.has_others)
    out_.add(arm{{beat_timer, 0}, beat_interval});
  for (const auto& d : x.open)
    adopt(*d);
  guards_.begin_life(incarnation_);
  for (const auto& [attempt, r] : book_.all()) {
    book_.find(attempt)->since = now_;
    if (base::is_planted(base::mutant::leave_in_doubt))
      continue;
    watch_over(attempt);
    if (r.is_in_doubt())
      ask_owner(attempt);
  }
  // Upholds S1a: a Binding that was seen by no list before this one consumes its decision's hold,
  // which was listed before it. The other way round both could be missed.
  out_.tell(
      to(role_kind::mirror),
      view_wanted{.after_a_list = x.is_takeover
                                  && !base::is_planted(base::mutant::list_pods_before_decisions)});
}

/// A decision that a new owner of the shard has listed. All are held, colliding ones too (P11), and
/// cancelled members too: a CANCEL does not say that its touch has happened. None is acked before
/// its room is really there.
void shard_role::adopt(const decision& x) {
  if (x.what != verdict::committed || x.is_done || book_.find(x.by) != nullptr)
    return;
  for (const auto& s : x.chosen.slices) {
    if (s.shard != how_.shard)
      continue;
    auto asked = std::make_shared<slice>(s);
    if (base::is_planted(base::mutant::list_skips_cancelled))
      std::erase_if(asked->seats, [&](const seat& where) {
        return std::find(x.cancelled.begin(), x.cancelled.end(), where.pod) != x.cancelled.end();
      });
    const committed_record adopted{x.by, partition_of(x.by.gang), std::move(asked)};
    book_.commit(adopted.attempt, adopted.coordinator, adopted.asked);
    if (!base::is_planted(base::mutant::forget_what_was_listed))
      guards_.adopt(adopted.attempt, *adopted.asked);
    out_.add(append{adopted, append::durability::lazy});
  }
}

// ---------------------------------------------------------------- snapshots

namespace {

constexpr std::string_view snapshot_magic = "tutti-shard";
constexpr std::uint64_t snapshot_version = 1;

std::vector<base::pod_uid> settled_pods(const reservation& r) {
  std::vector<base::pod_uid> out;
  for (const auto& s : r.asked->seats)
    if (!r.left.contains(s.pod))
      out.push_back(s.pod);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void put(byte_writer& to, const guard_version& x) {
  to.put(x.epoch);
  to.put(x.counter);
}

guard_version take_version(byte_reader& from) {
  guard_version out;
  out.epoch = from.take_number();
  out.counter = from.take_number();
  return out;
}

} // namespace

/// magic, version, own epoch, guards (floor, counter, raised versions), then records as in the
/// journal: fences, and per attempt PREPARED or COMMITTED followed by the pods that are settled.
std::string shard_role::snapshot() const {
  byte_writer out;
  out.put(snapshot_magic);
  out.put(snapshot_version);
  out.put(epoch_.value);
  out.put(guards_.floor().value);
  out.put(guards_.counter());
  out.put(std::uint64_t{guards_.raised().size()});
  for (const auto& [guard, version] : guards_.raised()) {
    out.put(guard.kind);
    out.put(guard.space);
    out.put(guard.key);
    put(out, version.any);
    put(out, version.exclusive);
  }
  std::vector<record> records;
  for (const auto& [partition, m] : fences_.all())
    records.emplace_back(epoch_record{partition, m.seen, m.low_water});
  for (const auto& [attempt, r] : book_.all()) {
    if (base::is_planted(base::mutant::leave_out_of_checkpoint)
        && attempt == book_.all().rbegin()->first)
      continue;
    if (r.is_in_doubt())
      records.emplace_back(prepared_record{attempt, r.coordinator, r.asked});
    else
      records.emplace_back(committed_record{attempt, r.coordinator, r.asked});
    if (auto pods = settled_pods(r); !pods.empty())
      records.emplace_back(released_record{attempt, std::move(pods)});
  }
  out.put(std::uint64_t{records.size()});
  for (const auto& x : records)
    out.put(encode(x));
  return out.take_sealed();
}

base::result<void> shard_role::restore(std::string_view bytes) {
  ensure(!is_started_ && book_.all().empty(), how_.shard.value);
  if (bytes.empty())
    return {};
  const base::error corrupt{base::code::corrupt, "the snapshot of a shard is damaged"};
  byte_reader in{bytes};
  if (in.take_text() != snapshot_magic)
    return corrupt;
  if (in.take_number() > snapshot_version)
    return base::error{base::code::newer_format,
                       "the snapshot of a shard is of a later version of the program"};
  if (!in.is_sealed())
    return corrupt;
  epoch_.value = in.take_number();
  const base::epoch_no floor{in.take_number()};
  const auto counter = in.take_number();
  guard_table::raised_versions raised;
  for (auto n = in.take_number(); n > 0 && in.is_good(); --n) {
    guard_id guard{in.take_text(), in.take_text(), in.take_text()};
    guard_table::versions v;
    v.any = take_version(in);
    v.exclusive = take_version(in);
    raised.emplace(std::move(guard), v);
  }
  for (auto n = in.take_number(); n > 0 && in.is_good(); --n) {
    auto what = decode_record(in.take_text());
    if (!what)
      return what.error().in("snapshot of a shard");
    on_replayed(*what);
  }
  if (!in.is_good())
    return corrupt;
  guards_.restore(floor, counter, std::move(raised)); // replaying has raised them once more
  return {};
}

/// Left out: `since`, which only people read, and in which order attempts died, which counts where
/// more than are remembered have. Who uses a guard or names a victim follows from the
/// reservations and what is being gathered.
std::uint64_t shard_role::state_hash() const {
  using base::hash_of;
  auto h = hash_of(snapshot());
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  add(incarnation_.value * 4 + (is_started_ ? 1 : 0) + (is_view_wanted_ ? 2 : 0));
  if (is_disk_scarce_)
    add(1);
  for (const auto& [partition, m] : fences_.all())
    add(m.recorded_low_water);
  for (const auto& [attempt, r] : book_.all()) {
    add((r.is_fast ? 2u : 0u) + (r.is_finished ? 1u : 0u));
    add(static_cast<std::uint64_t>(r.patience.count()));
  }
  for (const auto& [attempt, g] : gatherings_) {
    add(hash_of(encode(record{prepared_record{attempt, g.coordinator, g.asked}})));
    add((g.is_decided ? 1u : 0u) + (g.is_fast ? 2u : 0u) + (g.is_finished ? 4u : 0u));
    for (const auto* nodes : {&g.waiting, &g.holding}) {
      for (const auto& node : *nodes)
        add(hash_of(node.value));
      add(nodes->size());
    }
    for (const auto& no : g.refusals)
      add(hash_of(encode(envelope{{}, {}, message{no}})));
    for (const auto& node : g.lost)
      add(hash_of(node.value));
    add(g.refusals.size() * 256 + g.lost.size());
  }
  for (const auto& attempt : dead_)
    add(key_of(attempt));
  add(dead_.size());
  if (is_started_) // before that all guards are news
    for (const auto& guard : guards_.news())
      add(hash_of(guard.kind + "/" + guard.space + "/" + guard.key));
  for (const auto& [key, attempt] : watched_)
    add(key);
  add(watched_.size());
  add(nodes_.state_hash());
  return h;
}

// ---------------------------------------------------------------- epochs

/// Upholds S8: a higher epoch is durable before anything is answered under it.
void shard_role::take_in(base::partition_id from, base::epoch_no epoch, std::uint64_t low_water) {
  if (fences_.hear(from, epoch, low_water))
    out_.add(append{fences_.record(from), append::durability::synced});
}

/// A new owner of the partition asks for what is held in doubt of its predecessors.
void shard_role::hear(const new_epoch& x) {
  take_in(x.partition, x.epoch, x.low_water);
  if (fences_.is_over(x.partition, x.epoch))
    return;
  for (const auto& [attempt, r] : book_.all())
    if (r.coordinator == x.partition && r.is_in_doubt() && attempt.epoch < x.epoch) {
      ask_owner(attempt);
      watch_over(attempt);
    }
}

// ---------------------------------------------------------------- timers

void shard_role::ask_owner(const attempt_id& attempt) {
  const auto* r = book_.find(attempt);
  ensure(r != nullptr, to_text(attempt));
  out_.tell(to_partition(r->coordinator), inquiry{attempt, how_.shard});
}

/// (Re)starts the timer that fits the state. Upholds S10 and L2: nothing is held without asking.
void shard_role::watch_over(const attempt_id& attempt) {
  auto* r = book_.find(attempt);
  ensure(r != nullptr, to_text(attempt));
  const auto key = key_of(attempt);
  watched_[key] = attempt;
  if (r->is_finished) {
    r->patience = {};
    out_.add(disarm{{ask_timer, key}});
    out_.add(arm{{drop_timer, key}, ask_interval});
    return;
  }
  r->patience = r->is_in_doubt() ? base::duration{base::limits::resend_first} : quiet_first;
  out_.add(arm{{ask_timer, key}, r->patience});
}

void shard_role::stop_watching(const attempt_id& attempt) {
  const auto key = key_of(attempt);
  if (watched_.erase(key) == 0)
    return;
  out_.add(disarm{{ask_timer, key}});
  out_.add(disarm{{drop_timer, key}});
}

/// F9: while the disk is scarce the answer to PREPARE is no. What is promised already is kept, and
/// what is decided goes on as far as the disk takes its records.
void shard_role::on_disk(const disk_told& x) {
  if (std::exchange(is_disk_scarce_, x.is_scarce) != x.is_scarce)
    out_.add(note{"shard.disk_scarce",
                  {{"shard", std::int64_t{how_.shard.value}}, {"scarce", x.is_scarce ? 1 : 0}}});
}

void shard_role::on_timer(const timer_id& x) {
  if (x.kind == beat_timer) {
    is_beat_due_ = true;
    out_.add(arm{{beat_timer, 0}, beat_interval});
    return;
  }
  auto pos = watched_.find(x.key);
  if (pos == watched_.end())
    return;
  const auto attempt = pos->second;
  auto* r = book_.find(attempt);
  ensure(r != nullptr, to_text(attempt));
  if (x.kind == drop_timer && r->is_finished) {
    drop_unseen(attempt, *r);
    return;
  }
  if (x.kind != ask_timer || r->is_finished)
    return;
  if (base::is_planted(base::mutant::take_back_fast_yes) && r->is_fast && r->is_in_doubt()) {
    give_up(attempt);
    return;
  }
  if (r->is_in_doubt() || !base::is_planted(base::mutant::ask_of_doubts_only))
    ask_owner(attempt);
  press_again(attempt, *r);
  const base::duration longest =
      r->is_in_doubt() ? base::duration{base::limits::resend_longest} : quiet_longest;
  r->patience = std::min(2 * r->patience, longest);
  out_.add(arm{{ask_timer, x.key}, r->patience});
}

/// A lost `pressure` is told again with the inquiry, for as long as the attempt is in doubt.
void shard_role::press_again(const attempt_id& attempt, const reservation& r) {
  if (!r.is_in_doubt())
    return;
  std::set<base::node_uid> nodes;
  for (const auto& [pod, node] : r.left)
    nodes.insert(node);
  for (const auto& node : nodes) {
    const bool is_gone = nodes_.known(node) == nullptr && nodes_.is_fresh();
    if (is_gone || is_crowded(r, node))
      out_.tell(to_gang(attempt.gang), pressure{attempt, how_.shard, node});
  }
}

/// Upholds S10. Pods may come and go between two looks of a watch, and nobody is told then: so the
/// mirror is asked. `patience` is for how long the view has been fresh since DONE.
void shard_role::drop_unseen(const attempt_id& attempt, reservation& r) {
  r.patience = nodes_.is_fresh() ? r.patience + ask_interval : base::duration{};
  if (r.patience < told_by_then) {
    ask_about({attempt});
    out_.add(arm{{drop_timer, key_of(attempt)}, ask_interval});
    return;
  }
  out_.add(
      note{"shard.dropped_unseen",
           {{"attempt", to_text(attempt)}, {"pods", static_cast<std::int64_t>(r.left.size())}}});
  out_.add(append{released_record{attempt, {}}, append::durability::lazy});
  forget(attempt);
}

/// What is held for pods that came and went, or will not come, is told by the mirror.
void shard_role::ask_about(const std::vector<attempt_id>& attempts) {
  pods_awaited asked{how_.shard, {}};
  for (const auto& attempt : attempts)
    if (const auto* r = book_.find(attempt))
      for (const auto& [pod, node] : r->left)
        asked.pods.push_back({node, pod});
  if (!asked.pods.empty() && nodes_.is_fresh())
    out_.tell(to(role_kind::mirror), std::move(asked));
}

} // namespace tutti::shards
