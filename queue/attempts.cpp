// How attempts are asked for and followed: the window, the partitions, and the one timer.
#include "queue/queue_role.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/mutant.hpp"
#include "protocol/sharding.hpp"
#include "queue/announce.hpp"

namespace tutti::queue {

using base::reason_code;

namespace {

/// Everything that has a time shares one timer, armed for the earliest.
constexpr protocol::timer_id due_timer{1, 0};

/// What an attempt waits for, where its reason alone does not say what to do about it.
constexpr const char* words_for(reason_code why) {
  switch (why) {
  case reason_code::shard_unavailable:
    return "the shards of its plan do not answer: if their replica is gone, another one takes "
           "them over";
  case reason_code::api_forbidden:
    return "the API server refuses the scheduler \"create pods/binding\": grant it; the Binding "
           "is asked for again";
  default:
    return "";
  }
}

} // namespace

// ---------------------------------------------------------------- the window

/// A pod or a group has come that was not there to be placed before. What comes when the pause is
/// over already does not prolong it: whoever waits is released in this very step.
void queue_role::heard_of_something_new() {
  if (!is_synced_ || how_.burst_pause == base::duration{})
    return;
  if (!burst_)
    burst_ = burst{now_ + how_.burst_pause, now_ + base::limits::burst_longest};
  else if (now_ < burst_->until)
    burst_->until = std::min(now_ + how_.burst_pause, burst_->latest);
}

/// Whoever is released in between could take the room of one who goes before it.
bool queue_role::is_in_burst() {
  if (burst_ && now_ >= burst_->until)
    burst_.reset();
  return burst_.has_value();
}

void queue_role::fill_window() {
  // The burst first: it ends by time, whatever else holds the gangs back.
  if (is_in_burst() || !is_started_ || !is_synced_)
    return;
  std::vector<gang_entry*> released;
  for (auto* g : pools_.in(pool::queued)) {
    if (in_flight() + released.size() >= how_.attempts_in_flight)
      break;
    released.push_back(g);
  }
  if (released.size() > 1) { // their questions take ways of different length to the topology
    protocol::plan_order order;
    for (const auto* g : released)
      order.gangs.push_back(g->uid());
    out_.tell(protocol::to(protocol::role_kind::topology), std::move(order));
  }
  for (auto* g : released)
    try_now(*g);
}

void queue_role::try_now(gang_entry& g) {
  ensure(judge(g, how_).what == gate_verdict::kind::open, to_text(g.name()));
  auto& life = *g.life;
  ensure(g.owed() == 0 && !life.attempt, to_text(g.name()));
  life.attempt = std::make_unique<attempt_now>();
  auto& attempt = *life.attempt;
  attempt.from = now_;
  attempt.conflicts = life.conflicts;
  offer(g, attempt);
  attempt.had_started = attempt.who->has_started;
  ++g.attempts;
  if (!g.is_lone_pod() && (g.is_degraded || repairs_.contains(g.group->name)))
    out_.add(protocol::note{
        "queue.repair",
        {{"gang", to_text(g.name())}, {"bound", static_cast<std::int64_t>(count(g).bound)}}});
  explain(life, reason_code::reserving);
  ask(attempt);
  pools_.move(g, pool::attempting, attempt.next_ask);
}

void queue_role::offer(gang_entry& g, attempt_now& attempt) {
  attempt.who = std::make_shared<const protocol::gang>(assemble(g));
}

/// Asks the partition, each time for the gang as it was at first: what an attempt was offered must
/// be known exactly when it ends, and the last look catches up. A resumed attempt needs no asking.
void queue_role::ask(attempt_now& attempt) {
  const auto patience = base::limits::resend_first * (1 << std::min(attempt.asked, 5u));
  ++attempt.asked;
  attempt.next_ask = now_
                     + (attempt.is_heard ? base::duration{silence_longest}
                                         : std::min<base::duration>(patience, silence_longest));
  if (!attempt.who)
    return;
  out_.add(protocol::note{attempt.asked == 1 ? "queue.tried" : "queue.asked_again",
                          {{"gang", to_text(attempt.who->name)},
                           {"members", static_cast<std::int64_t>(attempt.who->members.size())},
                           {"asked", static_cast<std::int64_t>(attempt.asked)},
                           {"conflicts", static_cast<std::int64_t>(attempt.conflicts)}}});
  out_.tell(protocol::to_partition(protocol::partition_of(attempt.who->uid)),
            protocol::try_gang{attempt.who, attempt.conflicts});
}

// ---------------------------------------------------------------- words about attempts

void queue_role::hear(const protocol::gang_progress& x) {
  if (over_.has(x.attempt))
    return;
  if (how_.has_others && !here_.contains(protocol::partition_of(x.attempt.gang)))
    return; // a last word of one that was ended
  auto* g = registry_.find_gang(x.attempt.gang);
  attempt_now* now = nullptr;
  if (!g) {
    auto& s = strays_[x.attempt.gang];
    s.name = x.name;
    if (!s.attempt.is_heard && !s.attempt.who)
      s.attempt.from = now_;
    now = &s.attempt;
  } else {
    auto& life = life_of(*g);
    if (!life.attempt) { // a decision that was resumed: not asked for by this queue
      pools_.leave(*g);
      life.attempt = std::make_unique<attempt_now>();
      life.attempt->from = now_;
      pools_.enter(*g, pool::attempting, now_);
    }
    now = life.attempt.get();
  }
  if (now->is_heard && x.attempt < now->id)
    return;
  now->id = x.attempt;
  now->is_heard = true;
  now->at = x.at;
  now->reason = x.reason;
  now->members = x.members;
  now->bound = x.bound;
  now->next_ask = now_ + silence_longest;
  if (!g)
    return;
  const auto reason = reason_of(*now);
  explain(*g->life, reason, words_for(reason));
  pools_.delay(*g, now->next_ask);
}

void queue_role::hear(const protocol::attempt_over& x) {
  if (over_.has(x.attempt))
    return;
  over_.add(x.attempt);
  auto* g = registry_.find_gang(x.attempt.gang);
  if (g && g->life && g->life->attempt) {
    finish(*g, x);
    return;
  }
  const auto pos = strays_.find(x.attempt.gang);
  if (pos == strays_.end())
    return;
  const auto gone = std::move(pos->second);
  strays_.erase(pos);
  if (auto* heir = registry_.find_group(gone.name)) { // waits until its namesake is out of the way
    settle_members(*heir, x);
    reconsider(*heir, true);
  }
}

/// The partition has begun a new life. What was decided it resumes and reports; everything else
/// that was under way there is over, and nobody is left to say so: whoever is meant is asked for
/// again at once. Upholds S13: the gang stays where it is meanwhile.
void queue_role::hear(const protocol::new_epoch& x) {
  if (x.epoch.value == 0) {
    lose_partition(x.partition);
    return;
  }
  if (how_.has_others && here_.insert(x.partition).second)
    take_partition(x.partition);
  std::vector<gang_entry*> mine;
  for (auto* g : pools_.in(pool::attempting)) {
    const auto& attempt = *g->life->attempt;
    const bool is_older = !attempt.is_heard || attempt.id.epoch < x.epoch;
    if (is_older && protocol::partition_of(g->uid()) == x.partition)
      mine.push_back(g);
  }
  for (auto* g : mine) {
    auto& attempt = *g->life->attempt;
    // Nobody is left to ask for, or not enough are; what is unfinished will be reported.
    if (judge(*g, how_).what != gate_verdict::kind::open || g->owed() > 0) {
      pools_.leave(*g);
      g->life->attempt.reset();
      reconsider(*g, true);
      continue;
    }
    if (base::is_planted(base::mutant::do_not_ask_again))
      continue;
    offer(*g, attempt); // as it is now: what was decided and done meanwhile is not reported again
    attempt.has_changed = false;
    attempt.asked = 0;
    attempt.next_ask = now_;
    pools_.delay(*g, attempt.next_ask);
  }
  std::erase_if(strays_, [&](const auto& s) {
    return protocol::partition_of(s.first) == x.partition && s.second.attempt.id.epoch < x.epoch;
  });
}

/// A resumed decision came before the facts of its gang, or the gang came back.
void queue_role::adopt_stray(gang_entry& g) {
  const auto pos = strays_.find(g.uid());
  if (pos == strays_.end())
    return;
  auto& life = life_of(g);
  ensure(!life.attempt, to_text(g.name()));
  pools_.leave(g);
  life.attempt = std::make_unique<attempt_now>(std::move(pos->second.attempt));
  strays_.erase(pos);
  explain(life, reason_of(*life.attempt));
  pools_.enter(g, pool::attempting, life.attempt->next_ask);
}

// ---------------------------------------------------------------- time

void queue_role::fire_due() {
  for (auto* g : pools_.due_at(now_)) {
    auto& life = *g->life;
    if (life.where == pool::attempting) {
      ask(*life.attempt);
      pools_.delay(*g, life.attempt->next_ask);
    } else if (life.where == pool::settling) {
      pools_.leave(*g);
      reconsider(*g, false);
    } else if (life.where == pool::gated) {
      announce_gated(*g, how_, out_);
      pools_.delay(*g, pools::never);
    } else { // rested, or flushed
      life.not_before = std::min(life.not_before, now_);
      make_ready(*g);
    }
  }
  for (auto& [uid, s] : strays_)
    if (s.attempt.next_ask <= now_)
      ask(s.attempt);
  fire_repairs();
}

void queue_role::rearm() {
  auto due = pools_.next_due();
  for (const auto& [uid, s] : strays_)
    due = due ? std::min(*due, s.attempt.next_ask) : s.attempt.next_ask;
  if (const auto repair = next_repair())
    due = due ? std::min(*due, *repair) : *repair;
  if (is_synced_) // until then nobody is evicted, and a timer for it would be due again at once
    for (const auto& [name, next] : evictions_)
      due = due ? std::min(*due, next) : next;
  if (burst_ && pools_.size(pool::queued) > 0)
    due = due ? std::min(*due, burst_->until) : burst_->until;
  if (due == armed_for_)
    return;
  if (due)
    out_.add(protocol::arm{due_timer, std::max(*due - now_, base::duration{})});
  else
    out_.add(protocol::disarm{due_timer});
  armed_for_ = due;
}

} // namespace tutti::queue
