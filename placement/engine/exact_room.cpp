#include "placement/engine/exact_room.hpp"

#include <algorithm>

namespace tutti::placement::engine {

/// Members of these lots all need at least the least that one of them needs: of such pods each node
/// takes so many and no more.
bool room_count::is_bounded(std::span<const open_lot> open, std::span<const std::int64_t> spare,
                            std::span<const room_vector> left, const set& of) {
  of_group_.assign(spare.size(), 0);
  room_vector least(open[of.front()].needs.begin(), open[of.front()].needs.end());
  for (auto l : of) {
    of_group_[open[l].group] += open[l].members;
    for (std::size_t r = 0; r < least.size(); ++r)
      least[r] = std::min(least[r], open[l].needs[r]);
  }
  std::int64_t wanted = 0;
  for (std::size_t g = 0; g < spare.size(); ++g)
    wanted += std::max<std::int64_t>(of_group_[g] - spare[g], 0);
  for (std::size_t n = 0; n < left.size() && wanted > 0; ++n) {
    if (std::none_of(of.begin(), of.end(), [&](auto l) { return open[l].may_on[n] != 0; }))
      continue;
    auto most = wanted;
    for (std::size_t r = 0; r < least.size(); ++r)
      if (least[r] > 0)
        most = std::min(most, std::max<std::int64_t>(left[n][r], 0) / least[r]);
    wanted -= most;
  }
  return wanted <= 0;
}

/// The cheapest choice of members needs more of one resource than all nodes have.
bool room_count::lacks_in_sum(std::span<const open_lot> open, std::span<const std::int64_t> spare,
                              std::span<const room_vector> left, std::size_t resource) {
  of_group_.assign(spare.begin(), spare.end());
  cheapest_.clear();
  std::int64_t needed = 0;
  for (std::uint32_t l = 0; l < open.size(); ++l)
    cheapest_.emplace_back(open[l].needs[resource], l);
  std::sort(cheapest_.begin(), cheapest_.end());
  for (auto pos = cheapest_.rbegin(); pos != cheapest_.rend(); ++pos) { // the dearest are left out
    const auto& l = open[pos->second];
    const auto out = std::min(of_group_[l.group], l.members);
    of_group_[l.group] -= out;
    needed += (l.members - out) * pos->first;
  }
  for (std::size_t n = 0; n < left.size() && needed > 0; ++n)
    if (std::any_of(open.begin(), open.end(), [&](const auto& l) { return l.may_on[n] != 0; }))
      needed -= std::max<std::int64_t>(left[n][resource], 0);
  return needed > 0;
}

bool room_count::may_do(std::span<const open_lot> open, std::span<const std::int64_t> spare,
                        std::span<const room_vector> left) {
  if (open.empty())
    return true;
  const auto resources = open.front().needs.size();
  for (std::uint32_t l = 0; l < open.size(); ++l)
    if (!is_bounded(open, spare, left, {l}))
      return false;
  for (std::size_t r = 0; r < resources; ++r) {
    if (lacks_in_sum(open, spare, left, r))
      return false;
    for (const auto& as_large_as : open) { // lots that need at least as much as this one
      set of;
      for (std::uint32_t l = 0; l < open.size(); ++l)
        if (open[l].needs[r] >= as_large_as.needs[r])
          of.push_back(l);
      if (of.size() > 1 && !is_bounded(open, spare, left, of))
        return false;
    }
  }
  return true;
}

} // namespace tutti::placement::engine
