// Placing members that are tied to others: what greedy orders reach, bounds, and the full search.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/engine/search.hpp"
#include "placement/engine/tied_state.hpp"

namespace tutti::placement::engine {

/// The most members of a lot that can be in the domain, whatever happens to the other lots: an
/// upper bound, exact if the lot has one rule that its members change. The state is that of the
/// trial.
std::int64_t most_tied(trial& on, const tied_state& state, const lot& l, const domain_view& domain);

/// As `place_minimum`, one member at a time, each where kube-scheduler would admit it then. The
/// state is that of the trial before and after. Ends `placed` or `undecided`.
fill_result place_tied(trial& on, tied_state& state, const problem& p, const unit& u,
                       const domain_view& domain, bool all);
std::int64_t place_tied_extras(trial& on, tied_state& state, const problem& p, const unit& u,
                               const domain_view& domain);

/// The seats of all that was taken after the first `keep` runs.
std::vector<tied_seat> seats_since(const trial& on, std::size_t keep);
/// Gives back what was taken after the first `keep` runs, in both.
void undo(trial& on, tied_state& state, std::size_t keep);

} // namespace tutti::placement::engine
