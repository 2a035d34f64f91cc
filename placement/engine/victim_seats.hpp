// A gang that is placed, and the pods that may come back without disturbing it.
#pragma once

#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/gang_spec.hpp"
#include "placement/engine/solve.hpp"
#include "placement/engine/victim_room.hpp"
#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

/// The fixed assignment of P-12: every member stays where it is, and units are put back one by one.
class victim_seats {
public:
  /// `room` is what the placement was made on; units are put back there. `is_tied`: terms among
  /// pods matter to the gang.
  victim_seats(const gang_spec& what, const placement& found, victim_room& room, bool is_tied,
               workspace& memory);

  /// Puts the unit back if every member may still be where it is; else changes nothing.
  bool spare(const disruption_unit& x);

private:
  struct asked {
    base::resources amounts;
    base::port_list ports;
  };
  bool has_room(const disruption_unit& x) const;
  bool ties_hold();

  const gang_spec* what_;
  const placement* found_;
  victim_room* room_;
  bool is_tied_;
  workspace* memory_;
  boost::unordered_flat_map<std::uint64_t, asked> on_node_;
};

} // namespace tutti::placement::engine
