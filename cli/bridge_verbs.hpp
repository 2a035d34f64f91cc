// The verb `tutti bridge`.
#pragma once

#include <functional>

namespace CLI {
class App;
} // namespace CLI

namespace tutti::cli {

/// Adds it; if it is called it puts what it does into `run`.
void add_bridge_verb(CLI::App& app, std::function<int()>& run);

} // namespace tutti::cli
