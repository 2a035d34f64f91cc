// Looks for a planted bug: runs worlds in which it is switched on until one breaks a promise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chaos/mutants.hpp"
#include "chaos/schedule.hpp"
#include "chaos/swarm.hpp"

namespace tutti::chaos {

/// Switches the bug on for the rest of this process. Nothing may run meanwhile.
void switch_on(const planted_bug& bug);

/// What one run has come to.
struct finding {
  std::string breaks; ///< id of an invariant; empty = everything held
  std::string what;   ///< for people
};

/// Runs in a process of its own, with the bug switched on (null: with none), and waits for it: a
/// check of the program that fails ends its process, and counts as E2.
finding run_apart(const schedule& what, const planted_bug* with);

/// What the bug breaks in this world. Empty if everything holds, and if something breaks without
/// the bug as well: then it was not the bug that was found.
finding shown_by(const schedule& what, const planted_bug& bug);

struct hunt_result {
  std::optional<std::uint64_t> seed; ///< the first that found it; nothing: it has survived
  finding found;
};

/// How the worlds are drawn in which this bug is looked for.
swarm_options worlds_of(const planted_bug& bug);

/// Seeds `first`, first + 1, …, at most `seeds` of them.
hunt_result hunt(const planted_bug& bug, std::uint64_t first, std::uint64_t seeds);

/// Makes the search of this bug with the bug switched on, in this process: nothing else may run
/// meanwhile. Empty if it survives.
finding exhaust_with(const exhausted_bug& bug);

} // namespace tutti::chaos
