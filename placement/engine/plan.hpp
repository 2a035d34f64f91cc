// The start of the engine: one gang, one snapshot, one answer.
#pragma once

#include "placement/engine/gang_spec.hpp"
#include "placement/engine/snapshot.hpp"
#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

/// Proposes seats for the gang, or says in numbers why there are none. A pure function: `memory`
/// makes it faster and changes no answer.
///
/// The answer "no" is a proof, unless its primary reason is `undecided` (or `scheduler_error`: the
/// members already bound contradict the constraint). For equal members it is always one or the
/// other; for mixed ones the search is bounded by `bounds`.
///
/// Members of a group are interchangeable if they are of one shape; the earlier ones get seats
/// first. Domains: the one that takes most members, then the one with least room left over, then
/// the first by name. Nodes within it: tightest first.
answer plan(const snapshot& where, const gang_spec& what, const options& bounds, workspace& memory);

} // namespace tutti::placement::engine
