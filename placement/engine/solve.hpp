// From a gang to the engine's numbers, and from there to seats: the part of `plan` that decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/explanation.hpp"
#include "base/result.hpp"
#include "placement/engine/search.hpp"

namespace tutti::placement::engine {

/// Cuts a gang into lots and units, by what is required. Fails (`bad_input`) if bound members
/// contradict their group's topology key: they sit in two domains, on a node without the label, or
/// on an unknown node.
base::result<problem> read_gang(const snapshot& where, const gang_spec& what, workspace& memory);
/// What needs no search: a gang that cannot be judged, or is too small. Nothing for all others.
std::optional<base::explanation> refused_at_once(const snapshot& where, const gang_spec& what,
                                                 const base::result<problem>& p);

/// Per group: how many of its preferred levels its members are to share; empty = none of any.
using kept_levels = std::vector<std::uint32_t>;
/// Cuts the gang's units anew. Fails as `read_gang` does; the problem is then as before.
base::result<void> keep_levels(const snapshot& where, const gang_spec& what,
                               const kept_levels& kept, problem& p);

/// The same gang without topology keys.
problem without_topology(const problem& p);

/// Where a whole gang goes, or why nowhere.
struct solution {
  verdict what = verdict::impossible;
  std::vector<run> runs;            ///< if placed
  std::vector<std::string> domains; ///< per group, if placed
  std::int64_t score = 0;
  std::int64_t most = 0;                 ///< if not placed: the most members that came together
  std::size_t unit = 0;                  ///< if not placed: the unit that failed
  std::vector<base::domain_fit> closest; ///< of that unit, best first, at most three
};

/// Places every unit of the gang or none: the best domain of each by `measure` of room, within
/// `bounds`. `impossible` is proved; `undecided` if the steps ran out. The memory keeps what the
/// next call can use again; the trial in it ends empty.
solution solve(const snapshot& where, const problem& p, measure by, const options& bounds,
               workspace& memory);

/// The seats of what was placed.
placement seats_of(const problem& p, solution found);

} // namespace tutti::placement::engine
