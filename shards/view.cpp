// Nodes as told by mirror and actors, and deltas of what is news.
#include "shards/view.hpp"

#include <utility>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::shards {

using base::node_uid;
using base::pod_uid;
using protocol::view_delta;

node_entry* node_table::find(const node_uid& node) {
  auto pos = all_.find(node);
  return pos == all_.end() ? nullptr : &pos->second;
}

const node_entry* node_table::find(const node_uid& node) const {
  auto pos = all_.find(node);
  return pos == all_.end() ? nullptr : &pos->second;
}

const node_entry* node_table::known(const node_uid& node) const {
  const auto* e = find(node);
  return e != nullptr && e->facts ? e : nullptr;
}

bool node_table::is_resident(const node_uid& node, const pod_uid& pod) const {
  const auto* e = find(node);
  return e != nullptr && e->residents.contains(base::packed_uid{pod.value});
}

std::int32_t node_table::priority_of(const node_uid& node, const pod_uid& pod) const {
  const auto* e = find(node);
  if (e == nullptr)
    return 0;
  const auto pos = e->priorities.find(base::packed_uid{pod.value});
  return pos == e->priorities.end() ? 0 : pos->second;
}

bool node_table::seen(const protocol::node_facts_ptr& facts, std::uint64_t move) {
  ensure(facts != nullptr);
  untold_nodes_.erase(facts->uid);
  auto& e = all_[facts->uid];
  const bool is_new = e.facts == nullptr;
  const bool is_news = is_new || !(*e.facts == *facts) || e.is_leaving() != (move != 0);
  e.facts = facts;
  e.move = move;
  e.is_idle_told = false;
  if (move != 0)
    leaving_.insert(facts->uid);
  else
    leaving_.erase(facts->uid);
  if (is_news)
    mark(facts->uid, true);
  return is_new;
}

void node_table::mark(const node_uid& node, bool facts_are_news) {
  const auto* e = known(node);
  ensure(e != nullptr, node.value);
  if (e->free) {
    changed_[node] |= facts_are_news;
    return;
  }
  changed_.erase(node);
  silent_[node] |= facts_are_news;
}

void node_table::gone(const node_uid& node) {
  silent_.erase(node);
  tied_.erase(node);
  leaving_.erase(node);
  if (all_.erase(node) > 0)
    changed_[node] = true;
  untold_nodes_.erase(node);
}

/// What a pod takes is told with the room that its node has then, and its ties with that. Other
/// labels alone change no room.
void node_table::arrived(const protocol::pod_arrived& pod) {
  untold_pods_.erase(pod.pod);
  const base::packed_uid key{pod.pod.value};
  auto& e = all_[pod.node];
  const auto* takes = e.residents.find(key);
  const bool takes_the_same = takes != nullptr && *takes == pod.takes;
  e.residents.put(key, pod.takes);
  if (pod.priority != 0)
    e.priorities.insert_or_assign(key, pod.priority);
  else
    e.priorities.erase(key);
  const auto known = e.ties.find(key);
  const bool is_same =
      known == e.ties.end() ? !pod.ties : pod.ties && known->second->id == pod.ties->id;
  if (is_same)
    return;
  if (pod.ties)
    e.ties.insert_or_assign(key, pod.ties);
  else
    e.ties.erase(known);
  if (takes_the_same)
    touch(pod.node);
}

void node_table::touch(const node_uid& node) {
  const auto* e = known(node);
  if (e == nullptr)
    return;
  mark(node, false);
  if (!e->free)
    tied_.insert(node);
}

void node_table::left(const protocol::pod_left& pod) {
  untold_pods_.erase(pod.pod);
  auto pos = all_.find(pod.node);
  if (pos == all_.end())
    return;
  pos->second.residents.erase(base::packed_uid{pod.pod.value});
  pos->second.ties.erase(base::packed_uid{pod.pod.value});
  pos->second.priorities.erase(base::packed_uid{pod.pod.value});
  if (!pos->second.facts && pos->second.residents.empty())
    all_.erase(pos);
}

void node_table::say_free(const node_uid& node, base::footprint free) {
  auto* e = find(node);
  if (e == nullptr || !e->facts)
    return; // the last words of an actor whose node is gone
  if (e->free == free)
    return;
  e->free = std::move(free);
  auto waited = silent_.extract(node);
  mark(node, !waited.empty() && waited.mapped());
}

void node_table::say_down(const node_uid& node) {
  auto* e = find(node);
  if (e == nullptr || !e->facts)
    return;
  e->free.reset();
  auto unsaid = changed_.extract(node);
  mark(node, !unsaid.empty() && unsaid.mapped());
}

void node_table::say_idle(const node_uid& node) {
  auto* e = find(node);
  ensure(e != nullptr && e->is_leaving() && !e->is_idle_told, node.value);
  e->is_idle_told = true;
  leaving_.erase(node);
}

bool node_table::has_been_whole() {
  has_been_whole_ = has_been_whole_ || (is_fresh_ && silent_.empty());
  return has_been_whole_;
}

void node_table::tell_again(const node_uid& node) {
  if (known(node) != nullptr)
    mark(node, true);
  else
    changed_[node] = true; // that it is gone
}

