// The tests behind each wake-up, cheap and never too strict.
#include "queue/wake.hpp"

#include <algorithm>

namespace tutti::queue {

bool may_fit(const gang_entry& g, const base::resources& most_free) {
  const base::shape* last = nullptr; // equal shapes often stand beside each other
  for (const auto* pod : g.members) {
    if (!pod->is_pending() || pod->kind.get() == last)
      continue;
    last = pod->kind.get();
    if (!last || base::fits(last->takes.amounts, most_free))
      return true;
  }
  return false;
}

bool may_help(const protocol::group_facts& before, const protocol::group_facts& after) {
  return after.min_count < before.min_count || after.topology_key != before.topology_key
         || after.priority > before.priority || (after.refused.empty() && !before.refused.empty())
         || (before.never_preempts && !after.never_preempts);
}

bool is_helped_by_arrivals(const base::explanation& why) {
  return std::any_of(why.rejected.begin(), why.rejected.end(), [](const base::node_count& r) {
    return r.cause.find("pod affinity") != std::string::npos
           || r.cause.find("topology spread") != std::string::npos;
  });
}

bool explains_the_rest(const base::explanation& why) {
  using base::reason_code;
  return why.primary != reason_code::none && why.primary != reason_code::bind_refused
         && why.primary != reason_code::undecided && !is_passing(why)
         && !is_helped_by_arrivals(why); // those that it has bound itself have arrived
}

bool is_passing(const base::explanation& why) {
  using base::reason_code;
  return why.primary == reason_code::view_stale || why.primary == reason_code::shard_unavailable
         || why.primary == reason_code::api_unavailable
         || why.primary == reason_code::reservation_conflict;
}

} // namespace tutti::queue
