// What the scheduler adds to what the API server costs anyway.
#pragma once

#include "bench/live_cluster.hpp"

namespace tutti::bench {

/// Gangs of one size.
struct gang_count {
  int gangs = 0;
  int members = 0;
};

/// Binds the gangs by `tutti scheduler`; then sends the API server the same kinds and numbers of
/// requests for as many pods without deciding anything. Prints the ratio of both rates, and the
/// requests per pod by the audit log. The cluster has nodes enough, and no pods.
void measure_cost(live_cluster& on, const std::vector<gang_count>& gangs);

} // namespace tutti::bench
