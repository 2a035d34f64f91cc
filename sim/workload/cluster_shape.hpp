// The simulated cluster in a few numbers: equal nodes, in domains within domains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "sim/workload/workload.hpp"

namespace tutti::sim::workload {

/// The extended resource that stands for accelerators.
inline constexpr std::string_view gpu_resource = "nvidia.com/gpu";
/// More than any cluster that is known; what one process simulates is less.
inline constexpr std::uint32_t nodes_most = 200'000;
/// What a kubelet allows.
inline constexpr std::int64_t pods_per_node = 110;

/// A kind of domain, and how many of the kind inside it (nodes, for the innermost) it holds.
struct topology_level {
  std::string name;
  std::uint32_t holds = 1;

  friend bool operator==(const topology_level&, const topology_level&) = default;
};

/// Reads "rack:16,block:32" (16 nodes a rack, 32 racks a block; innermost first), or one of
/// `known_topologies`. `bad_input` says what is wrong and what is allowed.
base::result<std::vector<topology_level>> read_topology(std::string_view text);

struct known_topology {
  std::string_view name;
  std::string_view levels;
  std::string_view source;
};
const std::vector<known_topology>& known_topologies();

struct cluster_shape {
  std::uint32_t nodes = 1'000;
  std::int64_t gpus_per_node = 8;
  std::int64_t cpus_per_node = 112;
  std::vector<topology_level> levels{{"rack", 16}, {"block", 32}}; ///< innermost first

  /// Nodes of one domain of this level, if it is full.
  std::uint64_t nodes_per(std::size_t level) const;
  std::uint64_t domain_of(std::uint32_t node, std::size_t level) const;
  /// How many domains of this level there are; the last one may have fewer nodes.
  std::uint64_t domains(std::size_t level) const;
  std::int64_t gpus() const { return gpus_per_node * nodes; }
  /// So many members fit on `count` empty nodes.
  std::uint64_t room_for(const member_need& each, std::uint64_t count) const;
  /// Of the level of this name, `levels.size()` if there is none.
  std::size_t level_named(std::string_view name) const;
};

/// "topology.kubernetes.io/zone" for zone, "example.com/NAME" for all others.
std::string label_key(std::string_view level);
/// The keys of all levels, outermost first: as the scheduler wants them.
std::vector<std::string> label_keys(const cluster_shape& shape);

/// "n00042"; and back, `nodes_most` if it is none of ours.
std::string node_name(std::uint32_t node);
std::uint32_t node_number(std::string_view name);
/// The rack's name as its nodes' label has it: "rack-12".
std::string domain_name(const cluster_shape& shape, std::size_t level, std::uint64_t domain);

/// The Node that a kubelet would report: Ready, empty.
boost::json::object node_object(const cluster_shape& shape, std::uint32_t node);

} // namespace tutti::sim::workload
