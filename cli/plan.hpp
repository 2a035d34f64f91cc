// `tutti plan`: the engine on files, without a scheduler and without side effects.
#pragma once

#include <string>
#include <vector>

#include "base/time.hpp"

namespace tutti::cli {

struct plan_options {
  std::vector<std::string> files;
  std::string format = "table"; ///< table, json, yaml or name
  std::vector<std::string> levels;
};

/// Prints where each gang of the files would go, or why not, and returns the exit code: 0, 11, 12
/// (the highest of all gangs) or 1. The clock only serves the line of progress on a terminal.
int run_plan(const plan_options& how, const base::clock& clock);

} // namespace tutti::cli
