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
struct victim_case {
  const snapshot& where;
  const gang_spec& what;
  const eviction_spec& how;
  const problem& gang; ///< read from `where`
  workspace& memory;
  unit_list eligible{}; ///< may go
  unit_list leaving{};  ///< go anyhow
  /// By unit: a pod of it is one that a member's terms mean, or has terms that mean a member. Empty
  /// if the gang is tied to nobody.
  std::vector<bool> tied_units{};

  bool matters(std::uint32_t unit) const { return !tied_units.empty() && tied_units[unit]; }
};
/// For `victim_case::tied_units`.
std::vector<bool> find_tied_units(const victim_case& q);

/// … one for which somebody may have to go.
struct victim_question : victim_case {
  const cost_book& book;
};

/// Units and what they cost.
struct priced_set {
  unit_list units;
  weight cost;
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
room_answer place_in(const victim_case& q, const snapshot& room, const options& bounds);

/// On a room from which these units and all that leave are gone: the placement stays as it is, and
/// the units come back in this order, each if it disturbs nobody. The others are the victims.
victim_set spare(const victim_question& q, victim_room& room, placement where,
                 const unit_list& order);
/// … all that may go, in the order of P-11.
victim_set spare_as_upstream(const victim_question& q, victim_room& room, placement where);

/// How the search of the policy `least_cost` ends.
struct least_answer {
  std::optional<victim_set> best;
  weight bound;                     ///< no set costs less
  std::vector<priced_set> others{}; ///< that would do, too; any order
  bool is_sure = true;              ///< without a best: there is none, proved
  std::int64_t most = 0;            ///< without a best: members that fit with all gone
};
/// Gangs of equal members (`is_counted`): nodes and victims are chosen by counting.
least_answer search_counted(const victim_question& q, const snapshot& base);
/// All others: sets of victims are tried by really placing the gang.
least_answer search_placed(const victim_question& q);

/// The leaving whose room the placement needs once the victims are gone.
unit_list leaving_needed(const victim_question& q, const victim_set& x);

} // namespace tutti::placement::engine
