// `tutti scenario`: stories in files, played in a simulated world.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::cli {

struct scenario_options {
  std::vector<std::string> files;
  std::optional<std::uint32_t> seeds;
  std::optional<std::uint64_t> seed;
  std::string id;
  std::string format;     ///< empty or json
  std::string kubeconfig; ///< refused: there is no bridge to a real cluster yet
  std::string scheduler;  ///< likewise
  bool only_summary = false;
};

/// 0 all passed, 1 some failed, 2 wrong usage, 3 a file is wrong.
int run_scenarios(const scenario_options& how);
/// Ids and titles of all scenarios in files and folders (*.yaml, also in folders below).
int list_scenarios(const std::vector<std::string>& places);

} // namespace tutti::cli
