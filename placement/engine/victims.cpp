// What needs no victims is answered first; then the policy chooses, and a refusal says in numbers
// what evicting everybody would have given.
#include "placement/engine/victims.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {

using base::reason_code;

room_answer place_in(const victim_question& q, const snapshot& room) {
  const auto p = read_gang(room, q.what, q.memory);
  room_answer out;
  if (!p)
    return out; // decided before: bound members are where they are
  auto found = solve(room, *p, measure::free, q.how.bounds, q.memory);
  out.what = found.what;
  out.most = found.most;
  if (found.what == verdict::placed)
    out.where = seats_of(*p, std::move(found));
  return out;
}

namespace {

void remove(const victim_question& q, victim_room& room, const unit_list& units) {
  for (const auto u : units)
    room.remove(q.how.units[u]);
}

base::explanation refused(const victim_question& q, reason_code why, std::string detail) {
  base::explanation out;
  out.primary = why;
  out.nodes_seen = q.where.nodes;
  out.wanted = std::max<std::int64_t>(q.gang.required, 1);
  out.view_version = q.where.version;
  out.detail = std::move(detail);
  return out;
}

/// Why nobody could be asked to go, or how far all of them together would not reach.
base::explanation of_no_use(const victim_question& q, const room_answer& emptied) {
  std::int64_t exempt = 0;
  for (const auto& u : q.how.units)
    exempt += u.is_exempt && !u.is_leaving && u.priority < q.how.priority;
  auto detail =
      q.eligible.empty()
          ? fmt::format("preemption: no pod of a priority below {} may be evicted", q.how.priority)
          : fmt::format("preemption: {} of {} members would fit if all {} units of a priority "
                        "below {} were evicted",
                        std::min(emptied.most, q.gang.required),
                        std::max<std::int64_t>(q.gang.required, 1), q.eligible.size(),
                        q.how.priority);
  if (exempt > 0)
    detail += fmt::format("; {} more are exempt", exempt);
  auto out = refused(q,
                     emptied.what == verdict::undecided ? reason_code::undecided
                                                        : reason_code::preemption_would_not_help,
                     std::move(detail));
  out.placed = std::min(emptied.most, out.wanted);
  return out;
}

eviction tell(const victim_question& q, victim_set found, const weight& bound) {
  eviction out;
  out.units = leaving_needed(q, found);
  out.units.insert(out.units.end(), found.units.begin(), found.units.end());
  std::sort(out.units.begin(), out.units.end());
  out.where = std::move(found.where);
  out.cost = q.book.tell(found.cost);
  out.bound = q.book.tell(bound);
  out.is_minimum = compare(found.cost, bound) == 0;
  return out;
}

eviction_answer search(const victim_question& q) {
  victim_room room{q.where};
  remove(q, room, q.leaving);
  auto emptied = place_in(q, room.now());
  if (emptied.what == verdict::placed) {
    if (!q.leaving.empty())
      return refused(q, reason_code::waiting_for_victims,
                     "pods that are being deleted leave room for it");
    return tell(q, {{}, std::move(emptied.where), weight(q.book.terms(), 0)},
                weight(q.book.terms(), 0));
  }
  if (q.eligible.empty())
    return of_no_use(q, emptied);
  remove(q, room, q.eligible);
  emptied = place_in(q, room.now());
  if (emptied.what != verdict::placed)
    return of_no_use(q, emptied);
  return tell(q, spare_in_order(q, room, std::move(emptied.where)), weight(q.book.terms(), 0));
}

} // namespace

eviction_answer plan_with_victims(const snapshot& where, const gang_spec& what,
                                  const eviction_spec& how, workspace& memory) {
  const auto gang = read_gang(where, what, memory);
  if (auto why = refused_at_once(where, what, gang))
    return std::move(*why);
  const cost_book book{how};
  victim_question q{where, what, how, *gang, book, memory};
  for (std::uint32_t u = 0; u < how.units.size(); ++u) {
    if (how.units[u].is_leaving)
      q.leaving.push_back(u);
    else if (may_go(how.units[u], how))
      q.eligible.push_back(u);
  }
  return search(q);
}

} // namespace tutti::placement::engine
