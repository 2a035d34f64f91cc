// Which fault has met which state of the protocol, how often, and which of them can meet at all.
//
// A fault that never comes while a shard is in doubt proves nothing about shards in doubt. So hits
// are counted per cell of fault × state, and a test fails on an empty one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/world/world.hpp"

namespace tutti::chaos {

struct swarm_options;

/// Fault × state → hits.
using coverage_matrix = std::map<std::pair<std::string, std::string>, std::uint64_t>;

/// Columns of the matrix that belong together: "coordinator", "participant", "bridge".
struct state_group {
  std::string_view name;
  std::vector<std::string_view> states;
};
const std::vector<state_group>& covered_states();
/// A key of every action: "when=touch". It waits for this state and happens as soon as some role
/// enters it, or has it after a step.
inline constexpr std::string_view when_key = "when";
/// A column other than "idle": what an action can wait for.
bool is_state_of_a_role(std::string_view state);
/// Rows: every action but those that only make a world.
const std::vector<std::string_view>& covered_faults();
/// Those of them that a world drawn with these options can have.
std::vector<std::string_view> covered_faults(const swarm_options& of);

/// A cell that cannot be hit, and why. "*" as fault or state: all of them.
struct impossible_cell {
  std::string_view fault;
  std::string_view state;
  std::string_view why;
};
const std::vector<impossible_cell>& impossible_cells();
/// Null if fault and state can meet.
const impossible_cell* find_impossible(std::string_view fault, std::string_view state);

/// Cells without a hit that could have one, of these rows.
std::vector<std::pair<std::string_view, std::string_view>>
empty_cells(const coverage_matrix& hits,
            const std::vector<std::string_view>& faults = covered_faults());
/// Cells that have a hit and are named as impossible: the list is wrong then.
std::vector<std::pair<std::string_view, std::string_view>>
wrongly_impossible(const coverage_matrix& hits);

/// States that one role is in, as `covered_states` names them: those of a coordinator, or of a
/// shard with all its promises. None for other roles.
std::set<std::string_view> states_of(const protocol::address& where, const protocol::role& role);
/// The step of a bridge role that has such a request out; empty if it is none that is covered.
std::string_view step_of(const protocol::address& where, const protocol::http_request& request);

} // namespace tutti::chaos
