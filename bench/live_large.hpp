// A cluster that is full already: how soon the first gang is bound, in how much memory, and how
// fast what a genuine server tells is read.
#pragma once

#include "bench/live_cluster.hpp"

namespace tutti::bench {

/// Prints, on a cluster with so many nodes and running pods (created here, and left behind): from
/// the start of the process to the first Binding, its resident memory then, and the events per
/// second that the mirror takes in from a recording of the server's watch of pods.
void measure_large(live_cluster& on, int nodes, int pods);

} // namespace tutti::bench
