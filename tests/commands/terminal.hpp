// A terminal that a command under test writes to, and what a person would see on it.
#pragma once

#include <string>
#include <vector>

#include "tutti.hpp"

namespace tutti::commands {

/// What a finished command left on its terminal.
struct shown {
  ending how;
  std::string bytes; ///< of both outputs, in their order, as they came
};

/// Runs `tutti ARGUMENTS…` to its end with a terminal of so many columns as stdin, stdout and
/// stderr, without colours. A command that does not end in time fails the test and is killed.
shown run_on_terminal(arguments what, unsigned short columns,
                      std::chrono::milliseconds at_most = patience);

/// The lines that stand on an endless terminal of so many columns after `bytes`: "\r", "\n",
/// "\033[K" and the wrapping of long lines are obeyed. Blank lines at the end are left out.
std::vector<std::string> screen_of(const std::string& bytes, std::size_t columns);

} // namespace tutti::commands
