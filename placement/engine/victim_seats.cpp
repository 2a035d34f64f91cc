// Room is compared on the unit's own nodes; only terms among pods need a look at the whole cluster.
#include "placement/engine/victim_seats.hpp"

#include <algorithm>
#include <map>

#include "base/ensure.hpp"
#include "placement/engine/slots.hpp"
#include "placement/engine/tied_state.hpp"

namespace tutti::placement::engine {
namespace {

std::uint64_t key_of(node_ref x) {
  return std::uint64_t{x.block} << 32 | x.slot;
}

/// No node has more of a shape than its caps say.
bool are_capped(const problem& p, const std::vector<tied_seat>& seats) {
  std::map<tied_seat, std::uint32_t> counts;
  for (const auto& s : seats)
    ++counts[s];
  return std::all_of(counts.begin(), counts.end(), [&](const auto& x) {
    const auto& caps = p.shapes[x.first.shape].caps;
    const auto cap = caps ? caps->now[caps->places->of(x.first.node)] : node_caps::unlimited;
    return cap == node_caps::unlimited || x.second <= cap;
  });
}

/// Any required term of the member selects the pod.
bool means(const snapshot& where, const api::pod_ties& member, const api::pod_ties& pod) {
  const auto* labels = where.labels_of_space(pod.space);
  const auto selects = [&](const api::pod_term& t) { return api::selects(t, pod, labels); };
  return std::any_of(member.affinity.begin(), member.affinity.end(), selects)
         || std::any_of(member.anti_affinity.begin(), member.anti_affinity.end(), selects)
         || std::any_of(member.spread.begin(), member.spread.end(),
                        [&](const auto& t) { return api::selects(t, member.space, pod); });
}

} // namespace

victim_seats::victim_seats(const victim_case& q, const placement& found, victim_room& room)
    : q_(&q), found_(&found), room_(&room) {
  for (const auto& s : found.seats) {
    const auto& takes = q.what.members[s.member].kind->takes;
    auto& mine = on_node_[key_of(s.node)];
    mine.amounts += takes.amounts;
    mine.amounts.pods += takes.amounts.pods < 1 ? 1 - takes.amounts.pods : 0;
    mine.ports.insert(mine.ports.end(), takes.ports.begin(), takes.ports.end());
  }
}

bool victim_seats::has_room(const disruption_unit& x) const {
  const auto& now = room_->unsummed();
  return std::all_of(x.pods.begin(), x.pods.end(), [&](const evictable_pod& pod) {
    const auto pos = on_node_.find(key_of(pod.node));
    return pos == on_node_.end()
           || (base::fits(pos->second.amounts, free_of(now, pod.node))
               && !ports_collide(now.at(pod.node).ports[pod.node.slot], pos->second.ports));
  });
}

bool victim_seats::ties_hold() {
  const auto& now = room_->now();
  const auto p = read_gang(now, q_->what, q_->memory);
  if (!p)
    return false;
  if (!p->ties)
    return true;
  std::vector<std::uint32_t> shape_of(q_->what.members.size(), 0);
  for (const auto& l : p->lots)
    for (const auto m : l.members)
      shape_of[m] = l.shape;
  tied_state state{*p->ties, measure::free};
  std::vector<tied_seat> seats;
  for (const auto& s : found_->seats) {
    const tied_seat mine{shape_of[s.member], s.node};
    if (!state.keeps_apart(mine.shape, mine.node))
      return false;
    state.place(mine);
    seats.push_back(mine);
  }
  return are_capped(*p, seats) && state.all_even(seats) && state.can_come_in_order(seats);
}

bool victim_seats::spare(std::uint32_t unit) {
  const auto& x = q_->how.units[unit];
  room_->put_back(x);
  if (has_room(x) && (!q_->matters(unit) || ties_hold()))
    return true;
  room_->remove(x);
  return false;
}

std::vector<bool> find_tied_units(const victim_case& q) {
  const auto classes = find_tie_classes(q.where, q.what, q.memory);
  std::vector<std::shared_ptr<const api::pod_ties>> members;
  for (const auto& kind : classes.example)
    if (kind)
      members.push_back(q.memory.ties(*kind).terms);
  boost::unordered_flat_map<std::uint64_t, bool> known; // by ties id
  const auto matters = [&](const base::ties_ptr& kind) {
    const auto [pos, is_new] = known.try_emplace(kind->id.value, true);
    if (is_new)
      if (const auto pod = q.memory.ties(*kind).terms)
        pos->second = std::any_of(members.begin(), members.end(), [&](const auto& member) {
          return !member || is_kept_away(q.where, *pod, *member, {})
                 || means(q.where, *member, *pod);
        });
    return pos->second;
  };
  std::vector<bool> out(q.how.units.size(), false);
  for (std::uint32_t u = 0; u < out.size(); ++u)
    for (const auto& pod : q.how.units[u].pods)
      out[u] = out[u] || (pod.ties && matters(pod.ties));
  return out;
}

} // namespace tutti::placement::engine
