// Runs one schedule and judges it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/coverage.hpp"
#include "chaos/invariant.hpp"
#include "chaos/schedule.hpp"

namespace tutti::chaos {

struct run_options {
  bool is_judged = true; ///< without checks: for timing
  /// At the end everything must have come right: not where faults last to the end.
  bool is_audited = true;
  /// Lines of the trace that are kept for a failure; 0 = none. `keeps_all`: every line, for
  /// `diff-trace`.
  std::size_t lines = 40;
  bool keeps_all = false;
};

struct run_result {
  std::optional<violation> broken;
  std::uint64_t steps = 0;
  std::uint64_t deliveries = 0; ///< events that roles took
  std::uint64_t trace_hash = 0;
  base::duration virtual_time{};
  std::deque<std::string> trace; ///< the last lines, oldest first
  /// How often each action did something, and how often each invariant was looked at.
  std::map<std::string, std::uint64_t, std::less<>> actions;
  std::map<std::string, std::uint64_t, std::less<>> looks;
  coverage_matrix coverage; ///< "crash" × "binding"
};

/// A function of the schedule alone.
run_result run(const schedule& what, const run_options& how);

} // namespace tutti::chaos
