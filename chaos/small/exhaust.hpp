// Every order of events of the small world, with up to a number of faults.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "chaos/small/steps.hpp"

namespace tutti::chaos::small {

struct exhaust_options {
  world::options of{};
  std::uint32_t faults = 0;        ///< so many may happen on one path
  std::vector<fault_kind> kinds{}; ///< only these; empty = all
  /// Two decisions collide from the beginning (collision.hpp), and two faults have happened.
  bool begins_with_collision = false;
  bool is_reduced = true; ///< false: every order is tried, without reduction.cpp
  /// What a process says and hears that has lost something and does not know comes last. All orders
  /// are the same; a budget sees others of them.
  bool is_old_owner_slow = false;
  /// Another order of the same steps for each number, faults among the others; 0 = as they come,
  /// faults last. What a budget sees of two faults is scattered then.
  std::uint64_t shuffle = 0;
  std::uint64_t states_max = UINT64_MAX;
  /// So many new states are looked at behind each fault: breadth, where all of it is too much.
  std::uint64_t states_per_fault = UINT64_MAX;
  /// Asked now and then; false ends the search.
  std::function<bool()> may_go_on{};
};

struct exhaust_result {
  std::uint64_t states = 0; ///< different ones
  std::uint64_t steps = 0;
  std::uint64_t ends = 0;  ///< different states in which nothing is left to happen
  std::size_t longest = 0; ///< steps of the longest path
  bool is_complete = true;
  /// Rows of the crash table: how often a step passed the point, and how often a crash or a death
  /// was tried right behind it.
  std::map<std::string, std::uint64_t, std::less<>> passed;
  std::map<std::string, std::uint64_t, std::less<>> crashed;
  std::optional<finding> broken;
  std::vector<std::string> path; ///< to what broke, one line a step
};

/// Depth first, each state once per number of faults left. Deterministic: the same options give the
/// same numbers. Stops at the first broken promise. A state is known by its hash of 64 bits: among
/// a million states two of the same hash are one chance in thirty million.
exhaust_result exhaust(const exhaust_options& how);

/// Every pair of two kinds, and each kind with itself. Two faults are too many for one search: one
/// per pair has seen something of each when a budget ends it.
std::vector<std::vector<fault_kind>> pairs_of_kinds(log_kind where);
/// Two faults, pair by pair, `states_max` for each. Complete if every pair is.
exhaust_result exhaust_pairs(exhaust_options how);
/// Adds the counts of `x`; the first that broke something stays.
void add(exhaust_result& to, exhaust_result x);

/// Rows of the crash table that this world cannot reach, each with the reason.
std::map<std::string, std::string, std::less<>> unreachable_rows(const world::options& of);
/// All rows of protocol/README.md, 2.8.
const std::vector<std::string>& all_rows();

} // namespace tutti::chaos::small
