// In which order units are worth evicting for a gang whose members are not all equal.
#pragma once

#include <vector>

#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {

/// Orders units: the dearest first, by what each costs alone.
inline auto is_dearer(const cost_book& book) {
  return [&book](std::uint32_t a, std::uint32_t b) {
    const auto x = compare(book.alone(a), book.alone(b));
    return x != 0 ? x > 0 : a < b;
  };
}

/// Several orders of units that may go, each the best first in its own way: by price for what they
/// give back; node by node; and for each of some domains those alone that run there.
std::vector<unit_list> orders_of_victims(const victim_question& q);

/// No set of units costs less: there must be as much of each resource as the least demanding
/// members need, and at least one unit must go.
weight bound_by_totals(const victim_question& q);

} // namespace tutti::placement::engine
