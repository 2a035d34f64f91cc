// After the decision: COMMITTED before the ack, releases, and the end of a reservation.
#include "shards/shard_role.hpp"

#include <fmt/format.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "shards/amounts.hpp"

namespace tutti::shards {

using namespace protocol;
using base::attempt_id;
using base::node_uid;

namespace {

/// What the attempt still holds, by node.
std::map<node_uid, base::footprint> held_by_node(const reservation& r) {
  std::map<node_uid, base::footprint> out;
  for (const auto& s : r.asked->seats) {
    if (!r.left.contains(s.pod))
      continue;
    auto& sum = out[s.node];
    sum.amounts += s.takes.amounts;
    sum.ports.insert(sum.ports.end(), s.takes.ports.begin(), s.takes.ports.end());
  }
  return out;
}

/// True if what is held is not there: its resources are over-used, or a port is taken twice.
bool is_over(const base::footprint& held, const base::footprint& free) {
  if (overused(held.amounts, free.amounts))
    return true;
  for (const auto& mine : held.ports) {
    int takers = 0;
    for (const auto& taken : free.ports)
      takers += collide(mine, taken) ? 1 : 0;
    if (takers > 1)
      return true;
  }
  return false;
}

} // namespace

void shard_role::hear(const commit& x) {
  ensure(x.asked != nullptr, to_text(x.attempt));
  if (x.asked->shard != how_.shard)
    return;
  take_in(x.coordinator, x.attempt.epoch, x.low_water);
  if (const auto* r = book_.find(x.attempt)) {
    if (r->is_in_doubt())
      become_committed(x.attempt, x.coordinator, x.asked);
    else
      answer_commit(x.attempt);
    return;
  }
  if (auto pos = gatherings_.find(x.attempt); pos != gatherings_.end()) {
    pos->second.is_decided = true; // we forgot our yes, and are asked again in two ways
    return;
  }
  reserve_again(x);
}

/// COMMIT for what is not known here (restart, lost disk, new owner): reserve if it can be, else
/// refuse. Says nothing while it cannot know: COMMIT is resent.
void shard_role::reserve_again(const commit& x) {
  if (!nodes_.is_fresh()) {
    out_.add(note{"shard.commit_waits", {{"attempt", to_text(x.attempt)}}});
    return;
  }
  std::optional<refusal> no;
  if (auto objection = guards_.overtaken(x.attempt, *x.asked))
    no = refuse_guard(*objection);
  for (const auto& v : x.asked->victims)
    if (auto rival = book_.rival_for_victim(x.attempt, v.pod); rival && !no)
      no = refuse_conflict(fmt::format("victim {} is named by {}", v.pod.value, to_text(*rival)),
                           {*rival});
  for (const auto& v : x.asked->victims)
    if (nodes_.is_resident(v.node, v.pod) && nodes_.find(v.node)->is_leaving() && !no)
      no = refuse_leaving(v.node);
  for (const auto& s : x.asked->seats) {
    const auto* e = nodes_.known(s.node);
    if (e == nullptr && !no)
      no = refuse_stale(fmt::format("node {} is gone", s.node.value));
    if (e != nullptr && e->is_leaving() && !no)
      no = refuse_leaving(s.node);
    if (e != nullptr && !e->is_up())
      return; // its actor comes up: asked again
  }
  if (no) {
    refuse_commit(x.attempt, std::move(*no));
    return;
  }
  gather(x.attempt,
         {.coordinator = x.coordinator, .asked = x.asked, .is_decided = true, .is_fast = false});
}

/// An ack is the disk's word: COMMITTED is durable before it leaves. On the fast path the record
/// was written in one batch with the decision.
void shard_role::become_committed(const attempt_id& attempt, base::partition_id coordinator,
                                  const slice_ptr& asked) {
  const auto* known = book_.find(attempt);
  const bool is_durable = known != nullptr && known->is_fast;
  out_.add(fault{"P3"});
  auto& r = book_.commit(attempt, coordinator, asked);
  r.is_fast = false;
  if (known == nullptr)
    r.since = now_;
  guards_.claim(attempt, *r.asked);
  guards_.raise(attempt, *r.asked);
  tell_ties(*r.asked);
  const auto how = base::is_planted(base::mutant::promise_and_ack_before_sync)
                       ? append::durability::lazy
                       : append::durability::synced;
  if (!is_durable)
    out_.add(append{committed_record{attempt, coordinator, r.asked}, how});
  for (const auto& s : r.asked->seats)
    if (nodes_.is_resident(s.node, s.pod))
      book_.settle(attempt, s.pod);
  out_.add(fault{"P4"});
  nodes_.settled(attempt);
  watch_over(attempt);
  answer_commit(attempt);
}

/// The ack says that the room is held *now*. Decided plans that collide (P11), or a node that was
/// taken by others, are not acked; the refusal is not final, for COMMIT is resent.
void shard_role::answer_commit(const attempt_id& attempt) {
  const auto* r = book_.find(attempt);
  ensure(r != nullptr && !r->is_in_doubt(), to_text(attempt));
  bool cannot_know = false;
  if (auto no = lost_room(attempt, *r, cannot_know)) {
    // Perhaps it is held for somebody who has come and gone.
    for (const auto& [node, held] : held_by_node(*r))
      ask_about(book_.on_node(node));
    refuse_commit(attempt, std::move(*no));
    return;
  }
  if (cannot_know)
    return;
  out_.tell(to_gang(attempt.gang), ack{.attempt = attempt,
                                       .shard = how_.shard,
                                       .shard_epoch = epoch_,
                                       .refused = false,
                                       .why = {}});
}

std::optional<refusal> shard_role::lost_room(const attempt_id& attempt, const reservation& r,
                                             bool& cannot_know) const {
  if (auto objection = guards_.crowded(attempt, *r.asked))
    return refuse_guard(*objection);
  for (const auto& [node, held] : held_by_node(r)) {
    const auto* e = nodes_.known(node);
    if (e == nullptr && nodes_.is_fresh())
      return refuse_stale(fmt::format("node {} is gone", node.value));
    if (e == nullptr || !e->is_up()) {
      cannot_know = true; // after a restart: not told yet
      continue;
    }
    if (is_over(held, *e->free) && !base::is_planted(base::mutant::ack_colliding)) {
      refusal no;
      no.why.primary = base::reason_code::insufficient_resources;
      no.why.detail = fmt::format("node {} has promised more than it has", node.value);
      for (const auto& other : book_.on_node(node))
        if (other != attempt)
          no.holders.push_back(other);
      return no;
    }
  }
  return std::nullopt;
}

bool shard_role::is_crowded(const reservation& r, const node_uid& node) const {
  const auto* e = nodes_.known(node);
  if (e == nullptr || !e->free)
    return false;
  base::footprint held;
  for (const auto& s : r.asked->seats)
    if (s.node == node && r.left.contains(s.pod)) {
      held.amounts += s.takes.amounts;
      held.ports.insert(held.ports.end(), s.takes.ports.begin(), s.takes.ports.end());
    }
  return is_over(held, *e->free);
}

void shard_role::refuse_commit(const attempt_id& attempt, refusal why) {
  nodes_.settled(attempt);
  out_.add(note{"shard.commit_refused",
                {{"shard", std::int64_t{how_.shard.value}},
                 {"attempt", to_text(attempt)},
                 {"detail", why.why.detail}}});
  out_.tell(to_gang(attempt.gang), ack{.attempt = attempt,
                                       .shard = how_.shard,
                                       .shard_epoch = epoch_,
                                       .refused = true,
                                       .why = std::move(why.why)});
}

/// Rule 7c. The members were cancelled durably and touched; their still running victims count again
/// in the same step of the node. Answered also for what is not held: it is resent until answered.
void shard_role::hear(const release& x) {
  if (auto pos = gatherings_.find(x.attempt); pos != gatherings_.end())
    return; // being reserved again: the release is resent, and finds it then
  if (const auto* r = book_.find(x.attempt)) {
    std::vector<base::pod_uid> pods = x.pods;
    if (pods.empty())
      for (const auto& s : r->asked->seats)
        pods.push_back(s.pod);
    std::map<node_uid, std::vector<base::pod_uid>> by_node;
    std::vector<base::pod_uid> freed;
    for (const auto& pod : pods)
      if (auto node = book_.settle(x.attempt, pod)) {
        by_node[*node].push_back(pod);
        freed.push_back(pod);
      }
    if (!freed.empty())
      tell_ties(*r->asked);
    if (!freed.empty())
      out_.add(append{released_record{x.attempt, freed}, append::durability::lazy});
    for (auto& [node, gone] : by_node)
      if (nodes_.known(node) != nullptr)
        out_.tell(to_node(node), let_go{x.attempt, std::move(gone)});
    nodes_.settled(x.attempt);
    if (r->is_finished && r->left.empty())
      finish_attempt(x.attempt);
  }
  out_.tell(to_gang(x.attempt.gang), released{x.attempt, how_.shard, x.pods});
}

void shard_role::hear(const finish& x) {
  if (book_.find(x.attempt) != nullptr)
    finish_attempt(x.attempt);
  else if (auto pos = gatherings_.find(x.attempt); pos != gatherings_.end())
    pos->second.is_finished = true; // held until its pods are seen, like any other that is over
}

void shard_role::hear(const inquiry_answer& x) {
  const auto* r = book_.find(x.attempt);
  if (r == nullptr)
    return;
  // The owner knows nothing of this attempt any more. If it was committed here, it is not undone
  // but over: its record was forgotten, or a later ordinal stands in its place.
  if (x.done || !r->is_in_doubt())
    finish_attempt(x.attempt);
  else
    give_up(x.attempt);
}

/// DONE is durable: what is still held belongs to pods that are bound or gone, and the API server
/// will say which. Only then is the room given up.
void shard_role::finish_attempt(const attempt_id& attempt) {
  auto* r = book_.find(attempt);
  ensure(r != nullptr, to_text(attempt));
  if (r->is_in_doubt()) { // COMMIT never came through, yet it was decided and is over
    guards_.raise(attempt, *r->asked);
    out_.add(append{committed_record{attempt, r->coordinator, r->asked}, append::durability::lazy});
    book_.commit(attempt, r->coordinator, r->asked);
  }
  r->is_finished = true;
  if (r->left.empty()) {
    out_.add(append{released_record{attempt, {}}, append::durability::lazy});
    forget(attempt);
    return;
  }
  watch_over(attempt);
}

/// The reservation ends here, whatever its state; its nodes hear of it.
void shard_role::forget(const attempt_id& attempt) {
  const auto* r = book_.find(attempt);
  ensure(r != nullptr, to_text(attempt));
  std::set<node_uid> nodes;
  for (const auto& s : r->asked->seats)
    nodes.insert(s.node);
  for (const auto& node : nodes)
    if (nodes_.known(node) != nullptr)
      out_.tell(to_node(node), let_go{attempt, {}});
  const auto asked = r->asked;
  guards_.drop(attempt, *asked, true);
  stop_watching(attempt);
  book_.forget(attempt);
  tell_ties(*asked);
  nodes_.settled(attempt);
}

} // namespace tutti::shards
