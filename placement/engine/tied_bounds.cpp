// Counting proves most refusals: of one rule at a time, and of members that are all equal.
#include <algorithm>
#include <map>

#include "placement/engine/tied_search.hpp"

namespace tutti::placement::engine {
namespace {

/// Slots of a shape by domain of a key, in a part of the cluster. Nodes without the key are left
/// out; `outside` counts them.
struct domain_slots {
  std::vector<std::int64_t> slots;
  std::int64_t outside = 0;
};

template <class Take>
void each_node_with_slots(trial& on, std::uint32_t shape, const domain_view& domain, Take take) {
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    const auto& counts = on.slots(shape, domain.blocks[i]);
    for (std::uint32_t slot = 0; slot < counts.slots.size(); ++slot)
      if (counts.slots[slot] > 0 && domain.has(i, slot))
        take(node_ref{domain.blocks[i], slot}, std::int64_t{counts.slots[slot]});
  }
}

domain_slots slots_by(trial& on, std::uint32_t shape, const domain_view& domain,
                      const key_map& key) {
  domain_slots out{std::vector<std::int64_t>(key.domains(), 0), 0};
  each_node_with_slots(on, shape, domain, [&](node_ref node, std::int64_t slots) {
    const auto d = key.of(node);
    (d == no_domain ? out.outside : out.slots[d]) += slots;
  });
  return out;
}

bool is_raised_by(const tied_problem& t, std::uint32_t counter, std::uint32_t shape) {
  const auto& list = t.rules[shape].raises;
  return std::binary_search(list.begin(), list.end(), counter);
}

bool is_raised_by_others(const tied_problem& t, std::uint32_t counter, std::uint32_t shape) {
  for (std::uint32_t other = 0; other < t.rules.size(); ++other)
    if (other != shape && is_raised_by(t, counter, other))
      return true;
  return false;
}

/// Members that keep each other away: one per domain.
std::int64_t most_apart(const domain_slots& x) {
  return std::count_if(x.slots.begin(), x.slots.end(), [](std::int64_t n) { return n > 0; })
         + x.outside;
}

/// Members of one spread, raised evenly: the least count ends as high as the poorest domain lets
/// it, and no other domain gets further than the skew above that.
std::int64_t most_even(const tied_state& state, std::uint32_t number, const domain_slots& x) {
  const auto& rule = state.problem().spreads[number];
  std::int64_t least = -1;
  for (std::uint32_t d = 0; d < x.slots.size(); ++d)
    if (rule.eligible[d]) {
      const auto end = state.in_domain(rule.counter, d) + x.slots[d];
      least = least < 0 ? end : std::min(least, end);
    }
  if (least < 0 || rule.least_is_zero)
    least = 0;
  std::int64_t out = 0;
  for (std::uint32_t d = 0; d < x.slots.size(); ++d) {
    const auto room = least + rule.max_skew - state.in_domain(rule.counter, d);
    out += std::clamp<std::int64_t>(room, 0, x.slots[d]);
  }
  return out;
}

/// Nobody is there yet whom the members must be near, and nobody comes but they themselves: all
/// follow the first.
std::int64_t most_near(trial& on, const tied_state& state, std::uint32_t shape,
                       const domain_view& domain) {
  std::map<std::vector<std::uint32_t>, std::int64_t> slots;
  std::int64_t most = 0;
  each_node_with_slots(on, shape, domain, [&](node_ref node, std::int64_t n) {
    std::vector<std::uint32_t> at;
    for (auto c : state.problem().rules[shape].near)
      at.push_back(state.problem().counters[c].key->of(node));
    most = std::max(most, slots[at] += n);
  });
  return most;
}

} // namespace

std::int64_t most_tied(trial& on, const tied_state& state, const lot& l,
                       const domain_view& domain) {
  auto most = static_cast<std::int64_t>(
      std::min<std::uint64_t>(on.slots_in(l.shape, domain), l.members.size()));
  const auto& t = state.problem();
  const auto& rules = t.rules[l.shape];
  if (rules.is_fixed || most == 0)
    return most;
  for (auto c : rules.forbidden)
    if (is_raised_by(t, c, l.shape))
      most = std::min(most, most_apart(slots_by(on, l.shape, domain, *t.counters[c].key)));
  for (auto r : rules.spread) {
    const auto& rule = t.spreads[r];
    if (rule.counts_itself && !is_raised_by_others(t, rule.counter, l.shape))
      most = std::min(
          most, most_even(state, r, slots_by(on, l.shape, domain, *t.counters[rule.counter].key)));
  }
  const bool follows_itself = state.wants_near(l.shape) && state.may_be_first(l.shape)
                              && std::none_of(rules.near.begin(), rules.near.end(), [&](auto c) {
                                   return is_raised_by_others(t, c, l.shape);
                                 });
  if (follows_itself)
    most = std::min(most, most_near(on, state, l.shape, domain));
  return most;
}

} // namespace tutti::placement::engine
