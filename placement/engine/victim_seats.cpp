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

} // namespace

victim_seats::victim_seats(const gang_spec& what, const placement& found, victim_room& room,
                           bool is_tied, workspace& memory)
    : what_(&what), found_(&found), room_(&room), is_tied_(is_tied), memory_(&memory) {
  for (const auto& s : found.seats) {
    const auto& takes = what.members[s.member].kind->takes;
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
  const auto p = read_gang(now, *what_, *memory_);
  if (!p)
    return false;
  if (!p->ties)
    return true;
  std::vector<std::uint32_t> shape_of(what_->members.size(), 0);
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

bool victim_seats::spare(const disruption_unit& x) {
  room_->put_back(x);
  const bool asks_ties = is_tied_ && std::any_of(x.pods.begin(), x.pods.end(), [](const auto& pod) {
                           return pod.ties;
                         });
  if (has_room(x) && (!asks_ties || ties_hold()))
    return true;
  room_->remove(x);
  return false;
}

} // namespace tutti::placement::engine
