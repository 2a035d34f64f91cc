// Judges a cluster from its API objects alone: gangs whole or not at all, no node over-committed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api_client.hpp"

namespace tutti::commands {

struct pod_seen {
  std::string uid;
  std::string node; ///< empty = not bound
  std::string group;
  std::int64_t cpu_milli = 0;
};

struct cluster_seen {
  std::map<std::string, pod_seen> pods;
  std::map<std::string, std::int64_t> nodes;  ///< allocatable CPU in milli
  std::map<std::string, std::int64_t> groups; ///< minCount

  std::int64_t bound_of(const std::string& group) const;
};

/// Reads pods, nodes and pod groups. An API that does not answer fails the test.
cluster_seen look_at(const api_client& api);

/// The same of a server that may die meanwhile: nothing if it does not answer all of it.
std::optional<cluster_seen> try_to_look_at(const api_client& api);

/// No node has more on it than it takes.
void expect_no_node_over_committed(const cluster_seen& x);

/// Every gang has at least its minimum bound, or nobody. No node has more on it than it takes.
void expect_sound(const cluster_seen& x);

/// Who was bound is the same pod on the same node still.
void expect_nobody_moved(const cluster_seen& before, const cluster_seen& after);

} // namespace tutti::commands
