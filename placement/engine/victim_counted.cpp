// Domains by their bounds, the best first: what a bound excludes is never tried.
#include <algorithm>

#include "base/ensure.hpp"
#include "placement/engine/victim_bounds.hpp"
#include "placement/engine/victim_exact.hpp"
#include "placement/engine/victim_greedy.hpp"
#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {
namespace {

struct bounded_domain {
  std::uint32_t number = 0;
  weight bound;
};

/// Domains that have room once all are gone, by bound and then by number.
std::vector<bounded_domain> rank(const victim_question& q, const victim_counts& room,
                                 least_answer& out) {
  std::vector<bounded_domain> domains;
  for (std::uint32_t d = 0; d < room.domains(); ++d) {
    out.most = std::max(out.most, room.emptied(d));
    if (room.emptied(d) >= q.gang.required)
      domains.push_back({d, bound_of(q, room, d, q.gang.required)});
  }
  std::stable_sort(domains.begin(), domains.end(),
                   [](const auto& a, const auto& b) { return compare(a.bound, b.bound) < 0; });
  return domains;
}

/// The gang placed once the units are gone; members beyond the minimum take what is left. Nothing
/// if pods were offered with ports that the snapshot does not show: the counts believed them.
std::optional<victim_set> placed(const victim_question& q, priced_set x) {
  victim_room room{q.where};
  for (const auto u : q.leaving)
    room.remove(q.how.units[u]);
  for (const auto u : x.units)
    room.remove(q.how.units[u]);
  auto found = place_in(q, room.now(), q.how.bounds);
  if (found.what != verdict::placed)
    return std::nullopt;
  return victim_set{std::move(x.units), std::move(found.where), std::move(x.cost)};
}

} // namespace

least_answer search_counted(const victim_question& q, const snapshot& base) {
  victim_counts room{q, base};
  least_answer out;
  const auto domains = rank(q, room, out);
  if (domains.empty())
    return out;
  std::optional<priced_set> best;
  auto steps = q.how.set_steps;
  std::optional<weight> open; // the least bound of what was not searched to the end
  const auto leave_open = [&open](const weight& bound) {
    if (!open || compare(bound, *open) < 0)
      open = bound;
  };
  std::uint32_t tried = 0;
  for (const auto& d : domains) {
    const bool is_excluded = best && compare(d.bound, best->cost) >= 0;
    if (is_excluded && out.others.size() >= q.how.alternatives)
      break; // and so are all that follow
    if (tried++ == q.how.bounds.domains_tried) {
      leave_open(d.bound);
      break;
    }
    auto found = victim_greedy{q, room, d.number, q.gang.required}.run(d.bound);
    ensure(found.has_value(), d.number);
    const auto limit = found->cost;
    bool is_least = compare(found->cost, d.bound) == 0;
    if (!is_least && !is_excluded) {
      // The search prunes by the best of all domains; if it ends, that is the least here, too.
      auto target = best && compare(best->cost, found->cost) < 0 ? *best : *found;
      is_least = victim_exact{q, room, d.number, q.gang.required}.run(target, steps);
      if (compare(target.cost, limit) < 0 && !(best && target.units == best->units))
        *found = std::move(target);
    }
    if (!is_least)
      leave_open(d.bound);
    if (best && compare(found->cost, best->cost) >= 0) {
      out.others.push_back(std::move(*found));
      continue;
    }
    if (best)
      out.others.push_back(std::move(*best));
    best = std::move(*found);
  }
  out.bound = open && compare(*open, best->cost) < 0 ? *open : best->cost;
  out.best = placed(q, std::move(*best));
  out.is_sure = out.best.has_value();
  return out;
}

} // namespace tutti::placement::engine
