// `tutti plan`: the engine on files, without a scheduler and without side effects.
#pragma once

#include <string>
#include <vector>

namespace tutti::cli {

struct plan_options {
  std::vector<std::string> files;
  std::string format = "table"; ///< table, json, yaml or name
  std::vector<std::string> levels;
};

/// Prints where each gang of the files would go, or why not, and returns the exit code: 0, 11, 12
/// (the highest of all gangs) or 1.
int run_plan(const plan_options& how);

} // namespace tutti::cli
