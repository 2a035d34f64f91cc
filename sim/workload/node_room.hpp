// What is taken on each simulated node, as the API server's objects have it, and what a gang could
// still find there.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/cluster_shape.hpp"

namespace tutti::sim::workload {

/// Units are GPUs; in a cluster without any they are CPUs.
class node_room {
public:
  explicit node_room(const cluster_shape& shape);

  /// A member comes to this node, or leaves it.
  void take(std::uint32_t node, const member_need& x);
  void give_back(std::uint32_t node, const member_need& x);

  std::int64_t units() const { return units_per_node_ * static_cast<std::int64_t>(pods_.size()); }
  std::int64_t units_used() const { return units_used_; }
  std::int64_t units_per_node() const { return units_per_node_; }
  /// Nodes on which nothing runs.
  std::uint32_t empty_nodes() const { return empty_nodes_; }

  struct domain_room {
    std::int64_t units_free = 0;
    std::uint32_t empty_nodes = 0; ///< members of a gang of whole nodes that fit
  };
  /// By number, all domains of the innermost level ("racks").
  const std::vector<domain_room>& racks() const { return racks_; }

  /// Per cent of the free units that are on nodes where something runs: a gang of whole nodes
  /// cannot have them. 0 if nothing is free.
  double fragmentation() const;

private:
  struct change {
    std::int64_t units = 0;
    int pods = 0;
  };
  void add(std::uint32_t node, const change& by);
  std::int64_t units_of(const member_need& x) const;

  bool counts_gpus_;
  std::int64_t units_per_node_;
  std::uint64_t nodes_per_rack_;
  std::vector<std::int64_t> free_; ///< units by node
  std::vector<std::uint32_t> pods_;
  std::vector<domain_room> racks_;
  std::int64_t units_used_ = 0;
  std::uint32_t empty_nodes_ = 0;
};

} // namespace tutti::sim::workload
