// A scheduler inside a cluster, read through the cluster's API server: nothing but a kubeconfig is
// needed.
#pragma once

#include <string>

#include "base/time.hpp"
#include "cli/api_access.hpp"
#include "cli/daemon.hpp"

namespace tutti::cli {

/// Where the manifests of deploy/ put it.
inline constexpr const char* default_scheduler_space = "tutti-system";

/// What the command line says of it.
struct scheduler_flags {
  api_flags cluster;
  std::string space; ///< of its pods; empty = `default_scheduler_space`
  std::string pod;   ///< this replica alone; empty = all that run
};

/// Asks the admin address of the pods that run the scheduler, by the API server's proxy to pods
/// (`pods/proxy`). Of several replicas the answers are put together (together.hpp); one that does
/// not answer is warned of once and left out. Looks for the pods at the first question, and again
/// after one that nobody has answered. `not_found` if
/// there are none, or that pod is none of them; `forbidden` with the rights that are needed;
/// `unavailable` if none answers. `clock` outlives the reader.
reader scheduler_behind(const scheduler_flags& where, const base::clock& clock);
/// The same for a path that changes something about a gang: POST, to the replica that places it.
reader scheduler_behind_to_change(const scheduler_flags& where, const base::clock& clock);

} // namespace tutti::cli
