// What is to be placed, and where it was placed: the question and the answer of the engine.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/explanation.hpp"
#include "base/kinds.hpp"
#include "placement/engine/policy.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// A pod of the gang. A bound one counts for its group's minimum and pins its domain.
struct member_spec {
  enum class state : std::uint8_t {
    pending,
    bound,          ///< at `node`
    bound_elsewhere ///< to a node that the view does not know
  };
  std::string name; ///< for explanations
  std::uint32_t group = 0;
  base::shape_ptr kind;
  state is = state::pending;
  node_ref node;
  base::ties_ptr ties = nullptr; ///< null: it asks nothing of others, and no term selects it
};

/// Members of one group share one value of `topology_key` (any label key; empty = no constraint),
/// and of each key in `required_levels`. They share one of each in `preferred_levels`, too, if that
/// costs no member its seat; else levels are given up one by one, the innermost (the last) first.
/// Of several groups the one that still prefers most levels gives up next, the last of them first.
struct group_spec {
  std::string name;
  std::uint32_t min_count = 1;
  std::string topology_key;
  std::vector<std::string> required_levels = {};  ///< label keys, outermost first
  std::vector<std::string> preferred_levels = {}; ///< label keys, outermost first
};

/// Every group must reach its minimum, or nothing is placed. Pending members beyond the minimum are
/// placed as far as they can be without costing any group its minimum.
struct gang_spec {
  std::vector<group_spec> groups;
  std::vector<member_spec> members; ///< in the order in which they are to be preferred
};

/// One member on one node.
struct seat {
  std::uint32_t member = 0; ///< index into `gang_spec::members`
  node_ref node;

  friend bool operator==(const seat&, const seat&) = default;
};

/// At least one seat; every group reaches its minimum with them.
struct placement {
  std::vector<seat> seats; ///< ascending by member
  /// Per group: the chosen value, empty where unconstrained; of several levels the values joined by
  /// "/", preferred ones that were kept included.
  std::vector<std::string> domains;
  /// Per group: how many of its preferred levels hold, outermost first. Empty if none prefers any.
  std::vector<std::uint32_t> levels_kept = {};
  std::int64_t score = 0; ///< higher is better: 0 = the chosen domains are full afterwards

  friend bool operator==(const placement&, const placement&) = default;
};

/// Where the members go, or why they cannot.
using answer = std::variant<placement, base::explanation>;

/// Bounds of one call. A search that reaches its bound ends as `undecided`, never as a wrong no.
struct options {
  /// Nodes tried one by one, per domain, where greedy orders fail; up to 0.5 µs each.
  std::uint64_t search_steps = 20'000;
  /// Domains in which a mixed gang is really tried; the others are only bounded.
  std::uint32_t domains_tried = 64;
  /// Which of the nodes within a domain get members; null: the tightest. It never decides whether a
  /// gang is placed, nor in which domain. Members that are tied to other pods do not follow it.
  const policy* rule = nullptr;
  /// What else comes, for the policy; none: pods of 1, 2, 4 and 8 GPUs, equally often. Must outlive
  /// the call.
  std::span<const usual_pod> usual = {};
};

} // namespace tutti::placement::engine
