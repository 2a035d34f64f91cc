// Logical names of roles. A router resolves them to a local actor or a link; a role never knows
// which.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/ids.hpp"

namespace tutti::protocol {

enum class role_kind : std::uint8_t {
  node,      ///< key = node uid
  shard,     ///< index = shard
  partition, ///< index = coordinator partition
  gang,      ///< key = gang uid: the pod group actor
  topology,
  planner, ///< index = worker
  queue,
  preemption,
  mirror,  ///< bridge: reflectors, turns API objects into facts
  binder,  ///< bridge: Bindings, touches, reads of single pods
  evictor, ///< bridge: victims
  status,  ///< bridge: conditions and events
  admin,
  keeper,   ///< bridge: this replica's Lease and the partition map
  decisions ///< bridge: the decision log as API objects
};
inline constexpr int role_kind_count = 15;

struct address {
  role_kind kind = role_kind::admin;
  std::uint32_t index = 0;
  std::string key;

  friend auto operator<=>(const address&, const address&) = default;
};

inline address to_node(const base::node_uid& x) {
  return {role_kind::node, 0, x.value};
}
inline address to_shard(base::shard_id x) {
  return {role_kind::shard, x.value, {}};
}
inline address to_partition(base::partition_id x) {
  return {role_kind::partition, x.value, {}};
}
inline address to_gang(const base::gang_uid& x) {
  return {role_kind::gang, 0, x.value};
}
inline address to(role_kind kind) {
  return {kind, 0, {}};
}

/// "shard(7)", "node(5f1c…)", "queue": for logs and traces.
std::string to_text(const address& x);

} // namespace tutti::protocol

template <>
struct std::hash<tutti::protocol::address> {
  std::size_t operator()(const tutti::protocol::address& x) const noexcept {
    using namespace tutti::base;
    return hash_combine(static_cast<std::uint64_t>(x.kind), hash_combine(x.index, hash_of(x.key)));
  }
};
