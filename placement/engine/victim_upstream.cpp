// The rule of kube-scheduler: place as if all lower ones were gone, then spare whom it can (P-12).
#include <algorithm>

#include "base/ensure.hpp"
#include "placement/engine/victim_search.hpp"
#include "placement/engine/victim_seats.hpp"

namespace tutti::placement::engine {
namespace {

/// P-10.
bool is_more_important(const disruption_unit& a, const disruption_unit& b) {
  if (a.priority != b.priority)
    return a.priority > b.priority;
  if (a.is_group != b.is_group)
    return a.is_group;
  if (a.pods.size() != b.pods.size())
    return a.pods.size() > b.pods.size();
  if (a.started_ms != b.started_ms)
    return a.started_ms < b.started_ms;
  return a.pods.front().pod < b.pods.front().pod;
}

/// P-9 and P-11, read backwards: those that exceed a budget first, each part from the most
/// important down.
unit_list order_of_sparing(const eviction_spec& how, unit_list units) {
  std::sort(units.begin(), units.end(), [&](auto a, auto b) {
    const auto& x = how.units[a];
    const auto& y = how.units[b];
    return is_more_important(x, y) || (!is_more_important(y, x) && a < b);
  });
  std::vector<std::int64_t> left;
  for (const auto& b : how.budgets)
    left.push_back(b.allowed);
  std::vector<bool> exceeds(how.units.size(), false);
  for (const auto u : units)
    for (const auto& pod : how.units[u].pods)
      for (const auto b : pod.budgets)
        if (b < left.size() && --left[b] < 0)
          exceeds[u] = true;
  std::stable_partition(units.begin(), units.end(), [&](auto u) { return exceeds[u]; });
  return units;
}

} // namespace

victim_set spare(const victim_question& q, victim_room& room, placement where,
                 const unit_list& order) {
  victim_set out{{}, std::move(where), {}};
  victim_seats seats{q, out.where, room};
  for (const auto u : order)
    if (!seats.spare(u))
      out.units.push_back(u);
  std::sort(out.units.begin(), out.units.end());
  out.cost = q.book.of(out.units);
  return out;
}

victim_set spare_as_upstream(const victim_question& q, victim_room& room, placement where) {
  return spare(q, room, std::move(where), order_of_sparing(q.how, q.eligible));
}

unit_list leaving_needed(const victim_question& q, const victim_set& x) {
  if (q.leaving.empty())
    return {};
  victim_room room{q.where};
  for (const auto u : q.leaving)
    room.remove(q.how.units[u]);
  for (const auto u : x.units)
    room.remove(q.how.units[u]);
  victim_seats seats{q, x.where, room};
  unit_list out;
  for (const auto u : q.leaving)
    if (!seats.spare(u))
      out.push_back(u);
  return out;
}

} // namespace tutti::placement::engine
