// Whoever plays a story: the simulator, or a live cluster.
#pragma once

#include <functional>

#include "base/result.hpp"
#include "cli/scenario.hpp"
#include "sim/scenario/runner.hpp"

namespace tutti::cli {

/// An error ends the run: nothing more can be played.
using scenario_player = std::function<base::result<sim::scenario::story_result>(
    const sim::scenario::story& what, const sim::scenario::expected_failures& known)>;

/// Of the cluster that the options name; `bad_input` if others use it, or what keeps us from it.
base::result<scenario_player> live_player(const scenario_options& how);

} // namespace tutti::cli
