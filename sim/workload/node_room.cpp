#include "sim/workload/node_room.hpp"

#include "base/ensure.hpp"

namespace tutti::sim::workload {

namespace {

/// CPUs are counted in thousandths, or halves of one would vanish.
constexpr std::int64_t milli = 1'000;

} // namespace

node_room::node_room(const cluster_shape& shape)
    : counts_gpus_(shape.gpus_per_node > 0),
      units_per_node_(counts_gpus_ ? shape.gpus_per_node : shape.cpus_per_node * milli),
      nodes_per_rack_(shape.nodes_per(0)), free_(shape.nodes, units_per_node_),
      pods_(shape.nodes, 0), racks_(shape.domains(0)), empty_nodes_(shape.nodes) {
  for (std::uint32_t node = 0; node < shape.nodes; ++node) {
    auto& rack = racks_[node / nodes_per_rack_];
    rack.units_free += units_per_node_;
    ++rack.empty_nodes;
  }
}

std::int64_t node_room::units_of(const member_need& x) const {
  return counts_gpus_ ? x.gpus : x.cpu_milli;
}

void node_room::take(std::uint32_t node, const member_need& x) {
  add(node, {units_of(x), 1});
}

void node_room::give_back(std::uint32_t node, const member_need& x) {
  add(node, {-units_of(x), -1});
}

void node_room::add(std::uint32_t node, const change& by) {
  ensure(node < free_.size(), node, free_.size());
  auto& rack = racks_[node / nodes_per_rack_];
  const auto was_empty = pods_[node] == 0;
  free_[node] -= by.units;
  rack.units_free -= by.units;
  units_used_ += by.units;
  pods_[node] += static_cast<std::uint32_t>(by.pods);
  ensure(free_[node] >= 0 && free_[node] <= units_per_node_, node, free_[node]);
  const auto is_empty = pods_[node] == 0;
  if (was_empty == is_empty)
    return;
  if (is_empty) {
    ++rack.empty_nodes;
    ++empty_nodes_;
  } else {
    --rack.empty_nodes;
    --empty_nodes_;
  }
}

double node_room::fragmentation() const {
  const auto free = units() - units_used_;
  if (free == 0)
    return 0;
  const auto whole = units_per_node_ * static_cast<std::int64_t>(empty_nodes_);
  return 100.0 * static_cast<double>(free - whole) / static_cast<double>(free);
}

} // namespace tutti::sim::workload
