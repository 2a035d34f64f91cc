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

const protocol::timer_id backoff_timer{1, 0};
const protocol::timer_id silence_timer{2, 0};
/// As in queue/gang_state.hpp; after all that a coordinator waits for itself.
constexpr base::duration silence_longest = 2 * base::limits::resend_longest;

base::footprint all_of_a_node() {
  base::footprint out;
  out.amounts.cpu_milli = 1000;
  out.amounts.pods = 1;
  return out;
}

/// The first rack name whose hash falls on the shard.
std::string rack_of(std::uint32_t shard) {
  protocol::node_facts f;
  for (int n = 0;; ++n) {
    f.domains = {"rack-" + std::to_string(n)};
    if (protocol::shard_of(f, shards).value == shard)
      return f.domains.front();
  }
}

scene make_scene() {
  scene out;
  out.partition = protocol::partition_of(out.gang);
  out.shape = std::make_shared<base::shape>(base::shape{{1}, "shape", all_of_a_node()});
  for (std::uint32_t n = 0; n < shards; ++n) {
    protocol::node_facts f;
    f.name = {"n" + std::to_string(n)};
    f.uid = {f.name.value + "-uid"};
    f.kind = std::make_shared<base::node_class>(base::node_class{{1}, "class"});
    f.allocatable = all_of_a_node().amounts;
    f.domains = {rack_of(n)};
    f.facts_hash = 1 + n;
    out.nodes[n] = std::make_shared<const protocol::node_facts>(std::move(f));
  }
  return out;
}

} // namespace

const scene& the_scene() {
  static const scene it = make_scene();
  return it;
}

std::uint32_t node_number(std::string_view name) {
  ensure(name.starts_with("n0") || name.starts_with("n1"), name);
  return name[1] == '0' ? 0 : 1;
}

// ---------------------------------------------------------------- queue

/// The queue of the small world sees the API server as it is: that it may lag behind is covered by
/// Bindings whose version is stale.
protocol::gang_ptr world::facts() const {
  auto out = std::make_shared<protocol::gang>();
  out->uid = the_scene().gang;
  out->name = {"ns", "g"};
  out->groups = {{"g", "gang-uid", pods, ""}};
  for (std::size_t n = 0; n < pods; ++n) {
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

/// All are there, and someone waits.
bool world::is_wanted() const {
  const auto& all = api_.all();
  return std::none_of(all.begin(), all.end(), [](const auto& x) { return x.is_gone; })
         && std::any_of(all.begin(), all.end(), [](const auto& x) { return x.node.empty(); });
}

void world::try_gang(std::uint8_t process) {
  const place me{protocol::to(role_kind::queue), process};
  auto& mine = queues_.at(process);
  rest(process);
  mine.is_trying = is_open_ && mine.has_partition && is_wanted();
  if (!mine.is_trying)
    return;
  ++tries_;
  ask_partition(process);
}

void world::rest(std::uint8_t process) {
  const place me{protocol::to(role_kind::queue), process};
  for (const auto& each : {backoff_timer, silence_timer}) {
    protocol::disarm stop{each};
    act({}, me, stop);
  }
}

/// Beside others a partition may have heard nothing, or close a slot just now: asked again, and
/// whoever is under way there is not disturbed by it.
void world::ask_partition(std::uint8_t process) {
  const place me{protocol::to(role_kind::queue), process};
  tell(me, protocol::to_partition(the_scene().partition),
       protocol::try_gang{facts(), queues_.at(process).failed});
  protocol::arm again{silence_timer, silence_longest};
  if (has_objects())
    act({}, me, again);
}

void world::queue_timer_fired(std::uint8_t process, const protocol::timer_id& which) {
  if (which == silence_timer)
    ask_partition(process);
  else
    try_gang(process);
}

/// The first time at once: what is said takes longer than a back-off. From then on after one: that
/// every back-off is shorter than what is under way would be a world that never comes to rest.
void world::try_again(std::uint8_t process) {
  auto& mine = queues_.at(process);
  mine.is_trying = false;
  rest(process);
  if (mine.failed < 2) {
    try_gang(process);
  } else if (mine.has_partition && is_wanted()) {
    protocol::arm wait{backoff_timer, base::limits::backoff_first};
    act({}, {protocol::to(role_kind::queue), process}, wait);
  }
}

void world::queue_hears(std::uint8_t process, const protocol::message& m) {
  auto& mine = queues_.at(process);
  if (std::holds_alternative<protocol::new_epoch>(m)) {
    mine.has_partition = true;
    try_gang(process);
  } else if (const auto* over = std::get_if<protocol::attempt_over>(&m)) {
    mine.failed += over->outcome == protocol::attempt_outcome::conflict ? 1 : 0;
    try_again(process);
  } else if (const auto* look = std::get_if<protocol::last_look>(&m)) {
    // A partition that is to close a slot asks, too: no attempt has the number 0.
    const bool is_of_partition = look->attempt.try_no == 0;
    tell({protocol::to(role_kind::queue), process},
         is_of_partition ? protocol::to_partition(the_scene().partition)
                         : protocol::to_gang(look->attempt.gang),
         protocol::last_look_answer{look->attempt, facts()});
  }
}

// ---------------------------------------------------------------- planner

/// One placement per attempt: every other one puts each pod on the node that was the other's, so
/// that a promise to an older attempt is in the way of a younger one.
void world::plan_for(std::uint8_t process, const protocol::plan_request& x) {
  std::array<std::string, shards> taken; // by whom, per node
  for (const auto& m : x.who->members)
    if (!m.node.value.empty())
      taken.at(node_number(m.node.value)) = m.name;
  protocol::plan out;
  const auto shift = (x.attempt.epoch.value + x.attempt.try_no) % 2;
  for (std::size_t n = 0; n < x.who->members.size(); ++n) {
    const auto& m = x.who->members[n];
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
    out.slices.push_back(std::move(part));
  }
  std::sort(out.slices.begin(), out.slices.end(),
            [](const auto& a, const auto& b) { return a.shard < b.shard; });
  protocol::plan_answer answer{.attempt = x.attempt};
  if (out.slices.empty())
    answer.why_not.primary = base::reason_code::waiting_for_members;
  else
    answer.placement = std::make_shared<const protocol::plan>(std::move(out));
  tell({protocol::to(role_kind::topology), process}, protocol::to_gang(x.attempt.gang),
       std::move(answer));
}

// ---------------------------------------------------------------- mirror

/// Whoever takes a shard over wants a list that begins after the question. Who does not ask for it
/// gets what the mirror has, whose watch may lag behind: nobody bound, and behind it what has
/// changed since.
void world::put_list(const place& shard, const protocol::view_wanted& x) {
  const auto mirror = protocol::to(role_kind::mirror);
  item list{.what = item::kind::list, .from = {mirror, shard.in}, .to = shard};
  if (has_objects() && !x.after_a_list)
    list.as_of = std::make_shared<const api_truth>();
  const auto before = list.as_of;
  put(std::move(list));
  for (std::size_t n = 0; n < pods && before; ++n)
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
  for (std::size_t n = 0; n < pods; ++n)
    if (!all[n].is_gone && all[n].node == node->name.value)
      hear(protocol::pod_arrived{node->uid, {api_truth::uid_of(n)}, the_scene().shape->takes});
  hear(protocol::view_trust{.fresh = true});
}

/// Behind all that was told before.
void world::tell_left(std::uint8_t process, const protocol::pods_awaited& x) {
  for (const auto& asked : x.pods)
    for (std::size_t n = 0; n < pods; ++n) {
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
