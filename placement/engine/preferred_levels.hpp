// Levels of the topology that members are to share if they can: which of them hold, and which are
// given up first.
#pragma once

#include "placement/engine/solve.hpp"

namespace tutti::placement::engine {

/// As `solve` by what is free, with as many preferred levels as cost no member its seat. `kept`
/// tells how many of each group hold; it is empty if no group prefers any. `p` is the gang as
/// `read_gang` reads it. What is not placed has been tried without any preferred level, and is
/// explained by `p`.
solution solve_by_levels(const snapshot& where, const gang_spec& what, const problem& p,
                         const options& bounds, workspace& memory, kept_levels& kept);

/// The levels after one more sacrifice: the innermost of the group that still prefers most, the
/// last of several. False if nobody prefers any.
bool give_up_one(kept_levels& kept);

} // namespace tutti::placement::engine
