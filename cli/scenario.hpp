// `tutti scenario`: stories in files, played in a simulated world or on a live cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace tutti::cli {

struct scenario_options {
  std::vector<std::string> files;
  std::optional<std::uint32_t> seeds;
  std::optional<std::uint64_t> seed;
  std::string id;
  std::string format; ///< empty or json
  // Of a live cluster; with `kubeconfig` or `context` stories are played there.
  std::string kubeconfig;
  std::string context;
  std::string scheduler;     ///< whom pods are for; empty = tutti
  std::string server;        ///< admin address of our scheduler; empty = it is not asked
  base::duration rest{};     ///< a cluster at rest so long has settled
  base::duration patience{}; ///< the longest wait for one thing
  base::duration longest{};  ///< stories that take longer are not supported
  bool is_loose = false;     ///< leave out what cannot be seen there, and say so
  bool among_others = false; ///< nodes and pods of others do not matter

  bool is_live() const { return !kubeconfig.empty() || !context.empty(); }
  bool only_summary = false;
};

/// 0 all passed, 1 some failed, 2 wrong usage, 3 a file is wrong.
int run_scenarios(const scenario_options& how);
/// Ids and titles of all scenarios in files and folders (*.yaml, also in folders below).
int list_scenarios(const std::vector<std::string>& places);

} // namespace tutti::cli
