// Traces of real clusters, as tables of submissions, become gangs for the simulated cluster.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "sim/workload/cluster_shape.hpp"
#include "sim/workload/workload.hpp"

namespace tutti::sim::workload {

/// Columns are found by their names in the first line; others are passed over.
///
///     submit_s     seconds since the trace's beginning; required
///     duration_s   seconds of running; required; 0 runs for a millisecond
///     gpus         of the whole gang; 0 = none
///     nodes        how many nodes it was spread over: as many members
///     cpus         of the whole gang; counts where no GPU is asked for
///
/// One of `gpus` and `nodes` is required. A gang has as many members as `nodes` says, and more if
/// they would not fit into our nodes; without `nodes`, as few as our nodes allow. GPUs (or CPUs)
/// are dealt out evenly, rounded up. Where a trace says `nodes` alone, a member takes a whole node.
struct trace_options {
  std::string path;
  base::duration from{};               ///< the run begins at this time of the trace
  std::optional<base::duration> until; ///< of the run: later arrivals are left out
  double compress = 1;                 ///< arrivals come so many times as fast; durations stay
  bool takes_whole_nodes = false;      ///< every member does, whatever the trace says
};

/// `bad_input` if the table is wrong: which file, row and column, what it says, what is allowed;
/// how many more rows are wrong, too. `not_found`, `io` or `corrupt` if it cannot be read. Gangs
/// that are too large for the cluster are in `rejected`.
base::result<gangs> read_trace(const trace_options& how, const cluster_shape& shape);

} // namespace tutti::sim::workload
