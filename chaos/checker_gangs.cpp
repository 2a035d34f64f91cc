// The judge's eye on coordinators: what they do is compared with what is durable and what they were
// told.
#include "chaos/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::chaos {

/// What the last look has shown is the only thing that a decision may rest on.
void checker::follow_queue(const protocol::event& e, const protocol::effects& wanted) {
  if (const auto* r = std::get_if<protocol::received>(&e))
    if (std::holds_alternative<protocol::facts_synced>(r->what))
      facts_synced_ = on_.time().now();
  for (const auto& w : wanted.list())
    if (const auto* s = std::get_if<protocol::send>(&w))
      if (const auto* seen = std::get_if<protocol::last_look_answer>(&s->what))
        looked_[seen->attempt] = seen->now;
}

void checker::check_gang(const place& gang, const protocol::event& e,
                         const protocol::effects& wanted) {
  auto& word = gangs_[gang];
  if (const auto* r = std::get_if<protocol::received>(&e)) {
    if (const auto* x = std::get_if<protocol::begin_attempt>(&r->what)) {
      word = {x->attempt, {}, false, x->attempt.epoch};
      if (look("S8") && !begun_.insert(x->attempt).second)
        say("S8",
            fmt::format("try {} of epoch {} of gang {} begins a second time", x->attempt.try_no,
                        x->attempt.epoch.value, protocol::to_text(x->who->name)));
    } else if (const auto* again = std::get_if<protocol::resume_decision>(&r->what))
      word = {again->what->by, {}, false, std::max(again->what->by.epoch, again->what->adopted_by)};
    else if (const auto* a = std::get_if<protocol::ack>(&r->what); a && a->attempt == word.attempt)
      hear_ack(*a, word);
  }
  const auto known = decisions_.find(base::slot_of(word.attempt));
  if (!word.is_covered && known != decisions_.end() && known->second.first.by == word.attempt)
    word.is_covered = is_covered(known->second, word);
  check_rivals(e, wanted);
  for (const auto& w : wanted.list()) {
    if (const auto* d = std::get_if<protocol::decide>(&w)) {
      check_look(*d);
      continue;
    }
    const auto* s = std::get_if<protocol::send>(&w);
    if (s == nullptr)
      continue;
    if (const auto* b = std::get_if<protocol::bind>(&s->what); b != nullptr && look("R6")) {
      asked_.emplace(b->uid.value, b->resource_version);
      if (!word.is_covered)
        say("R6", fmt::format("pod {} is to be bound, and {} shards have acked",
                              protocol::to_text(b->pod), word.acked.size()));
    } else if (const auto* x = std::get_if<protocol::release>(&s->what)) {
      check_release(*x);
    } else if (const auto* over = std::get_if<protocol::abort_attempt>(&s->what)) {
      told_aborted_.insert(over->attempt);
    }
  }
}

/// Upholds R5: an ack is the disk's word. With several replicas it is that of a shard which its
/// next owner would not believe: decisions are what the next owner reads.
void checker::hear_ack(const protocol::ack& x, gang_word& of) {
  if (x.refused) {
    of.acked.erase(x.shard.value);
    return;
  }
  of.acked.insert(x.shard.value);
  if (!has_replicas() && look("R5") && !committed_.contains({x.attempt, x.shard.value}))
    say("R5", fmt::format("shard {} acks for gang {}, and its COMMITTED is not durable",
                          x.shard.value, x.attempt.gang.value));
}

/// Members that a later owner has given up count for one who cannot know: what it posts on its old
/// knowledge is refused by the fence (Q1), and that is judged where it is posted.
bool checker::is_covered(const known_decision& x, const gang_word& of) const {
  const auto& d = x.first;
  const bool is_of_later_owner = of.held_by < x.latest.adopted_by;
  auto reached = d.bound_already;
  reached.resize(d.groups.size());
  for (const auto& part : d.chosen.slices) {
    const bool is_acked = of.acked.contains(part.shard.value);
    if (part.seats.empty() && !is_acked)
      return false;
    for (const auto& s : part.seats) {
      const auto pod = truth_.pods().find(s.pod.value);
      if (pod != truth_.pods().end() && pod->second.node == s.node_name.value)
        return true; // it was covered in an earlier life
      if (is_acked && (is_of_later_owner || !is_cancelled(x, s.pod)))
        ++reached.at(s.group);
    }
  }
  for (std::size_t g = 0; g < reached.size(); ++g)
    if (reached[g] < d.groups[g].min_count)
      return false;
  return true;
}

