// The states of a promise, and the look-ups by pod, node and victim.
#include "shards/reservations.hpp"

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::shards {
namespace {

using base::attempt_id;
using base::node_uid;
using base::pod_uid;
using state = reservation_state;

void move(reservation& r, state to) {
  ensure(may_move(r.state, to), name_of(r.state), name_of(to));
  r.state = to;
}

} // namespace

std::string_view name_of(reservation_state x) {
  switch (x) {
  case state::absent:
    return "absent";
  case state::prepared:
    return "prepared";
  case state::committed:
    return "committed";
  case state::consumed:
    return "consumed";
  case state::released:
    return "released";
  }
  return "?";
}

reservation* reservation_book::find(const attempt_id& attempt) {
  auto pos = all_.find(attempt);
  return pos == all_.end() ? nullptr : &pos->second;
}

const reservation* reservation_book::find(const attempt_id& attempt) const {
  auto pos = all_.find(attempt);
  return pos == all_.end() ? nullptr : &pos->second;
}

reservation& reservation_book::open(const attempt_id& attempt, base::partition_id coordinator,
                                    protocol::slice_ptr asked) {
  ensure(asked != nullptr, attempt.gang.value);
  auto& r = all_[attempt];
  ensure(r.state == state::absent, name_of(r.state), attempt.gang.value);
  r.coordinator = coordinator;
  r.asked = std::move(asked);
  for (const auto& s : r.asked->seats)
    if (r.left.emplace(s.pod, s.node).second) {
      by_pod_.emplace(s.pod, attempt);
      ++by_node_[s.node][attempt];
    }
  name_victims(attempt, *r.asked);
  return r;
}

reservation& reservation_book::prepare(const attempt_id& attempt, base::partition_id coordinator,
                                       protocol::slice_ptr asked) {
  auto& r = open(attempt, coordinator, std::move(asked));
  move(r, state::prepared);
  return r;
}

reservation& reservation_book::commit(const attempt_id& attempt, base::partition_id coordinator,
                                      protocol::slice_ptr asked) {
  auto* known = find(attempt);
  auto& r = known != nullptr ? *known : open(attempt, coordinator, std::move(asked));
  move(r, state::committed);
  if (r.left.empty())
    move(r, state::consumed);
  return r;
}

std::optional<node_uid> reservation_book::settle(const attempt_id& attempt, const pod_uid& pod) {
  auto* r = find(attempt);
  if (r == nullptr)
    return std::nullopt;
  auto pos = r->left.find(pod);
  if (pos == r->left.end())
    return std::nullopt;
  auto where = pos->second;
  r->left.erase(pos);
  by_pod_.erase({pod, attempt});
  auto on = by_node_.find(where);
  ensure(on != by_node_.end(), where.value);
  if (auto count = on->second.find(attempt); --count->second == 0)
    on->second.erase(count);
  if (on->second.empty())
    by_node_.erase(on);
  if (r->left.empty() && r->state == state::committed)
    move(*r, state::consumed);
  return where;
}

void reservation_book::forget(const attempt_id& attempt) {
  auto* r = find(attempt);
  ensure(r != nullptr, attempt.gang.value);
  while (!r->left.empty()) {
    const auto pod = r->left.begin()->first;
    settle(attempt, pod);
  }
  drop_victims(attempt, *r->asked);
  move(*r, state::released);
  all_.erase(attempt);
}

std::vector<attempt_id> reservation_book::of_pod(const pod_uid& pod) const {
  std::vector<attempt_id> out;
  for (auto pos = by_pod_.lower_bound({pod, attempt_id{}});
       pos != by_pod_.end() && pos->first == pod; ++pos)
    out.push_back(pos->second);
  return out;
}

std::vector<attempt_id> reservation_book::on_node(const node_uid& node) const {
  std::vector<attempt_id> out;
  if (auto pos = by_node_.find(node); pos != by_node_.end())
    for (const auto& [attempt, seats] : pos->second)
      out.push_back(attempt);
  return out;
}

std::set<node_uid> reservation_book::nodes() const {
  std::set<node_uid> found;
  for (const auto& [node, attempts] : by_node_)
    found.insert(node);
  for (const auto& [attempt, r] : all_)
    for (const auto& v : r.asked->victims)
      found.insert(v.node);
  return found;
}

void reservation_book::name_victims(const attempt_id& attempt, const protocol::slice& asked) {
  for (const auto& v : asked.victims)
    victims_.emplace(v.pod, attempt);
}

void reservation_book::drop_victims(const attempt_id& attempt, const protocol::slice& asked) {
  for (const auto& v : asked.victims)
    victims_.erase({v.pod, attempt});
}

std::optional<attempt_id> reservation_book::rival_for_victim(const attempt_id& attempt,
                                                             const pod_uid& pod) const {
  for (auto pos = victims_.lower_bound({pod, attempt_id{}});
       pos != victims_.end() && pos->first == pod; ++pos)
    if (pos->second != attempt && !base::is_planted(base::mutant::share_a_victim))
      return pos->second;
  return std::nullopt;
}

std::vector<pod_uid> reservation_book::named_victims() const {
  std::vector<pod_uid> out;
  for (const auto& [pod, attempt] : victims_)
    if (out.empty() || out.back() != pod)
      out.push_back(pod);
  return out;
}

} // namespace tutti::shards
