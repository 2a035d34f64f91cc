// The verbs below `tutti sim`.
#pragma once

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace tutti::cli {

/// Adds them; the one that is called puts what it does into `run`.
void add_sim_verbs(CLI::App& app, std::function<int()>& run);

} // namespace tutti::cli
