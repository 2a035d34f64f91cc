// The judge's sums of what decided plans promise (S1a).
//
// One process, or one owner of all shards: whatever is decided must fit, all of it together. Where
// shards change owners that is too much to ask. A former owner's yes may become a decision after
// its successor has listed the decisions that were there, and has promised the same room; then the
// two collide until one is withdrawn (P11). So there the sum is that of *the present owner's word*:
// what it listed when it began, what it has promised since and what it has acked, with everything
// that is bound. It has said yes, or acks, only while all of that fits.
//
// Left out, and nothing else:
//   * decisions by the yes of a former owner that the present one has neither listed nor acked
//   (P11);
//   * on a node that changed its rack label, the promises of the shard that had it before: another
//     replica's mirror gives it to its new shard at once (docs/internals/gaps.md);
//   * where the present owner has begun after the yes: it votes anew, or acks.
#include "chaos/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::chaos {

/// A pod that is gone, finished or on another node takes no room here, whoever plans with it.
bool checker::may_come(const std::string& pod, const std::string& node) const {
  const auto pos = truth_.pods().find(pod);
  return pos != truth_.pods().end() && !pos->second.is_finished
         && (pos->second.node.empty() || pos->second.node == node);
}

/// What victims of live plans, and of `besides`, take, by the node that they are on: their room is
/// promised to others already.
std::map<std::string, base::resources>
checker::victims_by_node(const protocol::decision* besides) const {
  std::set<std::string> victims;
  if (besides != nullptr)
    for (const auto& part : besides->chosen.slices)
      for (const auto& v : part.victims)
        victims.insert(v.pod.value);
  for (const auto& [slot, d] : decisions_)
    if (d.is_live())
      for (const auto& part : d.first.chosen.slices)
        for (const auto& v : part.victims)
          victims.insert(v.pod.value);
  std::map<std::string, base::resources> out;
  for (const auto& uid : victims)
    if (const auto pod = truth_.pods().find(uid);
        pod != truth_.pods().end() && !pod->second.is_finished)
      out[pod->second.node] += pod->second.takes.amounts;
  return out;
}

/// Upholds S1a, when a decision is written. The sums have it already, the decisions have not.
void checker::check_room(const protocol::decision& x) {
  if (!look("S1a"))
    return;
  if (!has_replicas())
    return check_room_of_all(x);
  for (const auto& part : x.chosen.slices) {
    const auto owner = last_begun_.find(part.shard.value);
    if (owner == last_begun_.end())
      continue;
    const auto word = shards_.find({owner->second, part.shard.value});
    if (word != shards_.end() && word->second.promised.contains(x.by))
      check_room_of_shard(x, part, word->second);
  }
}

/// Bound pods and the seats of all live plans, each pod once, against what the node offers. Pods
/// that others put there while a view may still lag behind are not ours to answer for.
void checker::check_room_of_all(const protocol::decision& x) {
  const auto now = on_.time().now();
  std::set<std::string> nodes;
  for (const auto& part : x.chosen.slices)
    for (const auto& s : part.seats)
      nodes.insert(s.node_name.value);
  auto victims = victims_by_node(&x);
  for (const auto& node : nodes) {
    const auto there = truth_.nodes().find(node);
    if (there == truth_.nodes().end())
      continue; // it has gone since: the attempt finds out
    const auto sum = room_.here(node) - room_.brought(node, now - view_lag)
                     + room_.promised(there->second.uid) - victims[node];
    if (const auto lacks = base::first_shortage(sum, truth_.offered_lately(node, now));
        !lacks.fits())
      say("S1a",
          fmt::format("with gang {} node {} is promised {} {} of {}",
                      protocol::to_text(x.gang_name), node, lacks.name, lacks.need, lacks.room));
  }
}

/// A pod that a plan of another shard has bound there: the node was that shard's.
bool checker::is_bound_by_another_shard(const std::string& pod, const std::string& node,
                                        base::shard_id shard) const {
  const auto by = decided_.find({pod, node});
  return by != decided_.end() && by->second != shard.value;
}

/// The nodes on which `part` still has somebody to bind, by what `of` knows. What fits with
/// everybody's promises fits without some of them.
void checker::check_room_of_shard(const protocol::decision& x, const protocol::slice& part,
                                  const shard_word& of) {
  const auto now = on_.time().now();
  const auto decided = decisions_.find(base::slot_of(x.by));
  std::set<std::string> nodes;
  for (const auto& s : part.seats)
    if (const auto pod = truth_.pods().find(s.pod.value);
        pod != truth_.pods().end() && pod->second.node.empty() && !pod->second.is_finished
        && (decided == decisions_.end() || !is_cancelled(decided->second, s.pod)))
      nodes.insert(s.node_name.value);
  for (const auto& node : nodes) {
    const auto there = truth_.nodes().find(node);
    if (there == truth_.nodes().end())
      continue;
    const auto offered = truth_.offered_lately(node, now);
    const auto here = room_.here(node) - room_.brought(node, now - view_lag);
    if (base::fits(here + room_.promised(there->second.uid), offered))
      continue;
    std::map<std::string, base::resources> takes;
    for (const auto& uid : room_.pods_on(node)) {
      const auto& pod = truth_.pods().at(uid);
      if (!(pod.came_bound && pod.bound_since + view_lag > now)
          && !is_bound_by_another_shard(uid, node, part.shard))
        takes[uid] = pod.takes.amounts;
    }
    const auto add = [&](const protocol::slice& theirs, const known_decision* from) {
      for (const auto& s : theirs.seats)
        if (theirs.shard == part.shard && s.node.value == there->second.uid
            && may_come(s.pod.value, node) && (from == nullptr || !is_cancelled(*from, s.pod)))
          takes[s.pod.value] = s.takes.amounts;
    };
    for (const auto& [slot, d] : decisions_)
      if (d.is_live() && of.known.contains(d.first.by))
        for (const auto& theirs : d.first.chosen.slices)
          add(theirs, &d);
    if (decided == decisions_.end())
      add(part, nullptr);
    base::resources sum;
    for (const auto& [uid, amount] : takes)
      sum += amount;
    sum -= victims_by_node(&x)[node];
    if (const auto lacks = base::first_shortage(sum, offered); !lacks.fits())
      say("S1a", fmt::format("with gang {} node {} is promised {} {} of {} by shard {} of its "
                             "present owner",
                             protocol::to_text(x.gang_name), node, lacks.name, lacks.need,
                             lacks.room, part.shard.value));
  }
}

/// Upholds S1a where shards change owners: an ack says that the room is there now, beside
/// everything else that this owner knows. A shard that hears nothing new may not know of pods that
/// others have brought.
void checker::check_ack(const std::string& who, const protocol::ack& said) {
  auto& word = shards_[{who, said.shard.value}];
  if (said.refused)
    return;
  word.known.insert(said.attempt);
  const auto decided = decisions_.find(base::slot_of(said.attempt));
  const auto owner = last_begun_.find(said.shard.value);
  if (!has_replicas() || !word.is_fresh || decided == decisions_.end() || !decided->second.is_live()
      || decided->second.first.by != said.attempt || owner == last_begun_.end()
      || owner->second != who || !look("S1a"))
    return;
  for (const auto& part : decided->second.first.chosen.slices)
    if (part.shard == said.shard)
      check_room_of_shard(decided->second.first, part, word);
}

} // namespace tutti::chaos
