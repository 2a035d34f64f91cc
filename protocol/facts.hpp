// What the scheduler must know of nodes, pods and groups, without knowing Kubernetes: facts.
//
// `bridge` turns API objects into facts; nobody else makes them. Requirements and labels travel as
// opaque blobs that only `api` encodes and decodes, named by the hash of the blob.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"

namespace tutti::protocol {

using base::node_class;
using base::node_class_ptr;
using base::shape;
using base::shape_ptr;
using base::ties_ptr;

/// One Node as the scheduler sees it. A node that is deleted and made anew has another uid.
struct node_facts {
  base::node_uid uid;
  base::node_name name;
  node_class_ptr kind;
  base::resources allocatable;
  std::string host_name; ///< value of kubernetes.io/hostname; empty if not labelled
  std::vector<std::string>
      domains;                  ///< value per configured topology level, outermost first; "" = none
  std::uint64_t facts_hash = 0; ///< over everything above: a plan quotes it, the shard compares

  friend bool operator==(const node_facts&, const node_facts&) = default;
};
using node_facts_ptr = std::shared_ptr<const node_facts>;

/// "namespace/name".
struct object_name {
  std::string space;
  std::string name;

  friend auto operator<=>(const object_name&, const object_name&) = default;
};
std::string to_text(const object_name& x);

/// One pod that names us (or a group of ours) as its scheduler. The queue makes gangs of these.
struct pod_facts {
  base::pod_uid uid;
  object_name name;
  std::string group;     ///< PodGroup name in the same namespace; empty = a lone pod
  std::string scheduler; ///< spec.schedulerName
  std::int32_t priority = 0;
  bool never_preempts = false;
  bool is_gated = false;    ///< has scheduling gates
  bool is_terminal = false; ///< Succeeded or Failed
  bool is_deleting = false;
  base::node_name node; ///< empty = not bound
  std::string resource_version;
  base::wall_time created;
  shape_ptr kind;
  /// Why this pod cannot be scheduled at all: a hard demand that placement does not weigh, or a
  /// link to its group that makes no sense; else empty.
  std::string refused;
  ties_ptr ties{}; ///< null = of a mirror that does not tell them

  friend bool operator==(const pod_facts&, const pod_facts&) = default;
};

/// One PodGroup.
struct group_facts {
  std::string uid;
  object_name name;
  bool is_basic = false;
  std::uint32_t min_count = 1; ///< basic: 1
  std::string topology_key;    ///< empty = no constraint
  std::int32_t priority = 0;
  bool never_preempts = false;
  bool evicts_whole = false; ///< disruption mode `all`
  bool is_deleting = false;
  bool has_started = false; ///< its condition is True
  base::wall_time created;
  std::string
      refused; ///< why this object cannot be scheduled at all ("unknown policy …"); else empty
  bool is_degraded = false; ///< its condition tutti.dev/Degraded is True

  friend bool operator==(const group_facts&, const group_facts&) = default;
};

/// A member of a gang as an attempt sees it.
struct member {
  base::pod_uid uid;
  std::string name;
  std::uint32_t group = 0; ///< index into gang::groups
  shape_ptr kind;
  base::node_name node; ///< empty = pending
  std::string resource_version;
  ties_ptr ties{}; ///< null = not told

  friend bool operator==(const member&, const member&) = default;
};

/// One group of a gang: a lone pod has one with min_count 1 and an empty name.
struct gang_group {
  std::string name;
  std::string uid;
  std::uint32_t min_count = 1;
  std::string topology_key;

  friend bool operator==(const gang_group&, const gang_group&) = default;
};

/// A root with one or more groups, and its live members: the unit that is placed whole or not at
/// all. Members that are gated or terminal are left out; those already bound are included with
/// their node.
struct gang {
  base::gang_uid uid;
  object_name name; ///< of the root object
  bool is_lone_pod = false;
  std::int32_t priority = 0;
  bool has_started = false; ///< members beyond the minimum are placed one by one
  std::vector<gang_group> groups;
  std::vector<member> members; ///< in the order in which they are to be tried
  bool never_preempts = false; ///< the group or a pending member may not evict others

  friend bool operator==(const gang&, const gang&) = default;
};
using gang_ptr = std::shared_ptr<const gang>;

} // namespace tutti::protocol
