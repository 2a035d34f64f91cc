// Gangs drawn from published distributions: a workload without any trace file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/workload.hpp"

namespace tutti::sim::workload {

struct generator_options {
  std::uint64_t seed = 1;
  base::duration until = std::chrono::hours{24}; ///< arrivals from 0 to here
  /// GPU time asked for, per cent of what the cluster has. Without it gangs come as often per GPU
  /// as they came in the original.
  std::optional<double> load;
};

/// Names of what can be generated.
const std::vector<std::string_view>& generated_workloads();

/// Sizes and run times after `philly.hpp`: the size first, then a run time from the distribution of
/// all, stretched so that each size gets its published share of GPU time. Arrivals are a Poisson
/// process whose rate follows the hours of the day. Gangs take as few nodes as they can, and those
/// that are too large for the cluster are in `rejected`. The same options give the same gangs.
gangs generate_philly(const generator_options& how, const cluster_shape& shape);

/// GPU seconds that one gang takes in the mean: what a load is computed from.
double philly_gpu_seconds();

} // namespace tutti::sim::workload
