// Draws whole runs from a seed: a small cluster, gangs that compete, and a mix of faults.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "chaos/schedule.hpp"

namespace tutti::chaos {

struct swarm_options {
  std::size_t nodes_most = 8;
  std::size_t gangs_most = 8;
  std::uint32_t replicas = 1;
  base::duration faults_for = std::chrono::seconds{20};
  /// Time in which everything must come right: longer than any back-off, and than a lost exchange
  /// (62 s) and what a shard waits then before it gives back room that may be taken unseen (90 s).
  base::duration quiet_for = std::chrono::seconds{180};
  /// Only these actions fail; empty = all. What users do is always drawn.
  std::set<std::string> faults;
  /// No kind of fault is off: for measuring.
  bool takes_every_kind = false;
  bool always_terms = false;      ///< gangs have terms among pods in each world, not in every third
  bool always_priorities = false; ///< gangs differ in priority in each world, not in every third
  bool evicts_degraded = false;   ///< in each world, instead of every sixth
  /// Actions of each kind, of a hundred, that wait for a state of the protocol instead of a time,
  /// in every third world; in all of them where every kind is taken.
  std::uint64_t aimed_percent = 10;
  /// An action and a state: some of it wait for that state in each world, besides.
  std::pair<std::string_view, std::string_view> aims_at;
};

/// The run of this seed. Each run has its own mix (swarm testing): half of the kinds of faults are
/// off, so that rare ones are not always drowned by common ones.
schedule draw_schedule(std::uint64_t seed, const swarm_options& how);

} // namespace tutti::chaos
