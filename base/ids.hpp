// Ids that cannot be mixed up: a node is never passed where a pod is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

#include "base/hash.hpp"

namespace tutti::base {

/// A value of type `Rep` that only equals ids of the same `Tag`. Ordered as `Rep` is.
template <class Tag, class Rep = std::string>
struct id {
  Rep value{};

  friend auto operator<=>(const id&, const id&) = default;
};

/// Kubernetes UIDs and names, opaque to us.
using gang_uid = id<struct gang_uid_tag>; ///< uid of the gang's root object (or of its lone pod)
using pod_uid = id<struct pod_uid_tag>;
using node_uid = id<struct node_uid_tag>;
using node_name = id<struct node_name_tag>;

/// Places in our own world.
using shard_id = id<struct shard_id_tag, std::uint32_t>;
using partition_id = id<struct partition_id_tag, std::uint32_t>;

/// Generations of an owner. An epoch grows at each change of owner, an incarnation at each restart.
using epoch_no = id<struct epoch_tag, std::uint64_t>;
using incarnation_no = id<struct incarnation_tag, std::uint64_t>;

/// Names of equal things: pods of equal requirements (shape), nodes of equal labels and taints
/// (class). The value is the hash of the canonical blob that only `api` can read.
using shape_id = id<struct shape_id_tag, std::uint64_t>;
using class_id = id<struct class_id_tag, std::uint64_t>;
using ties_id = id<struct ties_id_tag, std::uint64_t>;

/// One try at placing one gang. Never reused; ordered by age within a gang.
struct attempt_id {
  gang_uid gang;
  std::uint64_t ordinal = 0; ///< last decided + 1
  epoch_no epoch;            ///< of the coordinator partition's owner
  std::uint64_t try_no = 0;  ///< grows within (partition, epoch)

  friend auto operator<=>(const attempt_id&, const attempt_id&) = default;
};

/// The write-once place for which rival attempts of one gang compete (S7).
struct slot_id {
  gang_uid gang;
  std::uint64_t ordinal = 0;

  friend auto operator<=>(const slot_id&, const slot_id&) = default;
};

inline slot_id slot_of(const attempt_id& x) {
  return {x.gang, x.ordinal};
}

} // namespace tutti::base

template <class Tag, class Rep>
struct std::hash<tutti::base::id<Tag, Rep>> {
  std::size_t operator()(const tutti::base::id<Tag, Rep>& x) const noexcept {
    return tutti::base::hash_of(x.value);
  }
};

template <>
struct std::hash<tutti::base::attempt_id> {
  std::size_t operator()(const tutti::base::attempt_id& x) const noexcept {
    using tutti::base::hash_combine;
    return hash_combine(hash_combine(std::hash<tutti::base::gang_uid>{}(x.gang), x.ordinal),
                        hash_combine(x.epoch.value, x.try_no));
  }
};
