// Nodes and pods as the mirror tells them, the node actors, and the view for the topology.
#include "shards/shard_role.hpp"

#include <utility>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "protocol/sharding.hpp"
#include "shards/amounts.hpp"

namespace tutti::shards {

using namespace protocol;
using base::attempt_id;
using base::node_uid;

namespace {

void tell_pressure(effects& out, const pressure& what) {
  out.add(note{"shard.pressure", {{"attempt", to_text(what.attempt)}, {"node", what.node.value}}});
  out.tell(to_gang(what.attempt.gang), what);
}

} // namespace

void shard_role::hear(const node_seen& x) {
  take_node(x.facts, 0);
}

/// Its label names another shard. What is promised here stays here to its end: only this shard can
/// answer for it.
void shard_role::hear(const node_leaves& x) {
  ensure(x.move != 0);
  take_node(x.facts, x.move);
}

void shard_role::take_node(const node_facts_ptr& facts, std::uint64_t move) {
  ensure(facts != nullptr);
  const auto* known = nodes_.known(facts->uid);
  const bool is_same = known != nullptr && *known->facts == *facts;
  if (nodes_.seen(facts, move))
    begin_node(facts->uid);
  else if (!is_same && !base::is_planted(base::mutant::keep_old_size))
    out_.tell(to_node(facts->uid), node_changed{facts});
}

void shard_role::hear(const node_gone& x) {
  lose_node(x.uid);
}

/// A new node actor, or the successor of one that died: it gets all that it may not forget before
/// anything else is sent there.
void shard_role::begin_node(const node_uid& node) {
  const auto* e = nodes_.known(node);
  ensure(e != nullptr, node.value);
  node_begin begin{.facts = e->facts, .residents = {}, .reservations = {}};
  for (const auto& [pod, takes] : e->residents)
    begin.residents.push_back({{pod.text()}, *takes});
  for (const auto& attempt : book_.on_node(node)) {
    const auto* r = book_.find(attempt);
    hold again{attempt, {}, {}, 0};
    for (const auto& s : r->asked->seats)
      if (s.node == node && r->left.contains(s.pod))
        again.seats.push_back(s);
    for (const auto& v : r->asked->victims)
      if (v.node == node)
        again.victims.push_back(v);
    if (!base::is_planted(base::mutant::begin_node_empty))
      begin.reservations.push_back(std::move(again));
  }
  out_.add(host{to_node(node)});
  out_.tell(to_node(node), std::move(begin));
}

void shard_role::lose_node(const node_uid& node) {
  if (nodes_.find(node) == nullptr)
    return;
  const bool was_known = nodes_.known(node) != nullptr;
  nodes_.gone(node);
  fail_gatherings_on(node);
  for (const auto& attempt : book_.on_node(node))
    tell_pressure(out_, {attempt, how_.shard, node});
  if (was_known)
    out_.tell(to_node(node), node_gone{node});
}

/// Promised, or about to be: seats that are held or asked for, victims that are still here.
bool shard_role::is_promised(const node_uid& node) const {
  if (!book_.on_node(node).empty())
    return true;
  for (const auto& [attempt, g] : gatherings_)
    if (g.waiting.contains(node) || g.holding.contains(node))
      return true;
  const auto* e = nodes_.find(node);
  if (e != nullptr)
    for (const auto& [pod, takes] : e->residents)
      if (book_.rival_for_victim({}, {pod.text()}))
        return true;
  return false;
}

/// A node that leaves is let go by the mirror, not here: until its `node_gone` comes it may return.
/// From here on nothing is promised on it, so what was said stays true.
void shard_role::tell_idle() {
  const auto leaving = nodes_.leaving();
  for (const auto& node : leaving)
    if (!is_promised(node)) {
      out_.tell(to(role_kind::mirror), node_idle{node, nodes_.known(node)->move});
      nodes_.say_idle(node);
    }
}

/// Nothing new is promised before the view is fresh again, so what is held or asked for now is all
/// there is to say.
void shard_role::tell_held() {
  auto nodes = book_.nodes();
  for (const auto& [attempt, g] : gatherings_) {
    for (const auto& s : g.asked->seats)
      nodes.insert(s.node);
    for (const auto& v : g.asked->victims)
      nodes.insert(v.node);
  }
  out_.tell(to(role_kind::mirror), nodes_held{how_.shard, {nodes.begin(), nodes.end()}});
}

/// The slices that wait for this node's word, or have it from a life that is over, are refused.
void shard_role::fail_gatherings_on(const node_uid& node) {
  std::vector<attempt_id> complete;
  for (auto& [attempt, g] : gatherings_)
    if (g.waiting.erase(node) + g.holding.erase(node) > 0) {
      g.lost.push_back(node);
      if (g.is_complete())
        complete.push_back(attempt);
    }
  for (const auto& attempt : complete)
    conclude(attempt);
}

void shard_role::on_child_died(const node_uid& node) {
  if (nodes_.known(node) == nullptr)
    return; // it was gone, and has ended
  out_.add(note{"shard.node_actor_died", {{"node", node.value}}});
  nodes_.say_down(node);
  fail_gatherings_on(node);
  begin_node(node);
}

void shard_role::hear(const pod_arrived& x) {
  bool is_same = false;
  if (const auto* old = nodes_.find(x.node)) {
    const auto* before = old->residents.find(base::packed_uid{x.pod.value});
    is_same = before != nullptr && *before == x.takes;
  }
  nodes_.arrived(x);
  if (nodes_.known(x.node) != nullptr && !is_same)
    out_.tell(to_node(x.node), x);
  for (const auto& attempt : book_.of_pod(x.pod)) // promised with other labels than it comes with
    for (const auto& s : book_.find(attempt)->asked->seats)
      if (s.pod == x.pod && s.ties && x.ties && s.ties->id != x.ties->id)
        nodes_.touch(x.node);
  consume(x.pod, x.node);
}

void shard_role::hear(const pod_left& x) {
  const bool was_here = nodes_.is_resident(x.node, x.pod);
  nodes_.left(x);
  if (nodes_.known(x.node) != nullptr && was_here)
    out_.tell(to_node(x.node), x);
  if (!base::is_planted(base::mutant::hold_for_the_gone))
    consume(x.pod, x.node);
}

/// A held pod was seen bound (here or elsewhere) or gone: its room is the pod's own, or nobody's.
/// Nothing is written, for the next list shows the same.
void shard_role::consume(const base::pod_uid& pod, const node_uid& told_node) {
  for (const auto& attempt : book_.of_pod(pod)) {
    out_.add(fault{"P5"});
    const auto held_on = book_.settle(attempt, pod);
    ensure(held_on.has_value(), to_text(attempt), pod.value);
    // The node that was told knows by itself, unless it was never told that the pod came.
    if (nodes_.known(*held_on) != nullptr
        && (*held_on != told_node || !nodes_.is_resident(told_node, pod)))
      out_.tell(to_node(*held_on), let_go{attempt, {pod}});
    const auto* r = book_.find(attempt);
    if (r->is_finished && r->left.empty())
      finish_attempt(attempt);
  }
}

void shard_role::hear(const guards_seen& x) {
  guards_.learn(x.guards);
}

void shard_role::hear(const view_trust& x) {
  const bool was_fresh = nodes_.is_fresh();
  nodes_.trust(x);
  if (!x.fresh && x.is_anew)
    tell_held();
  const auto missing = nodes_.untold();
  for (const auto& pod : missing.pods)
    hear(pod);
  for (const auto& node : missing.nodes)
    lose_node(node);
  if (!was_fresh && nodes_.is_fresh()) { // what happened while nobody looked was told to nobody
    std::vector<attempt_id> all;
    for (const auto& [attempt, r] : book_.all())
      all.push_back(attempt);
    ask_about(all);
  }
}

void shard_role::hear(const view_wanted&) {
  is_view_wanted_ = true;
}

void shard_role::hear(const room& x) {
  nodes_.say_free(x.node, x.free);
  press(x.node);
}

/// F21, F23: what is held here is not there any more. Undecided attempts are to be aborted, decided
/// ones learn it early; S1b stops their Bindings anyway. Told once per attempt while it lasts.
void shard_role::press(const node_uid& node) {
  auto* e = nodes_.find(node);
  if (e == nullptr || !e->free)
    return;
  if (e->free->ports.size() < 2 && e->free->amounts == positive(e->free->amounts)) {
    e->pressed.clear();
    return;
  }
  std::set<attempt_id> crowded;
  for (const auto& attempt : book_.on_node(node)) {
    if (!is_crowded(*book_.find(attempt), node))
      continue;
    crowded.insert(attempt);
    if (!e->pressed.contains(attempt))
      tell_pressure(out_, {attempt, how_.shard, node});
  }
  e->pressed = std::move(crowded);
}

/// From a gang, where the node's own actor was not to be found, or not yet.
void shard_role::hear(const may_bind& x) {
  const auto* e = nodes_.known(x.node);
  if (e != nullptr && e->is_up()) {
    out_.tell(to_node(x.node), x);
    return;
  }
  out_.tell(to_gang(x.attempt.gang), may_bind_answer{.attempt = x.attempt,
                                                     .node = x.node,
                                                     .allowed = {},
                                                     .refused = x.pods,
                                                     .is_gone = e == nullptr && nodes_.is_fresh()});
}

void shard_role::tell_view() {
  const bool is_beat = std::exchange(is_beat_due_, false);
  if (!is_started_ || !nodes_.has_been_whole())
    return;
  view_delta told;
  if (std::exchange(is_view_wanted_, false)) {
    std::vector<attempt_id> live;
    for (const auto& [attempt, r] : book_.all()) {
      live.push_back(attempt);
      tell_ties(*r.asked);
    }
    told = nodes_.take_whole(how_.shard, incarnation_, std::move(live));
  } else if (nodes_.has_news() || guards_.has_news() || is_beat) {
    told = nodes_.take_delta(how_.shard, incarnation_);
  } else {
    return;
  }
  add_guards(told);
  add_ties(told);
  out_.add(send{to(role_kind::topology), std::move(told), true});
}

/// What a plan must quote (S15): all known guards with a whole view, the news with a delta.
void shard_role::add_guards(view_delta& to) {
  to.guards_from = guards_.floor();
  to.guards_known = guards_.known();
  to.guards = guards_.take_news(to.is_whole);
}

/// Promised pods count like those that run: whoever is told of a guard's version is told of the
/// pods that it covers in the same delta.
void shard_role::tell_ties(const slice& asked) {
  for (const auto& s : asked.seats)
    if (s.ties)
      nodes_.touch(s.node);
}

void shard_role::add_ties(view_delta& to) const {
  for (auto& node : to.nodes) {
    const auto* e = nodes_.known(node.uid);
    if (e == nullptr)
      continue;
    std::map<base::packed_uid, base::ties_ptr> all{e->ties.begin(), e->ties.end()};
    if (!base::is_planted(base::mutant::hide_promised_ties))
      for (const auto& attempt : book_.on_node(node.uid)) {
        const auto* r = book_.find(attempt);
        for (const auto& s : r->asked->seats)
          if (s.node == node.uid && s.ties && r->left.contains(s.pod))
            all.emplace(base::packed_uid{s.pod.value}, s.ties);
      }
    std::map<base::ties_id, base::tied_pods> by_kind;
    for (const auto& [pod, kind] : all) {
      auto& sum = by_kind[kind->id];
      sum.kind = kind;
      ++sum.count;
    }
    for (auto& [id, sum] : by_kind)
      node.tied.push_back(std::move(sum));
  }
}

} // namespace tutti::shards
