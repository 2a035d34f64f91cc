// Numbers attempts, resumes decisions, answers inquiries.
#include "protocol/partition_role.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "protocol/decision_rules.hpp"

namespace tutti::protocol {

namespace {

constexpr timer_id rest_timer{1, 0};

std::uint32_t bound_in(const gang& shown) {
  return static_cast<std::uint32_t>(
      std::count_if(shown.members.begin(), shown.members.end(),
                    [](const member& m) { return !m.node.value.empty(); }));
}

} // namespace

effects partition_role::on(const event& e, base::time_point) {
  std::visit(
      [this](const auto& x) {
        if constexpr (requires { this->on(x); })
          this->on(x);
      },
      e);
  return std::exchange(out_, {});
}

void partition_role::tell_shards_epoch() {
  for (std::uint32_t s = 0; s < how_.shards; ++s)
    out_.tell(to_shard({s}), new_epoch{how_.partition, epoch_, low_water()});
}

/// An epoch never goes back. A store that was lost, or an older copy of it, begins with epochs that
/// were used before; what their owners wrote stands on pods, and would stop our Bindings. So an
/// owner begins above every fence that the first list shows. Only the first report counts: a fence
/// that appears later is a later owner's, and is meant to stop us.
void partition_role::hear(const fence_found& x) {
  if (epoch_.value == 0 || std::exchange(has_heard_fence_, true) || x.highest < epoch_)
    return;
  if (how_.shares_log) { // epochs come from the partition map, and from nowhere else
    out_.add(note{"partition.epoch_too_low",
                  {{"epoch", static_cast<std::int64_t>(epoch_.value)},
                   {"fence", static_cast<std::int64_t>(x.highest.value)}}});
    out_.tell(to(role_kind::keeper), new_epoch{how_.partition, {x.highest.value + 1}, 0});
    return;
  }
  out_.add(note{"partition.epoch_raised",
                {{"from", static_cast<std::int64_t>(epoch_.value)},
                 {"above", static_cast<std::int64_t>(x.highest.value)}}});
  epoch_ = {x.highest.value + 1};
  out_.add(append{life_record{epoch_, incarnation_}, append::durability::synced});
  tell_shards_epoch();
  for (const auto& [gang, mine] : gangs_)
    if (is_under_way(gang, mine))
      out_.tell(to_gang(gang), new_epoch{how_.partition, epoch_, low_water()});
}

std::uint64_t partition_role::low_water() const {
  return live_tries_.empty() ? next_try_ : *live_tries_.begin();
}

/// Upholds S8: nothing leaves before the new epoch is durable.
void partition_role::on(const started& x) {
  ensure(x.epoch.value > 0, how_.partition.value);
  epoch_ = x.epoch;
  incarnation_ = x.incarnation;
  quarantined_.insert(x.quarantined.begin(), x.quarantined.end());
  out_.add(append{life_record{x.epoch, x.incarnation}, append::durability::synced});
  tell_shards_epoch();
  out_.tell(to(role_kind::queue), new_epoch{how_.partition, epoch_, low_water()});
  out_.tell(to(role_kind::mirror), view_wanted{}); // a fence that was told to a former life
  for (const auto& d : x.open) {
    auto& mine = gangs_[d->by.gang];
    if (d->by.ordinal < mine.ordinal)
      continue;
    mine.ordinal = d->by.ordinal;
    mine.decided_by = d->by;
    mine.is_done = d->is_done || d->what == verdict::aborted;
    if (d->what == verdict::committed) // an aborted slot says nothing of who was bound before
      mine.bound = bound_by(*d);
    mine.name = d->gang_name;
    mine.is_lone_pod = d->is_lone_pod;
  }
  for (const auto& d : x.open) {
    const auto& mine = gangs_.at(d->by.gang);
    if (mine.is_done || mine.decided_by != d->by)
      continue;
    take_up(d);
  }
  if (!quarantined_.empty())
    out_.add(arm{rest_timer, base::limits::quarantine_rest});
  tell_kept();
}

void partition_role::take_up(const decision_ptr& what) {
  resumed_[what->by.gang] = what->by;
  if (quarantined_.contains(what->by.gang))
    resting_.push_back(what); // neither done nor undone, and whoever asks about it waits
  else if (how_.shares_log)
    adopt(what);
  else
    resume(what);
}

void partition_role::resume(const decision_ptr& what) {
  out_.add(host{to_gang(what->by.gang)});
  out_.tell(to_gang(what->by.gang), resume_decision{what, epoch_, how_.partition, low_water()});
}

/// Whatever killed their actors may be over. If it is not, the next death is enough: our next life
/// is told of them again.
void partition_role::on(const timer_fired& x) {
  if (x.timer != rest_timer) {
    gang_is_silent(x.timer.key);
    return;
  }
  quarantined_.clear();
  for (const auto& d : std::exchange(resting_, {}))
    take_up(d);
}

/// Gangs that were deleted while the queue could not see it are told apart by the queue. A gang
/// that was never decided has nothing in the store, but its entry here goes away with the others.
void partition_role::tell_kept() {
  gangs_kept kept;
  for (const auto& [gang, mine] : gangs_)
    kept.gangs.push_back(gang);
  if (!kept.gangs.empty())
    out_.tell(to(role_kind::queue), std::move(kept));
}

void partition_role::hear(const view_wanted&) {
  if (epoch_.value == 0)
    return; // it is said at the start
  // Where others own partitions too, a queue that is made anew does not know that this one is here.
  if (how_.shares_log)
    out_.tell(to(role_kind::queue), new_epoch{how_.partition, epoch_, low_water()});
  tell_kept();
}

void partition_role::on(const received& x) {
  std::visit([this](const auto& m) { this->hear(m); }, x.what);
}

void partition_role::hear(const try_gang& x) {
  ensure(x.who != nullptr);
  if (epoch_.value == 0)
    return; // not started: the queue asks again
  auto& mine = gangs_[x.who->uid];
  if (quarantined_.contains(x.who->uid)) {
    refuse_quarantined(x, mine);
    return;
  }
  mine.name = x.who->name;
  mine.is_lone_pod = x.who->is_lone_pod;
  if (is_under_way(x.who->uid, mine))
    return;                // its end is told once; the question may be older than a `gang_deleted`
  mine.is_deleted = false; // who is tried is there
  if (auto unseen = bound_unseen(mine, *x.who); !unseen.empty()) {
    refuse_late_facts(x, mine, std::move(unseen));
    return;
  }
  ensure(mine.is_done, x.who->uid.value, mine.ordinal);
  const base::attempt_id attempt{x.who->uid, mine.ordinal + 1, epoch_, next_try_++};
  mine.live = attempt;
  live_tries_.insert(attempt.try_no);
  out_.add(host{to_gang(x.who->uid)});
  out_.tell(to_gang(x.who->uid),
            begin_attempt{attempt, low_water(), how_.partition, x.who, x.tries});
}

/// Refused in words that people see, instead of taking the partition down once more (S14).
void partition_role::refuse_quarantined(const try_gang& x, const entry& mine) {
  attempt_over over{.attempt = {x.who->uid, mine.ordinal + 1, epoch_, next_try_++}};
  over.outcome = attempt_outcome::refused;
  over.why.primary = base::reason_code::scheduler_error;
  over.why.detail = "whoever coordinates this gang dies of it, so it rests for a minute or until "
                    "`tutti retry gang` frees it; report it with the output of `tutti trace`";
  over.bound = bound_in(*x.who);
  out_.add(note{"partition.quarantined_gang", {{"gang", to_text(x.who->name)}}});
  out_.tell(to(role_kind::queue), std::move(over));
}

/// Members that the last decision has bound, and that are shown as if they waited. No older
/// decision needs to be known: the last one was made by facts that showed what those before it had
/// bound.
std::vector<base::pod_uid> partition_role::bound_unseen(const entry& mine, const gang& shown) {
  std::vector<base::pod_uid> out;
  for (const auto& m : shown.members)
    if (m.node.value.empty()
        && std::binary_search(mine.bound.begin(), mine.bound.end(), base::hash_of(m.uid.value)))
      out.push_back(m.uid);
  return out;
}

/// Upholds P2 and S4: where a gang may go, and how many of it are missing, follows from where its
/// members are. A Binding is never undone, so these facts are older than it.
void partition_role::refuse_late_facts(const try_gang& x, const entry& mine,
                                       std::vector<base::pod_uid> unseen) {
  attempt_over over{.attempt = {x.who->uid, mine.ordinal + 1, epoch_, next_try_++},
                    .outcome = attempt_outcome::conflict};
  over.why.primary = base::reason_code::view_stale;
  over.why.detail = "pod " + unseen.front().value + " is bound and not yet seen on its node";
  over.bound = bound_in(*x.who) + static_cast<std::uint32_t>(unseen.size());
  over.members_bound = std::move(unseen);
  out_.add(note{"partition.late_facts", {{"gang", to_text(x.who->name)}}});
  out_.tell(to(role_kind::queue), std::move(over));
}

/// Passed on to the queue from here, so that the queue's next try finds the gang at rest.
void partition_role::hear(const attempt_over& x) {
  auto pos = gangs_.find(x.attempt.gang);
  if (pos == gangs_.end())
    return;
  auto& mine = pos->second;
  const bool is_resumed =
      resumed_.contains(x.attempt.gang) && resumed_.at(x.attempt.gang) == x.attempt;
  if (!is_resumed && x.attempt != mine.live)
    return; // told before
  const bool was_decided = x.outcome == attempt_outcome::bound
                           || x.outcome == attempt_outcome::withdrawn
                           || x.outcome == attempt_outcome::degraded;
  if (was_decided) {
    mine.ordinal = x.attempt.ordinal;
    mine.decided_by = x.attempt;
    mine.is_done = true;
    mine.bound.clear();
    if (!base::is_planted(base::mutant::forget_who_is_bound))
      for (const auto& pod : x.members_bound)
        mine.bound.push_back(base::hash_of(pod.value));
    std::sort(mine.bound.begin(), mine.bound.end());
  }
  if (is_resumed) {
    resumed_.erase(x.attempt.gang);
  } else {
    live_tries_.erase(mine.live.try_no);
    mine.live = {};
  }
  out_.tell(to(role_kind::queue), x);
  if (const auto winner = std::exchange(mine.overtaken_by, nullptr))
    stands_there(winner);
  if (closing_.contains(x.attempt.gang))
    go_on_closing(x.attempt.gang);
  forget_if_over(pos);
}

bool partition_role::is_under_way(const base::gang_uid& gang, const entry& mine) const {
  const auto shut = closing_.find(gang);
  return mine.live.try_no != 0 || resumed_.contains(gang)
         || (shut != closing_.end() && shut->second.is_deciding) || reading_.contains(gang);
}

void partition_role::hear(const gang_deleted& x) {
  if (const auto shut = closing_.find(x.gang);
      shut != closing_.end() && !shut->second.is_deciding) {
    reading_.try_emplace(x.gang, ++reads_);
    out_.tell(to(role_kind::decisions), slots_wanted{reads_});
  }
  const auto pos = gangs_.find(x.gang);
  if (pos == gangs_.end())
    return;
  pos->second.is_deleted = true;
  if (is_under_way(x.gang, pos->second))
    out_.tell(to_gang(x.gang), x); // it may be evicting others
  forget_if_over(pos);
}

/// Never while an attempt or an unfinished decision is there: it needs its record to the end.
/// Whoever asks about an attempt of a forgotten gang hears "aborted", which undoes nothing: what is
/// committed somewhere was done, and a shard that hears it of a commitment takes it for done.
void partition_role::forget_if_over(std::map<base::gang_uid, entry>::iterator pos) {
  const auto& [gang, mine] = *pos;
  if (!mine.is_deleted || !mine.is_done || is_under_way(gang, mine))
    return;
  if (mine.ordinal > 0)
    out_.add(forget{gang});
  gangs_.erase(pos);
}

void partition_role::hear(const inquiry& x) {
  if (how_.shares_log && x.attempt.epoch > epoch_)
    return; // a later owner's: the map will say so here, too
  auto pos = gangs_.find(x.attempt.gang);
  if (pos != gangs_.end()) {
    const auto& mine = pos->second;
    const bool is_live = x.attempt == mine.live;
    const bool is_resumed =
        resumed_.contains(x.attempt.gang) && resumed_.at(x.attempt.gang) == x.attempt;
    if ((is_live || is_resumed) && !base::is_planted(base::mutant::presume_abort_of_living))
      return; // undecided: wait; decided: COMMIT is resent
    if (mine.decided_by == x.attempt && mine.ordinal == x.attempt.ordinal) {
      out_.tell(to_shard(x.shard), inquiry_answer{x.attempt, true});
      return;
    }
  }
  if (must_close(x))
    close_for(x);
  else
    out_.tell(to_shard(x.shard), inquiry_answer{x.attempt, false});
}

/// The pod group actor died with an attempt in its hands. Whether it decided anything stands in the
/// log only, behind all that it still had in the store's queue: a new life reads it there.
void partition_role::on(const child_died& x) {
  const auto pos = gangs_.find(base::gang_uid{x.where.key});
  if (pos == gangs_.end() || !is_under_way(pos->first, pos->second))
    return; // it had said its last word
  out_.add(rebuild{to_text(x.where) + " died with an attempt in its hands"});
}

std::uint64_t partition_role::state_hash() const {
  auto h = base::hash_combine(epoch_.value, next_try_);
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const std::hash<base::attempt_id> hash_of_attempt;
  add(incarnation_.value * 2 + (has_heard_fence_ ? 1 : 0));
  add(gangs_.size());
  for (const auto& [gang, e] : gangs_) {
    add(base::hash_of(gang.value));
    add(e.ordinal * 4 + (e.is_done ? 1 : 0) + (e.is_deleted ? 2 : 0));
    add(hash_of_attempt(e.decided_by));
    add(hash_of_attempt(e.live));
    for (const auto pod : e.bound)
      add(pod);
    add(e.bound.size());
    add(e.overtaken_by ? hash_of_attempt(e.overtaken_by->by) : 0);
    add(e.name.name.empty() ? 0 : 1);
  }
  for (const auto& [gang, attempt] : resumed_)
    add(hash_of_attempt(attempt));
  for (const auto& [gang, what] : adopting_)
    add(base::hash_of(gang.value));
  for (const auto& [gang, shut] : closing_) {
    add(base::hash_of(gang.value));
    add(shut.ordinal * 2 + (shut.is_deciding ? 1 : 0));
    for (const auto& [attempt, shard] : shut.askers)
      add(base::hash_combine(shard.value, hash_of_attempt(attempt)));
  }
  for (const auto& [gang, list] : reading_)
    add(base::hash_combine(base::hash_of(gang.value), list));
  add(reads_);
  for (const auto live : live_tries_)
    add(live);
  for (const auto& gang : quarantined_)
    add(base::hash_of(gang.value));
  for (const auto& [gang, asked] : cancels_)
    add(base::hash_combine(base::hash_of(gang.value), asked.id));
  return h;
}

} // namespace tutti::protocol
