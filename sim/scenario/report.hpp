// What a run of scenarios says, to people and to machines.
#pragma once

#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "sim/scenario/runner.hpp"

namespace tutti::sim::scenario {

/// One line per story; of a failed one the fact, what was found, the last events and the command
/// that plays that seed again. Ends with a newline.
std::string result_text(const story_result& x);
/// "30 passed, 1 failed, 2 expected to fail, 5 not supported" with a newline.
std::string summary_text(const std::vector<story_result>& all);
boost::json::value results_json(const std::vector<story_result>& all);
/// `tutti scenario run FILE --id ID --seed SEED`.
std::string replay_command(const story_result& x);

} // namespace tutti::sim::scenario
