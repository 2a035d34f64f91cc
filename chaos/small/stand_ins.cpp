// Who stands in for the rest of the scheduler: queue, planner and mirror, as plain as can be.
#include <algorithm>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "chaos/small/world.hpp"
#include "protocol/sharding.hpp"

namespace tutti::chaos::small {

using protocol::address;
using protocol::role_kind;

namespace {

constexpr std::uint32_t backoff_timer = 1; ///< kinds; the key is the gang
constexpr std::uint32_t silence_timer = 2;
/// As in queue/gang_state.hpp; after all that a coordinator waits for itself.
constexpr base::duration silence_longest = 2 * base::limits::resend_longest;
constexpr std::int64_t grace_of_victim_ms = 1000;

} // namespace

// ---------------------------------------------------------------- queue

/// The queue of the small world sees the API server as it is: that it may lag behind is covered by
/// Bindings whose version is stale.
protocol::gang_ptr world::facts(std::size_t gang) const {
  const auto& uid = the_gang(gang);
  auto out = std::make_shared<protocol::gang>();
  out->uid = uid;
  out->name = {"ns", gang == 0 ? "g" : "h"};
  out->priority = 1; // above the victim
  out->groups = {{out->name.name, uid.value, pods, ""}};
  for (auto n = first_of(gang); n < first_of(gang) + pods; ++n) {
    const auto& x = api_.all()[n];
    if (!x.is_gone)
      out->members.push_back({.uid = {api_truth::uid_of(n)},
                              .name = api_truth::name_of(n),
                              .kind = the_scene().shape,
                              .node = {x.node},
                              .resource_version = std::to_string(x.version)});
  }
  return out;
}

/// All are there, someone waits, and no rival is bound where they are to go.
bool world::is_wanted(std::size_t gang) const {
  std::size_t waiting = 0;
  std::size_t taken = 0;
  for (std::size_t n = 0; n < pods * how_.gangs; ++n) {
    const auto& x = api_.all()[n];
    if (gang_of(n) != gang) {
      taken += !x.is_gone && !x.node.empty() ? 1 : 0;
      continue;
    }
    if (x.is_gone)
      return false;
    waiting += x.node.empty() ? 1 : 0;
  }
  return waiting > 0 && taken == 0;
}

void world::try_gang(std::uint8_t process, std::size_t gang) {
  auto& mine = queues_.at(process);
  rest(process, gang);
  mine.is_trying.at(gang) = is_open_ && mine.has_partition && is_wanted(gang);
  if (!mine.is_trying[gang])
    return;
  ++tries_;
  ask_partition(process, gang);
}

/// Whoever is neither tried nor waits for its time.
void world::try_all(std::uint8_t process) {
  const place me{protocol::to(role_kind::queue), process};
  for (std::size_t g = 0; g < how_.gangs; ++g) {
    const bool is_waiting = std::any_of(timers_.begin(), timers_.end(), [&](const auto& t) {
      return t.of == me && t.id == protocol::timer_id{backoff_timer, g};
    });
    if (!queues_.at(process).is_trying[g] && !is_waiting)
      try_gang(process, g);
  }
}

void world::rest(std::uint8_t process, std::size_t gang) {
  const place me{protocol::to(role_kind::queue), process};
  for (const auto each : {backoff_timer, silence_timer}) {
    protocol::disarm stop{{each, gang}};
    act({}, me, stop);
  }
}

/// It has lost the partition, or died.
void world::end_queue(std::uint8_t process, std::uint32_t lost) {
  queues_.at(process) = {};
  queues_.at(process).failed.fill(how_.lost_before + lost);
  for (std::size_t g = 0; g < how_.gangs; ++g)
    rest(process, g);
}

/// Beside others a partition may have heard nothing, or close a slot just now: asked again, and
/// whoever is under way there is not disturbed by it.
void world::ask_partition(std::uint8_t process, std::size_t gang) {
  const place me{protocol::to(role_kind::queue), process};
  tell(me, protocol::to_partition(the_scene().partition),
       protocol::try_gang{facts(gang), queues_.at(process).failed.at(gang)});
  protocol::arm again{{silence_timer, gang}, silence_longest};
  if (has_objects())
    act({}, me, again);
}

void world::queue_timer_fired(std::uint8_t process, const protocol::timer_id& which) {
  if (which.kind == silence_timer)
    ask_partition(process, which.key);
  else
    try_gang(process, which.key);
}

/// The first times at once: what is said takes longer than a back-off. From then on after one: that
/// every back-off is shorter than what is under way would be a world that never comes to rest.
void world::try_again(std::uint8_t process, std::size_t gang) {
  auto& mine = queues_.at(process);
  mine.is_trying.at(gang) = false;
  rest(process, gang);
  if (mine.failed.at(gang) <= how_.lost_before + how_.retries_at_once) {
    try_gang(process, gang);
  } else if (mine.has_partition && is_wanted(gang)) {
    protocol::arm wait{{backoff_timer, gang}, base::limits::backoff_first};
    act({}, {protocol::to(role_kind::queue), process}, wait);
  }
}

void world::queue_hears(std::uint8_t process, const protocol::message& m) {
  auto& mine = queues_.at(process);
  if (std::holds_alternative<protocol::new_epoch>(m)) {
    mine.has_partition = true;
    for (std::size_t g = 0; g < how_.gangs; ++g)
      try_gang(process, g);
  } else if (const auto* over = std::get_if<protocol::attempt_over>(&m)) {
    const auto gang = gang_number(over->attempt.gang);
    mine.failed.at(gang) += over->outcome == protocol::attempt_outcome::conflict ? 1 : 0;
    try_again(process, gang);
  } else if (const auto* look = std::get_if<protocol::last_look>(&m)) {
    // A partition that is to close a slot asks, too: no attempt has the number 0.
    const bool is_of_partition = look->attempt.try_no == 0;
    tell({protocol::to(role_kind::queue), process},
         is_of_partition ? protocol::to_partition(the_scene().partition)
                         : protocol::to_gang(look->attempt.gang),
         protocol::last_look_answer{look->attempt, facts(gang_number(look->attempt.gang))});
  }
}

// ---------------------------------------------------------------- planner and preemption

/// One placement per attempt: every other one puts each pod on the node that was the other's, so
/// that a promise to an older attempt is in the way of a younger one. What rivals have is not
/// looked at: a view may lag behind.
protocol::plan_ptr world::placement(const protocol::gang& who,
                                    const base::attempt_id& attempt) const {
  std::array<std::string, shards> taken; // by whom, per node
  for (const auto& m : who.members)
    if (!m.node.value.empty())
      taken.at(node_number(m.node.value)) = m.name;
  protocol::plan out;
  const auto shift = (attempt.epoch.value + attempt.try_no) % 2;
  for (std::size_t n = 0; n < who.members.size(); ++n) {
    const auto& m = who.members[n];
    if (!m.node.value.empty())
      continue;
    auto at = (n + shift) % shards;
    if (!taken[at].empty())
      at = 1 - at;
    taken[at] = m.name;
    const auto& node = *the_scene().nodes[at];
    protocol::slice part;
    part.shard = {static_cast<std::uint32_t>(at)};
    part.seats.push_back({.pod = m.uid,
                          .pod_name = m.name,
                          .node = node.uid,
                          .node_name = node.name,
                          .takes = m.kind->takes});
    part.quotes.push_back({node.uid, node.facts_hash});
    if (at == node_of_victim && !api_.all()[the_victim].is_gone)
      part.victims.push_back({.pod = {api_truth::uid_of(the_victim)},
                              .pod_name = {"ns", api_truth::name_of(the_victim)},
                              .node = node.uid,
                              .grace_ms = grace_of_victim_ms});
    out.slices.push_back(std::move(part));
  }
  std::sort(out.slices.begin(), out.slices.end(),
            [](const auto& a, const auto& b) { return a.shard < b.shard; });
  return out.slices.empty() ? nullptr : std::make_shared<const protocol::plan>(std::move(out));
}

/// A plan with victims is not the planner's to make: it says that there is no room.
void world::plan_for(std::uint8_t process, const protocol::plan_request& x) {
  protocol::plan_answer answer{.attempt = x.attempt};
  auto found = placement(*x.who, x.attempt);
  const bool needs_victim = found
                            && std::any_of(found->slices.begin(), found->slices.end(),
                                           [](const auto& part) { return !part.victims.empty(); });
  if (!found)
    answer.why_not.primary = base::reason_code::waiting_for_members;
  else if (needs_victim)
    answer.why_not.primary = base::reason_code::insufficient_resources;
  else
    answer.placement = std::move(found);
  tell({protocol::to(role_kind::topology), process}, protocol::to_gang(x.attempt.gang),
       std::move(answer));
}

/// Always allowed: whoever is in the way now.
void world::find_victims(std::uint8_t process, const protocol::victims_wanted& x) {
  tell({protocol::to(role_kind::preemption), process}, protocol::to_gang(x.attempt.gang),
       protocol::victims_answer{.attempt = x.attempt, .placement = placement(*x.who, x.attempt)});
}

// ---------------------------------------------------------------- mirror

/// Whoever takes a shard over wants a list that begins after the question. Who does not ask for it
/// gets what the mirror has, whose watch may lag behind: no member bound, and behind it what has
/// changed since.
void world::put_list(const place& shard, const protocol::view_wanted& x) {
  const auto mirror = protocol::to(role_kind::mirror);
  item list{.what = item::kind::list, .from = {mirror, shard.in}, .to = shard};
  if (has_objects() && !x.after_a_list)
    list.as_of = std::make_shared<const api_truth>(
        how_.gangs, how_.has_victim ? the_scene().nodes[node_of_victim]->name.value : "");
  const auto before = list.as_of;
  put(std::move(list));
  for (std::size_t n = 0; n < pods_most && before; ++n)
    if (before->all()[n] != api_.all()[n])
      tell_watchers(n);
}

/// The whole list in one step, as the API server stands then; what changes later is told behind it.
void world::give_list(const item& list) {
  const auto& shard = list.to;
  const auto mirror = protocol::to(role_kind::mirror);
  const auto& node = the_scene().nodes.at(shard.index);
  const auto& all = list.as_of ? list.as_of->all() : api_.all();
  const auto hear = [&](protocol::message m) {
    if (roles_.contains(shard))
      give(shard, protocol::received{mirror, std::move(m)});
  };
  hear(protocol::view_trust{.fresh = false, .is_anew = true});
  hear(protocol::node_seen{node});
  for (std::size_t n = 0; n < pods_most; ++n)
    if (!all[n].is_gone && all[n].node == node->name.value)
      hear(protocol::pod_arrived{node->uid, {api_truth::uid_of(n)}, the_scene().shape->takes});
  hear(protocol::view_trust{.fresh = true});
}

/// Behind all that was told before.
void world::tell_left(std::uint8_t process, const protocol::pods_awaited& x) {
  for (const auto& asked : x.pods)
    for (std::size_t n = 0; n < pods_most; ++n) {
      const auto& pod = api_.all()[n];
      const bool is_elsewhere =
          !pod.node.empty() && the_scene().nodes.at(node_number(pod.node))->uid != asked.node;
      if (asked.pod.value == api_truth::uid_of(n) && (pod.is_gone || is_elsewhere))
        tell({protocol::to(role_kind::mirror), process}, protocol::to_shard(x.shard), asked);
    }
}

/// Every process's mirror tells its own shard.
void world::tell_watchers(std::size_t pod) {
  const auto& x = api_.all().at(pod);
  if (x.node.empty())
    return; // no shard watches a pod that waits
  const auto at = node_number(x.node);
  const auto& node = the_scene().nodes.at(at)->uid;
  const base::pod_uid uid{api_truth::uid_of(pod)};
  for (std::uint8_t p = 0; p < processes; ++p) {
    const place mirror{protocol::to(role_kind::mirror), p};
    const auto shard = protocol::to_shard({at});
    if (!roles_.contains({shard, p}) || views_.at(p).at(at) != p)
      continue;
    if (x.is_gone)
      tell(mirror, shard, protocol::pod_left{node, uid});
    else
      tell(mirror, shard, protocol::pod_arrived{node, uid, the_scene().shape->takes});
  }
}

} // namespace tutti::chaos::small
