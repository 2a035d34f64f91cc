// Which shard a node belongs to and which partition coordinates a gang: pure functions, equal
// everywhere.
#pragma once

#include <cstdint>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "protocol/facts.hpp"
#include "protocol/plan.hpp"

namespace tutti::protocol {

/// The last topology level decides, so that a rack never straddles shards; a node without that
/// label goes by its uid. `shards` is at least 1 and fixed in the cluster's identity.
inline base::shard_id shard_of(const node_facts& node, std::uint32_t shards) {
  const bool has_rack = !node.domains.empty() && !node.domains.back().empty();
  const auto h = base::hash_of(has_rack ? node.domains.back() : node.uid.value);
  return {static_cast<std::uint32_t>(h % shards)};
}

/// Where a guard lives.
inline base::shard_id shard_of(const guard_id& guard, std::uint32_t shards) {
  const auto h =
      base::hash_combine(base::hash_combine(base::hash_of(guard.kind), base::hash_of(guard.space)),
                         base::hash_of(guard.key));
  return {static_cast<std::uint32_t>(h % shards)};
}

inline base::partition_id partition_of(const base::gang_uid& gang) {
  return {static_cast<std::uint32_t>(base::hash_of(gang.value) % base::limits::partitions)};
}

} // namespace tutti::protocol
