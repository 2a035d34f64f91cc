// Pods by node name become pods by place in the view, and back.
#include "placement/offered_units.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ensure.hpp"
#include "placement/convert.hpp"

namespace tutti::placement {

namespace {

using node_table =
    boost::unordered_flat_map<base::node_uid, engine::node_ref, std::hash<base::node_uid>>;

node_table nodes_of(const engine::snapshot& where) {
  node_table out;
  out.reserve(static_cast<std::size_t>(where.nodes));
  for (std::uint32_t b = 0; b < where.blocks.size(); ++b)
    for (std::uint32_t slot = 0; slot < where.blocks[b]->size(); ++slot)
      if (const auto& info = where.blocks[b]->nodes[slot])
        out.emplace(info->uid, engine::node_ref{b, slot});
  return out;
}

engine::disruption_unit unit_of(const protocol::offer_unit& x, const std::set<base::pod_uid>& named,
                                const node_table& nodes, std::int64_t youngest_ms,
                                std::int64_t now_ms) {
  engine::disruption_unit out;
  out.name = to_text(x.name);
  out.gang = x.gang;
  out.is_group = x.is_group;
  out.priority = x.priority;
  out.is_leaving = x.is_leaving;
  out.is_exempt = x.is_exempt;
  out.started_ms = now_ms;
  for (const auto& pod : x.pods) {
    const auto at = nodes.find(pod.node);
    if (named.contains(pod.pod)) { // whenever it leaves, its room is another plan's
      out.is_exempt = true;
      out.is_leaving = false;
    }
    out.is_exempt |= at == nodes.end() || pod.started_ms > youngest_ms;
    out.started_ms = std::min(out.started_ms, pod.started_ms);
    out.work_lost += std::max<std::int64_t>(0, now_ms - pod.started_ms) / 1000;
    out.pods.push_back({pod.pod, at == nodes.end() ? engine::node_ref{} : at->second, pod.takes,
                        pod.ties, pod.budgets});
  }
  return out;
}

} // namespace

engine::eviction_spec eviction_spec_of(const offered& x, std::int32_t priority,
                                       const engine::snapshot& where, const preemption_options& how,
                                       base::wall_time now) {
  engine::eviction_spec out;
  out.priority = priority;
  out.policy = how.policy == victim_policy::upstream ? engine::eviction_policy::upstream
                                                     : engine::eviction_policy::least_cost;
  for (const auto& b : x.budgets)
    out.budgets.push_back({to_text(b.name), b.allowed});
  const auto nodes = nodes_of(where);
  const auto least = std::chrono::duration_cast<std::chrono::milliseconds>(how.min_runtime);
  const auto youngest_ms =
      least.count() > 0 ? now.unix_ms - least.count() : std::numeric_limits<std::int64_t>::max();
  out.units.reserve(x.units.size());
  for (const auto& unit : x.units)
    out.units.push_back(unit_of(unit, x.named, nodes, youngest_ms, now.unix_ms));
  return out;
}

void add_victims(protocol::plan& found, const offered& x, const std::vector<std::uint32_t>& chosen,
                 const engine::snapshot& where, std::uint32_t shards) {
  const auto nodes = nodes_of(where);
  std::map<base::shard_id, std::vector<protocol::victim>> by_shard;
  for (const auto u : chosen) {
    ensure(u < x.units.size(), u, x.units.size());
    const auto& unit = x.units[u];
    // Who is leaving costs nothing: whatever his priority, anybody may count on his room.
    const auto priority =
        unit.is_leaving ? std::numeric_limits<std::int32_t>::min() : unit.priority;
    for (const auto& pod : unit.pods) {
      const auto at = nodes.find(pod.node);
      ensure(at != nodes.end(), pod.pod.value);
      by_shard[shard_of(where.node(at->second), shards)].push_back(
          {pod.pod, pod.name, pod.node, u, priority, pod.grace_ms, unit.gang,
           unit.is_group ? unit.name.name : std::string{}});
    }
  }
  for (auto& [shard, victims] : by_shard) {
    const auto pos = std::lower_bound(
        found.slices.begin(), found.slices.end(), shard,
        [](const auto& slice, base::shard_id wanted) { return slice.shard < wanted; });
    const bool is_there = pos != found.slices.end() && pos->shard == shard;
    auto& slice = is_there ? *pos : *found.slices.insert(pos, protocol::slice{.shard = shard});
    slice.victims = std::move(victims);
  }
}

} // namespace tutti::placement
