// What an attempt wants: members on nodes, victims that make room, guards against rivals; cut into
// slices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "base/resources.hpp"
#include "protocol/facts.hpp"

namespace tutti::protocol {

/// One write that must be done, in order, after the acks and before this member's Binding (a
/// claim's allocation, a selected node). Read back before it is believed.
struct before_bind_write {
  std::string method; ///< PATCH or PUT
  std::string path;
  std::string content_type;
  std::string body;

  friend bool operator==(const before_bind_write&, const before_bind_write&) = default;
};

/// A member and its seat.
struct seat {
  base::pod_uid pod;
  std::string pod_name; ///< in the gang's namespace
  std::uint32_t group = 0;
  base::node_uid node;
  base::node_name node_name;
  base::footprint takes;
  std::vector<before_bind_write> before_bind;
  base::ties_ptr ties{}; ///< as the plan weighed them; null = not told

  friend bool operator==(const seat& a, const seat& b) {
    const auto of = [](const seat& x) {
      return std::tie(x.pod, x.pod_name, x.group, x.node, x.node_name, x.takes, x.before_bind);
    };
    return of(a) == of(b) && !a.ties == !b.ties && (!a.ties || *a.ties == *b.ties);
  }
};

/// A running pod that must go. Victims of one unit go together or not at all.
struct victim {
  base::pod_uid pod;
  object_name pod_name;
  base::node_uid node;
  std::uint32_t unit = 0;
  std::int32_t priority = 0;
  std::int64_t grace_ms = 0;
  base::gang_uid gang{}; ///< that is broken with it: its group, or the pod itself; empty = not told
  std::string group{};   ///< the group in its namespace that goes whole with it; empty = none does

  friend bool operator==(const victim&, const victim&) = default;
};

/// A term that spans nodes and therefore is in no node's ledger (S15).
struct guard_id {
  std::string kind;  ///< "anti-affinity", "affinity", "spread", "rwop"
  std::string space; ///< namespace of the pods that it selects, or "*"
  std::string key;   ///< whatever else tells it from others; only its maker reads it

  friend auto operator<=>(const guard_id&, const guard_id&) = default;
};

/// (shard epoch, counter): a new owner's first version is above all of its predecessor's.
struct guard_version {
  std::uint64_t epoch = 0;
  std::uint64_t counter = 0;

  friend auto operator<=>(const guard_version&, const guard_version&) = default;
};

struct guard_use {
  guard_id id;
  bool is_exclusive = false;
  guard_version seen; ///< of the view that the plan was made on

  friend bool operator==(const guard_use&, const guard_use&) = default;
};

/// The state of a node that a plan was made on; the shard refuses if it has moved.
struct node_quote {
  base::node_uid node;
  std::uint64_t facts_hash = 0;

  friend bool operator==(const node_quote&, const node_quote&) = default;
};

/// What a plan asks of one shard: members on its nodes, victims on its nodes, guards that live
/// there.
struct slice {
  base::shard_id shard;
  std::vector<seat> seats;
  std::vector<victim> victims;
  std::vector<guard_use> guards;
  std::vector<node_quote> quotes;
  std::string space{}; ///< namespace of the gang; empty = not told: any guard may mean its pods
  /// The plan has looked at every guard that the shard had told of by then, and uses those that
  /// mean its pods.
  guard_version guards_known{};

  bool is_without_members() const { return seats.empty(); }
  friend bool operator==(const slice&, const slice&) = default;
};
using slice_ptr = std::shared_ptr<const slice>;

/// A placement for the whole gang. Slices ascend by shard, one per shard.
struct plan {
  std::vector<slice> slices;
  std::vector<std::string> domains; ///< chosen domain per group, empty where unconstrained
  std::uint64_t view_version = 0;
  std::int64_t score = 0;

  std::size_t seat_count() const {
    std::size_t n = 0;
    for (const auto& s : slices)
      n += s.seats.size();
    return n;
  }
  friend bool operator==(const plan&, const plan&) = default;
};
using plan_ptr = std::shared_ptr<const plan>;

} // namespace tutti::protocol
