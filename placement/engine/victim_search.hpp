// What the searches for victims share: the question in the engine's numbers, and what they find.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placement/engine/solve.hpp"
#include "placement/engine/victim_cost.hpp"
#include "placement/engine/victim_room.hpp"
#include "placement/engine/victims.hpp"

namespace tutti::placement::engine {

using unit_list = std::vector<std::uint32_t>; ///< ascending numbers of units

/// A question that cannot be answered at once.
struct victim_question {
  const snapshot& where;
  const gang_spec& what;
  const eviction_spec& how;
  const problem& gang; ///< read from `where`
  const cost_book& book;
  workspace& memory;
  unit_list eligible{}; ///< may go
  unit_list leaving{};  ///< go anyhow
};

/// Victims and places. The leaving are not among the victims.
struct victim_set {
  unit_list units;
  placement where;
  weight cost;
};

/// The gang placed in the room: nothing if it has no place, and then how sure that is.
struct room_answer {
  verdict what = verdict::impossible;
  placement where;
  std::int64_t most = 0;
};
room_answer place_in(const victim_question& q, const snapshot& room);

/// P-12 on a room from which all that may go and all that leave are gone: its placement stays as it
/// is, and units come back, first those that exceed a budget, from the most important down (P-11).
victim_set spare_in_order(const victim_question& q, victim_room& room, placement where);

/// The leaving whose room the placement needs once the victims are gone.
unit_list leaving_needed(const victim_question& q, const victim_set& x);

} // namespace tutti::placement::engine
