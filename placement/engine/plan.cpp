// Refuses what needs no search, searches, and turns what was found into seats.
#include "placement/engine/plan.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/explain.hpp"
#include "placement/engine/preferred_levels.hpp"
#include "placement/engine/solve.hpp"

namespace tutti::placement::engine {
namespace {

base::explanation refused(base::reason_code why, const snapshot& where, std::string detail) {
  base::explanation out;
  out.primary = why;
  out.nodes_seen = where.nodes;
  out.view_version = where.version;
  out.detail = std::move(detail);
  return out;
}

/// A minimum that the live members cannot reach, whatever the room.
const group_demand* too_few(const problem& p) {
  auto pos = std::find_if(p.groups.begin(), p.groups.end(),
                          [](const group_demand& g) { return g.pending < g.required; });
  return pos == p.groups.end() ? nullptr : &*pos;
}

bool names_gpu(base::symbol resource) {
  return resource.text().ends_with("/gpu");
}

std::shared_ptr<const policy_use> use_policy(const snapshot& where, const options& bounds) {
  auto out = std::make_shared<policy_use>();
  out->rule = bounds.rule;
  out->usual.assign(bounds.usual.begin(), bounds.usual.end());
  if (out->usual.empty())
    for (std::int64_t gpus : {1, 2, 4, 8})
      out->usual.push_back({{0, 0, gpus, whole_gpu, 0}, 0.25});
  for (dimension d = first_extended; d < where.dimensions(); ++d)
    if (names_gpu(where.extended[d - first_extended]))
      out->gpus.push_back(d);
  return out;
}

} // namespace

placement seats_of(const problem& p, solution found) {
  placement out;
  out.domains = std::move(found.domains);
  out.score = found.score;
  std::vector<std::size_t> next(p.lots.size(), 0);
  for (const auto& r : found.runs)
    for (std::uint32_t k = 0; k < r.count; ++k) {
      ensure(next[r.lot] < p.lots[r.lot].members.size(), r.lot, r.count);
      out.seats.push_back({p.lots[r.lot].members[next[r.lot]++], r.node});
    }
  std::sort(out.seats.begin(), out.seats.end(),
            [](const seat& a, const seat& b) { return a.member < b.member; });
  return out;
}

std::optional<base::explanation> refused_at_once(const snapshot& where, const gang_spec& what,
                                                 const base::result<problem>& p) {
  if (!p)
    return refused(base::reason_code::scheduler_error, where, p.error().message());
  if (const auto* g = too_few(*p)) {
    auto out = refused(base::reason_code::waiting_for_members, where,
                       what.groups[static_cast<std::size_t>(g - p->groups.data())].name);
    out.wanted = g->required;
    out.placed = g->pending;
    return out;
  }
  if (p->pending == 0)
    return refused(base::reason_code::scheduler_error, where, "no member is pending");
  for (const auto& s : p->shapes)
    if (!s.memory->view.is_readable())
      return refused(base::reason_code::scheduler_error, where,
                     "a member's requirements are written by a newer version");
  if (p->ties && !p->ties->is_readable)
    return refused(base::reason_code::scheduler_error, where,
                   "a member's terms among pods are written by a newer version");
  return std::nullopt;
}

answer plan(const snapshot& where, const gang_spec& what, const options& bounds,
            workspace& memory) {
  memory.trim();
  auto p = read_gang(where, what, memory);
  if (auto why = refused_at_once(where, what, p))
    return std::move(*why);
  if (bounds.rule)
    p->rule = use_policy(where, bounds);
  kept_levels kept;
  auto found = solve_by_levels(where, what, *p, bounds, memory, kept);
  if (found.what != verdict::placed)
    return explain(where, what, *p, found, bounds, memory);
  auto out = seats_of(*p, std::move(found));
  out.levels_kept = std::move(kept);
  ensure(!out.seats.empty() && out.seats.size() >= static_cast<std::size_t>(p->required),
         out.seats.size(), p->required);
  return out;
}

} // namespace tutti::placement::engine
