// Between the words about running pods and the engine's: offers in, victims of a plan out.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "placement/engine/victims.hpp"
#include "placement/preemption_options.hpp"
#include "protocol/messages.hpp"
#include "protocol/plan.hpp"

namespace tutti::placement {

/// All that was offered for one gang.
struct offered {
  std::vector<protocol::offer_unit> units;
  std::vector<protocol::offer_budget> budgets;
  std::set<base::pod_uid> named; ///< victims of other plans: theirs is the room
};

/// The offers as the engine weighs them, in the same order. Units of which a pod is another plan's,
/// runs where the view knows no node, or has not run for long enough, are exempt. `priority` is the
/// gang's.
engine::eviction_spec eviction_spec_of(const offered& x, std::int32_t priority,
                                       const engine::snapshot& where, const preemption_options& how,
                                       base::wall_time now);

/// Puts the pods of the chosen units into the slices of their shards, where there are none into new
/// ones. `found` was made on the same view.
void add_victims(protocol::plan& found, const offered& x, const std::vector<std::uint32_t>& chosen,
                 const engine::snapshot& where, std::uint32_t shards);

} // namespace tutti::placement
