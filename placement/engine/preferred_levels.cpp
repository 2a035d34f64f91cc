#include "placement/engine/preferred_levels.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::placement::engine {
namespace {

std::uint64_t members_in(const solution& x) {
  return std::accumulate(x.runs.begin(), x.runs.end(), std::uint64_t{0},
                         [](std::uint64_t n, const run& r) { return n + r.count; });
}

/// Levels that bound members have in common; the others are given up already.
kept_levels wished(const snapshot& where, const gang_spec& what, const problem& p) {
  kept_levels out;
  for (const auto& g : what.groups)
    out.push_back(static_cast<std::uint32_t>(g.preferred_levels.size()));
  auto q = p;
  for (std::uint32_t g = 0; g < out.size(); ++g) {
    auto trial = kept_levels(out.size(), 0);
    for (trial[g] = out[g]; trial[g] > 0; --trial[g]) {
      if (keep_levels(where, what, trial, q))
        break;
    }
    out[g] = trial[g];
  }
  return out;
}

} // namespace

bool give_up_one(kept_levels& kept) {
  const auto most = std::max_element(kept.rbegin(), kept.rend());
  if (most == kept.rend() || *most == 0)
    return false;
  --*most;
  return true;
}

solution solve_by_levels(const snapshot& where, const gang_spec& what, const problem& p,
                         const options& bounds, workspace& memory, kept_levels& kept) {
  kept.clear();
  const bool has_wishes = std::any_of(what.groups.begin(), what.groups.end(),
                                      [](const auto& g) { return !g.preferred_levels.empty(); });
  if (!has_wishes)
    return solve(where, p, measure::free, bounds, memory);
  auto now = wished(where, what, p);
  solution best;
  do {
    auto q = p;
    if (!keep_levels(where, what, now, q))
      continue;
    auto found = solve(where, q, measure::free, bounds, memory);
    if (found.what == verdict::placed
        && (best.runs.empty() || members_in(found) > members_in(best))) {
      best = std::move(found);
      kept = now;
    } else if (best.runs.empty()) {
      best = std::move(found); // the last one is that of what is required alone
    }
    if (best.what == verdict::placed && members_in(best) == static_cast<std::uint64_t>(p.pending))
      break;
  } while (give_up_one(now));
  return best;
}

} // namespace tutti::placement::engine
