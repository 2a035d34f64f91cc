// What no set of victims can go below: bounds for gangs of equal members.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/engine/victim_counts.hpp"

namespace tutti::placement::engine {

/// The most slots that the unit can add in the domain, whoever else goes.
std::int64_t most_gain(const victim_counts& room, std::uint32_t unit, std::uint32_t domain);

/// No set of units that makes room for `required` members in the domain costs less: the larger of
/// two relaxations, docs/internals/victims.md says why they hold. The room must be as it was made.
weight bound_of(const victim_question& q, const victim_counts& room, std::uint32_t domain,
                std::int64_t required);

} // namespace tutti::placement::engine
