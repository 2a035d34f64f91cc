// Everything that is told of a run that is over; what the CSV files and the page are made of.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/report/series.hpp"
#include "sim/report/waits.hpp"
#include "sim/workload/simulation.hpp"
#include "sim/workload/workload.hpp"

namespace tutti::sim::report {

struct results {
  std::string origin;  ///< of the workload
  std::string command; ///< that makes this run again
  const workload::simulation& run;
  const series& over_time;
  const std::vector<workload::rejected_gang>& rejected;
  std::vector<wait_row> waits;
  /// Why gangs wait at the end, by reason code.
  std::vector<std::pair<std::string, std::uint64_t>> reasons;

  std::string_view unit() const { return run.how().shape.gpus_per_node > 0 ? "GPU" : "CPU"; }
  /// What the sizes in `waits` count.
  std::string_view size_unit() const {
    return run.how().shape.gpus_per_node > 0 ? "GPUs" : "members";
  }
  /// Units of the room's columns that make one of `unit()`.
  std::int64_t unit_scale() const { return run.how().shape.gpus_per_node > 0 ? 1 : 1'000; }
  double units(std::int64_t columns) const {
    return static_cast<double>(columns) / static_cast<double>(unit_scale());
  }
};

/// Collects what is known only at the end.
results results_of(const workload::simulation& run, const series& over_time,
                   const workload::gangs& asked, std::string command);

/// Names and values of the summary, in the order in which they are shown.
struct fact {
  std::string name;
  std::string value;
  std::string meaning;
};
std::vector<fact> summary_of(const results& of);

} // namespace tutti::sim::report
