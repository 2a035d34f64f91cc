// The same gangs by both schedulers, one after the other, on the same cluster.
#pragma once

#include "bench/live_cluster.hpp"

namespace tutti::bench {

/// What is bound: `flood` gangs at once, and then `alone` gangs one by one.
struct trial {
  int members = 3;
  bool in_one_rack = false;
  int flood = 0;
  int alone = 0;
};

/// Prints for each trial the pods per second of the flood, from before its first object is created
/// to its last Binding, and p50 and p99 from the moment at which the last member of a lone gang is
/// there to its last Binding; of kube-scheduler, of `tutti scheduler`, and the ratio.
void measure_beside(live_cluster& on, int nodes, const std::vector<trial>& trials);

} // namespace tutti::bench
