// `tutti local`: the whole scheduler on an API server inside the process, or either half alone.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tutti::cli {

struct local_options {
  std::vector<std::string> files;
  std::string until;                     ///< "settled" or empty: until SIGINT or SIGTERM
  std::string listen;                    ///< API address for kubectl; empty = none
  std::string admin = "127.0.0.1:10451"; ///< for the reading verbs; empty = none
  std::string data_dir;                  ///< empty = a temporary one, removed at the end
  std::string kubernetes = "1.37";
  std::string server;      ///< an API server elsewhere: the scheduler alone
  bool serve_only = false; ///< the API server alone
  bool slow_path = false;  ///< every promise on disk before the decision: for tests of recovery
  std::vector<std::string> levels;
  unsigned shards = 0; ///< 0 = what the store has; the default number in a new one
  bool quiet = false;
};

/// Runs until told to stop, then finishes the current step and checkpoints. Returns what ended it
/// if it was not a signal or `until`.
base::result<void> run_local(const local_options& how);

} // namespace tutti::cli
