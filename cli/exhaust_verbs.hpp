// `tutti chaos exhaust`: every order of events of the small world.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tutti::cli {

/// Adds `exhaust` below `chaos`; `run` becomes what the parsed verb does, and returns its exit
/// code.
void add_exhaust_verb(CLI::App& chaos, std::function<int()>& run);

} // namespace tutti::cli
