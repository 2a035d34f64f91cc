// `tutti chaos …`: try to break a promise of the scheduler, on the actors that run in production.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace tutti::cli {

/// Adds the verb and all below it. The chosen one puts what is to be done into `run`, which returns
/// the exit code: 0 nothing broke, 1 something did, 3 a file is wrong.
void add_chaos_verbs(CLI::App& app, std::function<int()>& run);

} // namespace tutti::cli
