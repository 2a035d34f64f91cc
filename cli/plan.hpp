// `tutti plan`: the engine on files, without a scheduler and without side effects.
#pragma once

#include <string>
#include <vector>

#include "api/release.hpp"
#include "base/explanation.hpp"
#include "base/time.hpp"
#include "cli/api_access.hpp"
#include "protocol/facts.hpp"
#include "sim/api_server/control_plane.hpp"

namespace tutti::cli {

struct plan_options {
  std::vector<std::string> files;
  api_flags cluster;            ///< with a kubeconfig or context: on what that cluster has now, too
  std::string format = "table"; ///< table, json, yaml or name
  std::vector<std::string> levels;
};

/// Prints where each gang of the files, and of the cluster, would go, or why not, and returns the
/// exit code: 0, 11, 12 (the highest of all gangs) or 1. The clock only serves the line of progress
/// on a terminal.
int run_plan(const plan_options& how, const base::clock& clock);

/// The same for the objects that an API server has at this moment; it is only asked.
struct planned_gang {
  protocol::object_name name;
  bool fits = false;
  base::reason_code reason = base::reason_code::none;
};
std::vector<planned_gang> plan_on(sim::api_server::control_plane& api, api::release spoken,
                                  const std::vector<std::string>& levels);

} // namespace tutti::cli
