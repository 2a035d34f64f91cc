// What a run looked like over time: one row a sample.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/simulation.hpp"

namespace tutti::sim::report {

struct sample {
  double at_s = 0; ///< since time 0 of the run
  std::int64_t units_used = 0;
  std::uint64_t waiting_gangs = 0; ///< all members are there, not all are bound
  std::uint64_t waiting_members = 0;
  std::uint64_t running_gangs = 0;
  std::uint64_t over_gangs = 0;
  std::uint64_t empty_nodes = 0;     ///< of the cluster: the largest gang of whole nodes anywhere
  double fragmentation = 0;          ///< per cent of free units beside something that runs
  std::uint32_t rack_most = 0;       ///< empty nodes of the rack that has most of them
  std::uint32_t rack_median = 0;     ///< … and of the one in the middle
  std::uint32_t racks_full = 0;      ///< racks without one empty node
  std::int64_t rack_units_most = 0;  ///< free units of the rack that has most of them
  std::vector<std::uint16_t> groups; ///< of each group of racks, the most that one rack has
};

/// Empty nodes of every rack at one moment: the largest gang of whole nodes that fits there.
struct rack_row {
  double at_s = 0;
  std::vector<std::uint32_t> empty_nodes;
  std::vector<std::int64_t> units_free;
};

class series {
public:
  /// Racks are shown in at most `groups_most` groups of neighbours, and kept one by one at most
  /// `rack_cells_most` times in all: of a large cluster at fewer moments.
  static constexpr std::size_t groups_most = 48;
  static constexpr std::uint64_t rack_cells_most = 500'000;

  /// `samples`: how many there will be, about.
  series(const workload::cluster_shape& shape, std::uint64_t samples);

  void take(const workload::simulation& of);
  const std::vector<sample>& samples() const { return samples_; }
  const std::vector<rack_row>& racks() const { return racks_; }
  std::size_t racks_per_group() const { return racks_per_group_; }
  /// Mean use over the whole run, per cent of all units.
  double mean_use(std::int64_t units) const;

private:
  std::size_t racks_per_group_;
  std::uint64_t rack_rows_every_;
  std::vector<sample> samples_;
  std::vector<rack_row> racks_;
};

} // namespace tutti::sim::report
