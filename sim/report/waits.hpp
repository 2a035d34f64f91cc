// How long gangs waited, by their size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/workload/simulation.hpp"

namespace tutti::sim::report {

/// Gangs of one size: of so many GPUs, or of so many members in a cluster without GPUs. Waiting is
/// from the moment of submission to that in which the last member is bound.
struct wait_row {
  std::uint64_t size_from = 0;
  std::uint64_t size_to = 0;
  std::uint64_t gangs = 0;   ///< that have come
  std::uint64_t bound = 0;   ///< of them
  std::uint64_t waiting = 0; ///< at the end of the run
  std::uint64_t rejected = 0;
  double p50_s = 0; ///< of those that were bound
  double p90_s = 0;
  double p99_s = 0;
  double most_s = 0;
  double mean_s = 0;
  double longest_still_s = 0; ///< of those that wait at the end, until then

  std::string size_text() const;
};

/// Rows of sizes 0, 1, 2, 3-4, 5-8, … that occur, and one of all sizes at the end.
std::vector<wait_row> waits_of(const workload::simulation& run,
                               const std::vector<workload::rejected_gang>& rejected);

} // namespace tutti::sim::report
