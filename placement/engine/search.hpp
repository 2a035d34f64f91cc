// Placing the members of one unit in one domain: greedy orders first, then a bounded full search.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "placement/engine/gang_spec.hpp"
#include "placement/engine/trial.hpp"

namespace tutti::placement::engine {

/// Equal pending members of one group.
struct lot {
  std::uint32_t group = 0;
  std::uint32_t shape = 0;
  std::vector<std::uint32_t> members; ///< in the order of the gang
};

/// What a group still needs.
struct group_demand {
  std::int64_t bound = 0;
  std::int64_t pending = 0;
  std::int64_t required = 0; ///< pending members without which the minimum is missed
};

/// Groups that are placed in one domain together: one with a topology key, or all without.
struct unit {
  std::string key;
  std::optional<std::string> pinned; ///< the domain of members already bound
  std::vector<std::uint32_t> groups;
  std::vector<std::uint32_t> lots;
};

/// A gang in the engine's numbers.
struct problem {
  std::vector<shape_use> shapes;
  std::vector<lot> lots;
  std::vector<group_demand> groups;
  std::vector<unit> units;
  std::int64_t pending = 0;
  std::int64_t required = 0;
  std::shared_ptr<const tied_problem> ties; ///< null: no member is tied to other pods
  std::shared_ptr<const policy_use> rule;   ///< null: no policy was asked for
};

/// How a search ends. `impossible` is proved (where its function says so), `undecided` ran out of
/// steps.
enum class verdict : std::uint8_t { placed, impossible, undecided };

/// What `place_minimum` reached.
struct fill_result {
  verdict what = verdict::impossible;
  std::int64_t most = 0; ///< members placed, or the most that any order placed
};

/// Places at least the required members of each of the unit's groups, and with `all` as many of the
/// others as the same order takes along. On `placed` the seats are in the trial; else the trial is
/// as before. `impossible` is a proof only if the trial was empty. `steps` is what the full search
/// may still spend; what it spends is subtracted.
fill_result place_minimum(trial& on, const problem& p, const unit& u, const domain_view& domain,
                          bool all, std::uint64_t& steps);

/// Places what is not placed yet, as far as it goes. Returns how many.
std::int64_t place_extras(trial& on, const problem& p, const unit& u, const domain_view& domain);

/// Most members of the group that could be in the domain, each lot by itself: an upper bound, exact
/// for a group of one lot.
std::int64_t most_of_group(trial& on, const problem& p, const unit& u, std::uint32_t group,
                           const domain_view& domain);

/// The full search over single members and nodes (`exact.cpp`). As `place_minimum` without `all`;
/// what ties members does not count. `impossible` means that every assignment was excluded,
/// `undecided` that the steps ran out. `u` is one of the problem's units.
verdict search_all(trial& on, const problem& p, const unit& u, const domain_view& domain,
                   std::uint64_t& steps);
/// The same over all units at once, and with what ties members; the trial must be empty. `domains`:
/// by unit. On `placed` the seats are in the trial, and `chosen` has a domain of each unit.
verdict search_units(trial& on, const problem& p,
                     const std::vector<std::vector<domain_view>>& domains, std::uint64_t& steps,
                     std::vector<std::size_t>& chosen);

} // namespace tutti::placement::engine
