// What the exit code of every command means; printed by --help and docs/reference/cli.md.
#pragma once

namespace tutti::cli {

enum exit_code : int {
  done = 0,
  failed = 1, ///< an error: one line on stderr says which, and what to do
  wrong_usage = 2,
  wrong_file = 3,        ///< scenario, sim: a file is wrong, nothing has run
  needs_preemption = 10, ///< plan: would fit if others were evicted
  not_now = 11,          ///< plan: does not fit now, would on an empty cluster
  never = 12             ///< plan: would not fit with every pod removed
};

} // namespace tutti::cli
