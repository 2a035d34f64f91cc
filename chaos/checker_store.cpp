// The judge's eye on what is durable: decisions, as they are written.
#include "chaos/checker.hpp"

#include <algorithm>
#include <limits>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "bridge/partition_map.hpp"
#include "protocol/decision_rules.hpp"

namespace tutti::chaos {

namespace {

using protocol::is_finished;

} // namespace

/// The decision log as API objects.
void checker::follow_decision_objects() {
  objects_.follow(on_.api().plane().objects(), [this](protocol::decision x, bool is_gone) {
    if (!is_gone)
      return take_decision(std::move(x));
    // The write that finishes a decision of a gang that is gone lets its object go with it.
    if (is_finished(x))
      take_decision(x);
    object_is_gone(x);
  });
}

/// Upholds S2: a slot is written once for as long as its gang is there, and its object stays as
/// long. An owner that is late, or has not heard of it, may write about a gang that is gone: that
/// begins a slot of its own (rule 8).
void checker::object_is_gone(const protocol::decision& last) {
  if (!look("S2"))
    return;
  const auto what = name_of(last);
  if (!is_finished(last))
    say("S2", what + " is gone, and was not finished");
  else if (truth_.has_root(last.by.gang.value))
    say("S2", what + " is gone, and its gang is not");
  for (auto& [slot, d] : decisions_)
    if (slot.gang == last.by.gang)
      d.is_over = true;
}

/// Upholds S8 of owners: in the partition map an epoch never falls, and each owner has one of its
/// own.
void checker::follow_maps() {
  using sim::api_server::kind_id;
  const auto& objects = on_.api().plane().objects();
  for (; maps_seen_ < objects.end_event(kind_id::partition_maps); ++maps_seen_) {
    const auto& e = objects.event_at(kind_id::partition_maps, maps_seen_);
    const auto body = boost::json::parse(e.now->body).as_object();
    const auto* spec = body.if_contains("spec");
    if (e.what == sim::api_server::change::deleted || spec == nullptr || !look("S8")) {
      owners_.clear(); // epochs begin anew, and fences on pods see to the rest
      continue;
    }
    const auto like = bridge::empty_map(on_.how().scheduler.shards, base::limits::partitions);
    const auto map = bridge::read_spec(spec->as_object(), like);
    ensure(map.has_value(), e.now->key);
    for (const auto& unit : map->units()) {
      const auto& now = map->at(unit);
      auto& was = owners_[unit];
      const bool is_taken = now.replica != was.replica && !now.replica.empty();
      if (now.epoch < was.epoch || (is_taken && !(was.epoch < now.epoch)))
        say("S8",
            fmt::format("{} is {}'s under epoch {} after {}'s under {}", protocol::to_text(unit),
                        now.replica, now.epoch.value, was.replica, was.epoch.value));
      was = now;
    }
  }
}

void checker::take_decision(protocol::decision now) {
  const auto slot = base::slot_of(now.by);
  auto pos = decisions_.find(slot);
  if (pos != decisions_.end() && pos->second.is_over) {
    decisions_.erase(pos);
    pos = decisions_.end();
    room_.let_go(slot);
    std::erase_if(let_go_, [&](const auto& x) { return x.first == slot; });
  }
  keep_sums(slot, now, pos == decisions_.end());
  if (pos == decisions_.end()) {
    check_new(slot, now);
    const bool is_committed = now.what == protocol::verdict::committed;
    if (is_committed) {
      started_.insert(slot.gang.value);
      rivals_.decided();
    }
    for (const auto& part : now.chosen.slices) {
      for (const auto& s : part.seats)
        decided_[{s.pod.value, s.node_name.value}] = part.shard.value;
      for (const auto& v : part.victims)
        victims_.insert(v.pod.value);
    }
    decisions_.emplace(slot, known_decision{now, now});
    return;
  }
  check_change(pos->second, now);
  for (const auto& pod : now.cancelled)
    if (const auto there = truth_.pods().find(pod.value); there != truth_.pods().end())
      touch_at_cancel_.emplace(pod.value, there->second.touch);
  const bool ends = now.is_done && !pos->second.latest.is_done;
  pos->second.latest = std::move(now);
  if (ends)
    check_done(pos->second);
}

/// What a live plan promises counts until its member is cancelled, or it is done.
void checker::keep_sums(const base::slot_id& slot, const protocol::decision& now, bool is_new) {
  if (now.is_done) {
    room_.let_go(slot);
    return;
  }
  if (is_new)
    for (const auto& part : now.chosen.slices)
      for (const auto& s : part.seats)
        room_.hold(slot, s);
  for (const auto& pod : now.cancelled)
    room_.let_go(slot, pod);
}

/// Upholds S1a, S4, S6, S7: at the moment at which they could be broken.
void checker::check_new(const base::slot_id& slot, const protocol::decision& x) {
  if (look("S7"))
    for (const auto& [other, d] : decisions_)
      if (other.gang == slot.gang && !d.is_lost && !d.is_over && other.ordinal < slot.ordinal
          && !is_finished(d.latest))
        say("S7", fmt::format("{} is written while {} is not done", name_of(x), name_of(d.first)));
  if (x.what != protocol::verdict::committed)
    return;
  if (look("S2") && told_aborted_.contains(x.by) && truth_.has_root(x.by.gang.value))
    say("S2", name_of(x) + " is written, and its attempt was called aborted");
  check_minimum(x);
  check_victims(x);
  check_room(x);
  if (!look("S6"))
    return;
  for (const auto& part : x.chosen.slices)
    for (const auto& s : part.seats)
      for (const auto& [other, d] : decisions_)
        if (d.is_live() && !is_cancelled(d, s.pod))
          for (const auto& theirs : d.first.chosen.slices)
            for (const auto& t : theirs.seats)
              if (t.pod == s.pod)
                say("S6", fmt::format("pod {} is in {} and in {}", s.pod_name, name_of(x),
                                      name_of(d.first)));
}

void checker::check_minimum(const protocol::decision& x) {
  if (!look("S4"))
    return;
  for (std::uint32_t g = 0; g < x.groups.size(); ++g) {
    std::size_t planned = g < x.bound_already.size() ? x.bound_already[g] : 0;
    for (const auto& part : x.chosen.slices)
      planned += static_cast<std::size_t>(std::count_if(
          part.seats.begin(), part.seats.end(), [g](const auto& s) { return s.group == g; }));
    if (planned < x.groups[g].min_count)
      say("S4", fmt::format("gang {} has {} members planned or bound, its minimum is {}",
                            protocol::to_text(x.gang_name), planned, x.groups[g].min_count));
  }
}

/// Of its group while that is there; lower than any if it is leaving anyway.
std::int32_t checker::priority_of(const pod_truth& pod) const {
  if (pod.is_deleting)
    return std::numeric_limits<std::int32_t>::min();
  const auto group = truth_.groups().find(pod.group);
  return group == truth_.groups().end() ? pod.priority : group->second.priority;
}

/// Upholds S9: who goes is of lower priority, and goes for one plan.
void checker::check_victims(const protocol::decision& x) {
  for (const auto& part : x.chosen.slices)
    for (const auto& v : part.victims) {
      const auto name = protocol::to_text(v.pod_name);
      if (look("S9") && v.priority >= x.priority)
        say("S9", fmt::format("pod {} of priority {} is to go for gang {} of priority {}", name,
                              v.priority, protocol::to_text(x.gang_name), x.priority));
      // Groups come and go, and a view may be behind: whoever has always been too high is no
      // victim.
      const auto there = truth_.pods().find(v.pod.value);
      if (look("S9") && there != truth_.pods().end()
          && std::min(there->second.priority, priority_of(there->second)) >= x.priority)
        say("S9", fmt::format("pod {} is to go for gang {} of priority {}, and its own is {}", name,
                              protocol::to_text(x.gang_name), x.priority, there->second.priority));
      for (const auto& [slot, d] : decisions_)
        if (d.is_live())
          for (const auto& theirs : d.first.chosen.slices)
            for (const auto& other : theirs.victims)
              if (other.pod == v.pod && slot != base::slot_of(x.by))
                say("S9", fmt::format("pod {} is to go for gang {} and for {}", name,
                                      protocol::to_text(x.gang_name), name_of(d.first)));
    }
}

/// What is kept of a done decision does not name its members: who was asked to be cancelled then
/// counts as cancelled.
bool checker::is_cancelled(const known_decision& x, const base::pod_uid& pod) const {
  const auto& c = x.latest.cancelled;
  if (std::find(c.begin(), c.end(), pod) != c.end())
    return true;
  const auto asked = cancels_.find(base::slot_of(x.first.by));
  return x.latest.is_done && asked != cancels_.end() && asked->second.contains(pod);
}

/// A member for whom nobody has to do anything more: gone, finished, bound or cancelled.
bool checker::is_settled(const known_decision& x, const base::pod_uid& pod) const {
  const auto there = truth_.pods().find(pod.value);
  return there == truth_.pods().end() || !there->second.node.empty() || !there->second.is_live()
         || is_cancelled(x, pod);
}

/// Upholds S5, at the moment at which nobody answers for the plan any more.
void checker::check_done(const known_decision& x) {
  if (!look("S5"))
    return;
  for (const auto& part : x.first.chosen.slices)
    for (const auto& s : part.seats)
      if (!is_settled(x, s.pod))
        say("S5", fmt::format("{} is done, and pod {} is neither bound nor cancelled",
                              name_of(x.first), s.pod_name));
}

/// Upholds S2: of a decision only `cancelled`, `adopted_by` and `is_done` grow; a done one keeps no
/// plan.
void checker::check_change(const known_decision& before, const protocol::decision& now) {
  if (!look("S2"))
    return;
  const auto& was = before.latest;
  const auto what = name_of(before.first);
  if (now.by != was.by || now.what != was.what)
    say("S2", what + " has another winner than before");
  else if (was.is_done && !now.is_done)
    say("S2", what + " was done and is open again");
  else if (!now.is_done && !(now.chosen == was.chosen))
    say("S2", what + " has another plan than before");
  else if (!now.is_done
           && !std::all_of(was.cancelled.begin(), was.cancelled.end(), [&](const auto& pod) {
                return std::find(now.cancelled.begin(), now.cancelled.end(), pod)
                       != now.cancelled.end();
              }))
    say("S2", what + " has lost a cancelled member");
}

} // namespace tutti::chaos
