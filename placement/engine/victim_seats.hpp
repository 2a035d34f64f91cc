// A gang that is placed, and the pods that may come back without disturbing it.
#pragma once

#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {

/// The fixed assignment of P-12: every member stays where it is, and units are put back one by one.
class victim_seats {
public:
  /// `room` is what the placement was made on; units are put back there.
  victim_seats(const victim_case& q, const placement& found, victim_room& room);

  /// Puts the unit back if every member may still be where it is; else changes nothing.
  bool spare(std::uint32_t unit);

private:
  struct asked {
    base::resources amounts;
    base::port_list ports;
  };
  bool has_room(const disruption_unit& x) const;
  bool ties_hold();

  const victim_case* q_;
  const placement* found_;
  victim_room* room_;
  boost::unordered_flat_map<std::uint64_t, asked> on_node_;
};

} // namespace tutti::placement::engine
