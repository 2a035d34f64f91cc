// How many pods of one shape fit on each node: a straight loop over columns.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/engine/shapes.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// What is compared with the needs.
enum class measure : std::uint8_t {
  free,        ///< what is free now
  allocatable, ///< as if every pod were gone
  free_anyhow  ///< free now, labels, taints and ports aside
};

/// Columns of one block: the snapshot's own, or a trial's copy of them.
struct block_columns {
  const std::vector<column>* values = nullptr;
  const std::vector<std::int64_t>* most = nullptr;  ///< by dimension, or a larger bound
  const std::vector<std::int64_t>* least = nullptr; ///< by dimension, or a smaller bound
};
block_columns columns_of(const block& b, measure by);

/// Slots per node of one block. `most_slots` bounds what one node counts for.
inline constexpr std::uint32_t most_slots = 1u << 20;
/// Pods of one shape that each node of a block takes, and their sum.
struct slot_counts {
  std::vector<std::uint32_t> slots; ///< by slot; empty if nothing fits anywhere
  std::uint64_t total = 0;
  std::uint32_t nodes = 0; ///< nodes with at least one slot

  bool empty() const { return total == 0; }
};

/// Counts into `out` how many more pods of the shape each node of the block takes, each node by
/// itself: min over the needs of floor(free / need), at most 1 if the shape takes host ports, 0
/// where labels, taints or ports forbid it. Exact. Ports taken within a trial are not seen here.
void count_slots(const snapshot& where, const block& b, const block_columns& columns,
                 const std::vector<need>& needs, measure by, shape_view& shape, slot_counts& out);

/// True if one of the node's ports is one that the shape takes.
bool ports_collide(const base::port_list& taken, const base::port_list& wanted);

} // namespace tutti::placement::engine