/// Upholds L3. Only rounds of gangs that would fit count: others are refused for better reasons.
void checker::check_rivals(const protocol::event& e, const protocol::effects& wanted) {
  const auto* r = std::get_if<protocol::received>(&e);
  const auto* v = r != nullptr ? std::get_if<protocol::vote>(&r->what) : nullptr;
  if (v == nullptr || v->yes || v->holders.empty() || !look("L3"))
    return;
  const bool is_over = std::any_of(wanted.list().begin(), wanted.list().end(), [&](const auto& w) {
    const auto* s = std::get_if<protocol::send>(&w);
    const auto* over = s != nullptr ? std::get_if<protocol::attempt_over>(&s->what) : nullptr;
    return over != nullptr && over->attempt == v->attempt;
  });
  if (!is_over)
    return; // a late no of an attempt that is over already
  const auto& loser = v->attempt.gang.value;
  for (const auto& holder : v->holders) {
    if (holder.gang == v->attempt.gang || decisions_.contains(base::slot_of(holder)))
      continue;
    const auto rounds = rivals_.lost(loser, holder.gang.value);
    if (rivals_.is_endless(rounds) && fits_now(loser))
      say("L3", fmt::format("gangs {} and {} have refused each other {} times, and nobody was "
                            "decided meanwhile",
                            loser, holder.gang.value, rounds));
    return; // one round, whoever else holds some of the room
  }
}

/// Upholds S4: the minimum and the members are those of the last look.
void checker::check_look(const protocol::decide& wanted) {
  if (wanted.what.what != protocol::verdict::committed || !look("S4"))
    return;
  const auto name = protocol::to_text(wanted.what.gang_name);
  const auto seen = looked_.find(wanted.what.by);
  if (seen == looked_.end() || seen->second == nullptr) {
    say("S4", fmt::format("gang {} is decided without a last look", name));
    return;
  }
  const auto& gang = *seen->second;
  for (std::size_t g = 0; g < wanted.what.groups.size(); ++g)
    if (g >= gang.groups.size() || wanted.what.groups[g].min_count != gang.groups[g].min_count)
      say("S4", fmt::format("gang {} is decided for another minimum than the last look's", name));
  for (const auto& part : wanted.what.chosen.slices)
    for (const auto& s : part.seats) {
      const auto pos = std::find_if(gang.members.begin(), gang.members.end(),
                                    [&](const auto& m) { return m.uid == s.pod; });
      if (pos == gang.members.end() || !pos->node.value.empty())
        say("S4",
            fmt::format("pod {} of gang {} is decided, and was gone or bound at the last look",
                        s.pod_name, name));
    }
}

/// Upholds R7, the order of giving up: CANCEL durable, pod touched, room released.
void checker::check_release(const protocol::release& wanted) {
  if (!look("R7"))
    return;
  const auto slot = base::slot_of(wanted.attempt);
  const auto pos = decisions_.find(slot);
  for (const auto& pod : wanted.pods) {
    const auto there = truth_.pods().find(pod.value);
    const auto name = there == truth_.pods().end() ? pod.value : there->second.name;
    const bool is_durable = pos != decisions_.end() && is_cancelled(pos->second, pod);
    if (!is_durable)
      say("R7", fmt::format("pod {} is released before its CANCEL is durable", name));
    let_go_.emplace(slot, pod.value);
    if (there == truth_.pods().end() || !there->second.is_live() || !there->second.node.empty())
      continue;
    const auto before = touch_at_cancel_.find(pod.value);
    if (before == touch_at_cancel_.end() || before->second == there->second.touch)
      say("R7", fmt::format("pod {} is released and was not touched", name));
  }
}

/// Upholds R7: whose room was given back is bound by a later plan or not at all.
void checker::check_bound_by(const pod_truth& newly_bound) {
  if (!look("R7"))
    return;
  bool is_given_up = false;
  for (const auto& [slot, d] : decisions_) {
    if (d.first.what != protocol::verdict::committed)
      continue;
    for (const auto& part : d.first.chosen.slices)
      for (const auto& s : part.seats) {
        if (s.pod.value != newly_bound.uid || s.node_name.value != newly_bound.node)
          continue;
        if (!let_go_.contains({slot, newly_bound.uid}))
          return;
        is_given_up = true;
      }
  }
  if (is_given_up)
    say("R7", fmt::format("pod {} is bound to {} by a plan that has released it", newly_bound.name,
                          newly_bound.node));
}

} // namespace tutti::chaos
