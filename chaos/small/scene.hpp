// What the small world is made of: names, nodes and the shape of its pods.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/ids.hpp"
#include "base/resources.hpp"
#include "chaos/small/api_truth.hpp"
#include "protocol/facts.hpp"

namespace tutti::chaos::small {

inline constexpr std::uint32_t shards = 2; ///< one node each, with room for one pod

/// The constants of the world: node n is in shard n. Both gangs are of one partition.
struct scene {
  std::array<base::gang_uid, gangs_most> gangs;
  base::partition_id partition;
  std::array<protocol::node_facts_ptr, shards> nodes;
  base::shape_ptr shape;
};
const scene& the_scene();
const base::gang_uid& the_gang(std::size_t n);
/// Of a gang's uid, and of a pod's.
std::size_t gang_number(const base::gang_uid& uid);
std::size_t pod_number(const base::pod_uid& uid);
/// Of a node's name; 0 or 1.
std::uint32_t node_number(std::string_view name);
/// Where the pod is that is in the way, if there is one.
inline constexpr std::uint32_t node_of_victim = 1;

} // namespace tutti::chaos::small
