// Which running pods must go so that a whole gang can be placed, and where it goes then.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/explanation.hpp"
#include "placement/engine/gang_spec.hpp"
#include "placement/engine/victim_cost.hpp"
#include "placement/engine/victim_units.hpp"
#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

/// Another set that would do.
struct other_victims {
  std::vector<std::uint32_t> units; ///< ascending
  eviction_cost cost;
};

/// A set of units, and where the gang goes once they are gone.
struct eviction {
  placement where;
  /// Ascending indices into `eviction_spec::units`: those that are leaving, too, where the gang
  /// counts on their room. None can be spared as the gang is placed.
  std::vector<std::uint32_t> units;
  eviction_cost cost;                      ///< of those that are not leaving
  eviction_cost bound;                     ///< no set that would do costs less
  bool is_minimum = false;                 ///< `cost` is the bound: proved
  std::vector<other_victims> alternatives; ///< cheapest first, at most as many as were asked for
};

/// Victims and places, or why evicting does not help. The primary reason is
/// `waiting_for_victims` if the gang fits once those are gone that are leaving already, `undecided`
/// if a search ran out of steps, that of `plan` if the gang cannot be judged, and else
/// `preemption_would_not_help`: a proof.
using eviction_answer = std::variant<eviction, base::explanation>;

/// The whole gang's places and victims, all or nothing; it must not fit as things are. A pure
/// function: `memory` makes it faster and changes no answer. Units that may go are strictly below
/// the gang in priority, not exempt and not leaving.
eviction_answer plan_with_victims(const snapshot& where, const gang_spec& what,
                                  const eviction_spec& how, workspace& memory);

} // namespace tutti::placement::engine
