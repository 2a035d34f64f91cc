// The parser of `tutti scenario`.
#pragma once

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace tutti::cli {

/// Adds the verb and those below it; what was parsed is put into `run`, which outlives `app`.
void add_scenario_verbs(CLI::App& app, std::function<int()>& run);

} // namespace tutti::cli
