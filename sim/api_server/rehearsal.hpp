// Tries objects on a copy of the cluster, so that a file is applied whole or not at all.
//
// Some errors show only when an object meets the others (a PriorityClass or a namespace that is not
// there), and what was applied before it would stay. The same rules on a copy find them all before
// anything is touched.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/step_watch.hpp"
#include "sim/api_server/control_plane.hpp"

namespace tutti::sim::api_server {

/// What `like.apply(objects, places)` would refuse, and for what; success if nothing. `like` is
/// unchanged. `how` are the options that it was made with. Costs as much as applying them, and a
/// table of all its objects meanwhile; the objects themselves are shared. `watch` as there.
base::result<void> rehearse(const control_plane& like, const control_plane::options& how,
                            const base::clock& time, const std::vector<json::object>& objects,
                            const std::vector<std::string>& places,
                            const base::step_watch& watch = {});

} // namespace tutti::sim::api_server
