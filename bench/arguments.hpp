// The command line that all benchmarks share.
#pragma once

#include <string>

namespace tutti::bench {

struct arguments {
  bool is_quick = false; ///< `--quick`: a tenth of the rounds, for a look; under a minute
  std::string floors;    ///< `--floors FILE`: the table of physical floors; empty = none
};

/// Which of them a benchmark has.
enum class takes { nothing_more, floors };

/// What was asked for. An argument that is not known, or a file name that is missing, is printed as
/// an error and ends the process with 2.
arguments read_arguments(int argc, char** argv, takes more);

} // namespace tutti::bench
