// Shell completion: one answer for all shells, and a few lines for each that ask for it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/daemon.hpp"

namespace CLI {
class App;
} // namespace CLI

namespace tutti::cli {

/// The verb that the scripts call; it stands in no list.
inline constexpr const char* complete_verb = "__complete";

/// What may stand for the last of `words`, which is being typed (the program itself is not among
/// them): verbs, flags, values of a flag, nouns, names of gangs. Sorted as the parser has them. The
/// gangs are those that `from` knows; none if nobody answers.
std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words,
                                     const reader& from);

/// What to put into the start file of a shell: bash, zsh or fish. `bad_input` for any other.
base::result<std::string> completion_script(const std::string& shell);

} // namespace tutti::cli
