// What an operator may choose about one scheduler process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/dialect.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "bridge/lease_times.hpp"
#include "placement/preemption_options.hpp"

namespace tutti::actors {

/// Where decisions are kept.
enum class decision_log : std::uint8_t {
  store,  ///< in the process's own store: one replica
  objects ///< one API object per gang (docs/reference/objects.md); without the fast path
};

struct scheduler_options {
  std::uint32_t shards = base::limits::default_shards;
  /// Label keys, outermost first; the last one decides the shard, so that a rack never straddles
  /// two.
  std::vector<std::string> levels{"topology.kubernetes.io/zone", "example.com/block",
                                  "example.com/rack"};
  std::vector<std::string> scheduler_names{"tutti"};
  api::dialect spoken = api::dialect::v1beta1; ///< in which groups are read and written
  bool fast_path = true;                       ///< all shards share this process and its store
  /// This replica's name among several that share the cluster; empty = it is alone. Several need
  /// decisions that all can read, and no fast path.
  std::string replica;
  /// Distinguishes this process from any other that is given the same name.
  std::string process;
  std::string link; ///< where its link listens, for the others; empty where links need no address
  bridge::lease_times lease; ///< of its Lease
  decision_log log = decision_log::store;
  bool writes_pod_events = true;
  bool writes_step_events = false; ///< GangReserved and GangCommitted as well
  /// Started gangs that stay below their minimum for `repair_deadline` are degraded; with
  /// `evicts_degraded` those of their members that run are evicted then.
  base::duration repair_deadline = base::limits::repair_deadline;
  bool evicts_degraded = false;
  placement::preemption_options preemption; ///< who may be evicted for a gang that finds no room
  /// Label selector: pods that it means are never evicted for a gang. Empty = none.
  std::string exempt_pods;
  base::duration burst_pause = base::limits::burst_pause; ///< 0 = what is new is tried at once
  /// Windows of the queue and of the binder: what is beyond them waits, and is not dropped.
  std::size_t attempts_in_flight = base::limits::attempts_in_flight;
  std::size_t bindings_in_flight = base::limits::bindings_in_flight;
  bool lists_plainly = false; ///< no streaming lists, for servers that lack them
  std::uint32_t planners = 1; ///< workers for long searches; 0 = bounded searches only
  std::size_t threads = 2;
  /// Jitter, marks of touches and names of events are made of it: no two processes of one cluster
  /// may have the same, nor one that has lost its store the same as before.
  std::uint64_t seed = 1;

  bool has_others() const { return !replica.empty(); }
};

/// How often a replica is asked for checkpoints: back-off and explanations may be this old after a
/// kill -9, and older if they are many (`checkpoint_bytes_per_second`).
inline constexpr std::chrono::seconds tick_interval{1};

} // namespace tutti::actors