void node_table::trust(const protocol::view_trust& x) {
  is_fresh_ = x.fresh;
  if (x.fresh || !x.is_anew)
    return;
  is_telling_anew_ = true;
  untold_nodes_.clear();
  untold_pods_.clear();
  for (const auto& [node, e] : all_) {
    if (e.facts)
      untold_nodes_.insert(node);
    for (const auto& [pod, takes] : e.residents)
      untold_pods_[{pod.text()}] = node;
  }
}

node_table::missing node_table::untold() {
  missing out;
  if (!is_fresh_ || !is_telling_anew_)
    return out;
  is_telling_anew_ = false;
  for (const auto& [pod, node] : untold_pods_)
    out.pods.push_back({node, pod});
  out.nodes.assign(untold_nodes_.begin(), untold_nodes_.end());
  untold_nodes_.clear();
  untold_pods_.clear();
  return out;
}

protocol::node_view node_table::view_of(const node_uid& node, const node_entry& e,
                                        bool with_facts) {
  const bool offers = e.is_up() && !e.is_leaving();
  return {.uid = node,
          .facts = with_facts ? e.facts : nullptr,
          .free = offers ? e.free->amounts : base::resources{},
          .ports_taken = e.is_up() ? e.free->ports : base::port_list{},
          .is_gone = false};
}

view_delta node_table::take_delta(base::shard_id shard, base::incarnation_no incarnation) {
  view_delta out{.shard = shard,
                 .incarnation = incarnation,
                 .version = ++version_,
                 .is_whole = false,
                 .nodes = {},
                 .settled = {settled_.begin(), settled_.end()}};
  settled_.clear();
  for (const auto& [node, facts_are_news] : changed_) {
    if (const auto* e = known(node))
      out.nodes.push_back(view_of(node, *e, facts_are_news));
    else
      out.nodes.push_back({.uid = node, .facts = nullptr, .is_gone = true});
  }
  changed_.clear();
  for (const auto& node : std::exchange(tied_, {}))
    if (const auto* e = known(node); e != nullptr && !e->is_up())
      out.nodes.push_back(view_of(node, *e, true));
  return out;
}

view_delta node_table::take_whole(base::shard_id shard, base::incarnation_no incarnation,
                                  std::vector<base::attempt_id> live) {
  view_delta out{.shard = shard,
                 .incarnation = incarnation,
                 .version = ++version_,
                 .is_whole = true,
                 .nodes = {},
                 .settled = std::move(live)};
  settled_.clear();
  changed_.clear();
  for (const auto& [node, e] : all_) {
    if (e.is_up() || (e.facts && (tied_.contains(node) || !e.ties.empty())))
      out.nodes.push_back(view_of(node, e, true));
    if (e.facts && !e.is_up())
      silent_[node] = true; // follows once the node actor has spoken
  }
  tied_.clear();
  return out;
}

std::uint64_t node_table::state_hash() const {
  using base::hash_of;
  std::uint64_t h =
      (is_fresh_ ? 1u : 0u) + (has_been_whole_ ? 2u : 0u) + (is_telling_anew_ ? 4u : 0u);
  const auto add = [&h](std::uint64_t x) { h = base::hash_combine(h, x); };
  const auto add_takes = [&](const base::footprint& x) {
    add(hash_of(base::to_text(x.amounts)));
    for (const auto& p : x.ports)
      add(base::hash_combine(static_cast<std::uint64_t>(p.port),
                             base::hash_combine(hash_of(p.ip.text()), hash_of(p.protocol.text()))));
  };
  for (const auto& [node, e] : all_) {
    add(hash_of(node.value));
    add(e.facts ? e.facts->facts_hash + 1 : 0);
    for (const auto& [pod, takes] : e.residents) {
      add(hash_of(pod.text()));
      add_takes(*takes);
    }
    for (const auto& [pod, ties] : e.ties)
      add(base::hash_combine(hash_of(pod.text()), ties->id.value));
    for (const auto& [pod, priority] : e.priorities)
      add(base::hash_combine(hash_of(pod.text()), static_cast<std::uint64_t>(priority)));
    add(e.residents.size() * 4 + (e.free ? 1 : 0) + (e.is_idle_told ? 2 : 0));
    add(e.move);
    if (e.free)
      add_takes(*e.free);
    for (const auto& attempt : e.pressed)
      add(std::hash<base::attempt_id>{}(attempt));
    add(e.pressed.size());
  }
  for (const auto& node : untold_nodes_)
    add(hash_of(node.value));
  for (const auto& [pod, node] : untold_pods_)
    add(base::hash_combine(hash_of(pod.value), hash_of(node.value)));
  add(untold_nodes_.size());
  for (const auto* news : {&changed_, &silent_}) {
    for (const auto& [node, facts_are_news] : *news)
      add(hash_of(node.value) + (facts_are_news ? 1 : 0));
    add(news->size());
  }
  for (const auto& node : tied_)
    add(hash_of(node.value));
  for (const auto& attempt : settled_)
    add(std::hash<base::attempt_id>{}(attempt));
  return h;
}

} // namespace tutti::shards
