// What may be evicted, as its owner tells it: units that go whole, and what protects them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "placement/engine/gang_spec.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// A running pod that may have to go. Its room is taken in the snapshot.
struct evictable_pod {
  base::pod_uid pod;
  node_ref node;
  base::footprint takes;
  base::ties_ptr ties = nullptr;
  std::vector<std::uint32_t> budgets{}; ///< that count it: indices into `eviction_spec::budgets`
};

/// Pods that go together or not at all (P-7).
struct disruption_unit {
  std::string name;
  base::gang_uid gang; ///< that is broken with it
  bool is_group = false;
  std::int32_t priority = 0;
  std::int64_t started_ms = 0; ///< of the pod that runs longest, on the wall clock
  std::int64_t work_lost = 0;  ///< of all its pods, in the caller's measure; at most 2^40
  /// Goes by itself, and costs nothing. All its pods must be where the snapshot shows their room
  /// taken; one whose room is promised to others must not be said to leave.
  bool is_leaving = false;
  bool is_exempt = false; ///< must stay; of no meaning for one that is leaving
  std::vector<evictable_pod> pods;
};

/// How many of the pods that name it may still go (P-9). A preference, never a limit.
struct disruption_budget {
  std::string name;
  std::int64_t allowed = 0;
};

/// Who is chosen; docs/internals/victims.md compares them.
enum class eviction_policy : std::uint8_t {
  upstream,  ///< P-12: place as if all were gone, then spare the important ones
  least_cost ///< victims and places together, at the least cost that is found
};

/// The question: a gang of this priority found no room.
struct eviction_spec {
  std::int32_t priority = 0; ///< of the gang: only units strictly below it may go (P-8)
  std::vector<disruption_unit> units;
  std::vector<disruption_budget> budgets;
  eviction_policy policy = eviction_policy::least_cost;
  options bounds{}; ///< of each placement
  /// Sets of units that the full search may look at, about 1 µs each.
  std::uint64_t set_steps = 20'000;
  std::uint32_t alternatives = 0; ///< other sets to be told, at most
};

/// True if the unit may be evicted for the gang.
inline bool may_go(const disruption_unit& x, const eviction_spec& how) {
  return !x.is_leaving && !x.is_exempt && x.priority < how.priority && !x.pods.empty();
}

/// Amount of a resource by its number; 0 for one that no node of `where` has.
inline std::int64_t amount_of(const snapshot& where, const base::resources& x, dimension d) {
  if (d >= first_extended)
    return d < where.dimensions() ? x.of(where.extended[d - first_extended]) : 0;
  return d == cpu_dimension         ? x.cpu_milli
         : d == memory_dimension    ? x.memory_bytes
         : d == ephemeral_dimension ? x.ephemeral_bytes
                                    : x.pods;
}

} // namespace tutti::placement::engine
