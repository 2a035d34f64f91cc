// What the operator or the Kubernetes release decides for the queue.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "base/time.hpp"

namespace tutti::queue {

/// The defaults are those of Kubernetes 1.37.
struct options {
  /// Values of spec.schedulerName that are ours.
  std::vector<std::string> schedulers{"tutti"};
  /// Condition type of a PodGroup; "PodGroupScheduled" in 1.36. Empty in 1.35, where groups are no
  /// objects: what would be said of a group is said of its pods.
  std::string group_condition = "PodGroupInitiallyScheduled";
  /// Groups say their own priority; else theirs is the highest of their members.
  bool has_group_priorities = true;
  /// Members must have their group's priority, and one preemption policy (O-7). False in 1.36.
  bool refuses_mixed_priorities = true;
  /// What is new is tried once nothing new has been heard of for so long; 0 = at once.
  base::duration burst_pause{};
  /// So many gangs may be between their release and the end of their attempt; at least 1.
  std::size_t attempts_in_flight = base::limits::attempts_in_flight;
  /// A started gang may be below its minimum for so long before it counts as degraded.
  base::duration repair_deadline = base::limits::repair_deadline;
  /// Members of a gang that the API server shows as degraded are evicted once its repair rests.
  bool evicts_degraded = false;

  /// A gang may get room by evicting others: members that do not fit are tried once more, though
  /// the answer about room is known.
  bool may_preempt = false;

  /// Partitions may be another replica's: only gangs of those that have said they are here are
  /// tried, and spoken of.
  bool has_others = false;

  bool has_group_objects() const { return !group_condition.empty(); }
};

} // namespace tutti::queue
