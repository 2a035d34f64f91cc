// Why a gang was refused, in numbers: the same columns asked once more, cause by cause.
#pragma once

#include "base/explanation.hpp"
#include "placement/engine/solve.hpp"

namespace tutti::placement::engine {

/// The explanation of a solution that is not `placed`. Chooses the primary reason: `undecided`;
/// `never_fits` if it would not fit with every pod removed; `topology_too_fragmented` if it fits
/// the cluster but no domain; `node_constraints_unmet` if it would fit but for labels, taints and
/// ports; else `insufficient_resources`.
base::explanation explain(const snapshot& where, const gang_spec& what, const problem& p,
                          const solution& refused, const options& bounds, workspace& memory);

} // namespace tutti::placement::engine
