// What needs no victims is answered first; then the policy chooses, and a refusal says in numbers
// what evicting everybody would have given.
#include "placement/engine/victims.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/victim_counts.hpp"
#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {

using base::reason_code;

room_answer place_in(const victim_case& q, const snapshot& room, const options& bounds) {
  // Only what is read of ties depends on who is there.
  std::optional<base::result<problem>> again;
  if (q.gang.ties)
    again = read_gang(room, q.what, q.memory);
  room_answer out;
  if (again && !*again)
    return out; // decided before: bound members are where they are
  const auto& p = again ? **again : q.gang;
  auto found = solve(room, p, measure::free, bounds, q.memory);
  out.what = found.what;
  out.most = found.most;
  if (found.what == verdict::placed)
    out.where = seats_of(p, std::move(found));
  return out;
}

namespace {

void remove(const victim_case& q, victim_room& room, const unit_list& units) {
  for (const auto u : units)
    room.remove(q.how.units[u]);
}

base::explanation refused(const victim_case& q, reason_code why, std::string detail) {
  base::explanation out;
  out.primary = why;
  out.nodes_seen = q.where.nodes;
  out.wanted = std::max<std::int64_t>(q.gang.required, 1);
  out.view_version = q.where.version;
  out.detail = std::move(detail);
  return out;
}

/// Why nobody could be asked to go, or how far all of them together would not reach.
base::explanation of_no_use(const victim_case& q, std::int64_t most, bool is_sure) {
  std::int64_t exempt = 0;
  for (const auto& u : q.how.units)
    exempt += u.is_exempt && !u.is_leaving && u.priority < q.how.priority;
  const auto wanted = std::max<std::int64_t>(q.gang.required, 1);
  auto detail =
      q.eligible.empty()
          ? fmt::format("preemption: no pod of a priority below {} may be evicted", q.how.priority)
      : is_sure
          ? fmt::format(
              "preemption: at most {} of {} members would fit if all {} units of a priority "
              "below {} were evicted",
              std::min(most, wanted), wanted, q.eligible.size(), q.how.priority)
          : fmt::format("preemption: no set found among {} units of a priority below {}, none "
                        "excluded",
                        q.eligible.size(), q.how.priority);
  if (exempt > 0)
    detail += fmt::format("; {} more are exempt", exempt);
  auto out = refused(q, is_sure ? reason_code::preemption_would_not_help : reason_code::undecided,
                     std::move(detail));
  out.placed = std::min(most, wanted);
  return out;
}

void add_alternatives(const victim_question& q, std::vector<priced_set> others, eviction& out) {
  std::sort(others.begin(), others.end(), [](const priced_set& a, const priced_set& b) {
    const auto x = compare(a.cost, b.cost);
    return x != 0 ? x < 0 : a.units < b.units;
  });
  for (auto& x : others) {
    if (out.alternatives.size() == q.how.alternatives)
      break;
    const bool is_known = x.units == out.units
                          || std::any_of(out.alternatives.begin(), out.alternatives.end(),
                                         [&](const auto& a) { return a.units == x.units; });
    if (!is_known)
      out.alternatives.push_back({std::move(x.units), q.book.tell(x.cost)});
  }
}

eviction tell(const victim_question& q, victim_set found, const weight& bound) {
  eviction out;
  out.cost = q.book.tell(found.cost);
  out.bound = q.book.tell(bound);
  out.is_minimum = compare(found.cost, bound) == 0;
  out.units = leaving_needed(q, found);
  out.units.insert(out.units.end(), found.units.begin(), found.units.end());
  std::sort(out.units.begin(), out.units.end());
  out.where = std::move(found.where);
  return out;
}

/// The room that all leave, and what kube-scheduler would make of it.
std::optional<victim_set> as_upstream(const victim_question& q, room_answer& emptied) {
  victim_room room{q.where};
  remove(q, room, q.leaving);
  remove(q, room, q.eligible);
  emptied = place_in(q, room.now(), q.how.bounds);
  if (emptied.what != verdict::placed)
    return std::nullopt;
  return spare_as_upstream(q, room, std::move(emptied.where));
}

eviction_answer with_upstream(const victim_question& q) {
  room_answer emptied;
  auto found = as_upstream(q, emptied);
  if (!found)
    return of_no_use(q, emptied.most, emptied.what == verdict::impossible);
  return tell(q, std::move(*found), q.book.nothing());
}

eviction_answer with_least_cost(const victim_question& q, const snapshot& base) {
  const bool by_count = is_counted(q.gang);
  auto found = by_count ? search_counted(q, base) : search_placed(q);
  if (!found.best)
    return of_no_use(q, found.most, found.is_sure);
  if (by_count && compare(found.bound, found.best->cost) < 0) {
    room_answer emptied;
    auto other = as_upstream(q, emptied);
    if (other && compare(other->cost, found.best->cost) < 0)
      std::swap(*found.best, *other);
    if (other)
      found.others.push_back({std::move(other->units), std::move(other->cost)});
  }
  auto out = tell(q, std::move(*found.best), found.bound);
  add_alternatives(q, std::move(found.others), out);
  return out;
}

/// The most equal members for which there is enough of the scarcest resource in sum, nodes aside:
/// a quick look that excludes most of what is hopeless.
std::int64_t most_in_total(const victim_case& q, const snapshot& base) {
  const auto total = [&base](dimension d, const auto& columns_of) {
    std::int64_t sum = 0;
    for (const auto& b : base.blocks)
      if (const std::vector<column>& columns = columns_of(*b); d < columns.size())
        for (const auto x : columns[d])
          sum = base::checked_add(sum, std::max<std::int64_t>(x, 0));
    return sum;
  };
  const need* scarce = nullptr;
  std::int64_t most = 0;
  for (const auto& n : q.gang.shapes[q.gang.lots.front().shape].needs) {
    const auto members = total(
                             n.what, [](const block& b) -> auto& { return b.allocatable; })
                         / n.amount;
    if (!scarce || members < most) {
      scarce = &n;
      most = members;
    }
  }
  ensure(scarce != nullptr);
  if (scarce->what >= base.dimensions())
    return 0;
  auto room = total(
      scarce->what, [](const block& b) -> auto& { return b.free; });
  for (const auto u : q.eligible)
    for (const auto& pod : q.how.units[u].pods)
      room = base::checked_add(room, amount_of(base, pod.takes.amounts, scarce->what));
  return room / scarce->amount;
}

eviction_answer search(const victim_case& q) {
  std::optional<victim_room> room; // without those who leave, if any does
  if (!q.leaving.empty())
    remove(q, room.emplace(q.where), q.leaving);
  const auto& base = room ? room->now() : q.where;
  auto now = place_in(q, base, q.how.bounds);
  if (now.what == verdict::placed && !q.leaving.empty())
    return refused(q, reason_code::waiting_for_victims,
                   "pods that are being deleted leave room for it");
  if (now.what == verdict::placed) {
    const cost_book book{q.how};
    return tell({q, book}, {{}, std::move(now.where), book.nothing()}, book.nothing());
  }
  if (q.eligible.empty())
    return of_no_use(q, now.most, now.what == verdict::impossible);
  const bool is_upstream = q.how.policy == eviction_policy::upstream;
  if (q.gang.required == 0 && !is_upstream)
    return refused(q, reason_code::preemption_would_not_help,
                   "preemption: the minimum is met, and members beyond it cost no victims");
  if (is_counted(q.gang)) {
    const auto never = solve(base, q.gang, measure::allocatable, q.how.bounds, q.memory);
    if (never.what == verdict::impossible)
      return of_no_use(q, never.most, true);
    if (const auto most = most_in_total(q, base); most < q.gang.required)
      return of_no_use(q, most, true);
  }
  const cost_book book{q.how};
  const victim_question asked{q, book};
  return is_upstream ? with_upstream(asked) : with_least_cost(asked, base);
}

} // namespace

eviction_answer plan_with_victims(const snapshot& where, const gang_spec& what,
                                  const eviction_spec& how, workspace& memory) {
  const auto gang = read_gang(where, what, memory);
  if (auto why = refused_at_once(where, what, gang))
    return std::move(*why);
  victim_case q{where, what, how, *gang, memory};
  for (std::uint32_t u = 0; u < how.units.size(); ++u) {
    if (how.units[u].is_leaving)
      q.leaving.push_back(u);
    else if (may_go(how.units[u], how))
      q.eligible.push_back(u);
  }
  if (gang->ties)
    q.tied_units = find_tied_units(q);
  return search(q);
}

} // namespace tutti::placement::engine
