#include "chaos/truth.hpp"

#include <algorithm>

#include "api/decode.hpp"
#include "api/dialect.hpp"
#include "api/pod_terms.hpp"
#include "api/requests.hpp"
#include "base/ensure.hpp"
#include "bridge/pod_view.hpp"

namespace tutti::chaos {

namespace {

using sim::api_server::change;
using sim::api_server::draft;
using sim::api_server::kind_id;

void raise(base::resources& to, const base::resources& by) {
  to.cpu_milli = std::max(to.cpu_milli, by.cpu_milli);
  to.memory_bytes = std::max(to.memory_bytes, by.memory_bytes);
  to.ephemeral_bytes = std::max(to.ephemeral_bytes, by.ephemeral_bytes);
  to.pods = std::max(to.pods, by.pods);
  for (const auto& x : by.extended)
    to.set(x.name, std::max(to.of(x.name), x.amount));
}

} // namespace

void truth::follow(const sim::api_server::control_plane& plane, base::time_point now,
                   const pod_change& tell) {
  const auto& store = plane.objects();
  // Nodes and groups first: a pod's story is told with the nodes it may stand on.
  for (; nodes_seen_ < store.end_event(kind_id::nodes); ++nodes_seen_)
    take_node(store.event_at(kind_id::nodes, nodes_seen_), now);
  for (; groups_seen_ < store.end_event(kind_id::pod_groups); ++groups_seen_)
    take_group(store.event_at(kind_id::pod_groups, groups_seen_), now);
  for (; pods_seen_ < store.end_event(kind_id::pods); ++pods_seen_)
    take_pod(store.event_at(kind_id::pods, pods_seen_), now, tell);
}

void truth::take_pod(const sim::api_server::event& e, base::time_point now,
                     const pod_change& tell) {
  const auto pos = pods_.find(e.now->uid);
  if (e.what == change::deleted) {
    if (pos == pods_.end())
      return;
    const auto before = std::move(pos->second);
    pods_.erase(pos);
    tell(&before, nullptr);
    return;
  }
  const auto read = api::decode_pod(draft{e.now->body}.doc());
  ensure(read.has_value(), e.now->key);
  pod_truth x;
  x.uid = e.now->uid;
  x.name = e.now->key;
  x.group = e.now->group.empty() ? std::string{} : std::string{e.now->ns()} + "/" + e.now->group;
  x.node = e.now->node_name;
  if (const auto mark = read->meta.annotations.find(std::string{bridge::touch_annotation});
      mark != read->meta.annotations.end())
    x.touch = mark->second;
  x.takes = api::footprint_of(*read);
  x.priority = read->priority.value_or(0);
  x.ties = std::make_shared<const api::pod_ties>(api::ties_of(*read));
  x.is_ours = e.now->scheduler_name == scheduler_;
  x.is_gated = e.now->is_gated;
  x.is_finished = e.now->is_finished();
  x.is_deleting = e.now->is_deleting;
  if (pos == pods_.end()) {
    x.came_bound = !x.node.empty();
    x.bound_since = now;
    const auto& made = pods_.emplace(x.uid, std::move(x)).first->second;
    tell(nullptr, &made);
    return;
  }
  const auto before = pos->second;
  x.came_bound = before.came_bound;
  x.bound_since = before.node.empty() && !x.node.empty() ? now : before.bound_since;
  pos->second = std::move(x);
  tell(&before, &pos->second);
}

void truth::take_node(const sim::api_server::event& e, base::time_point now) {
  const std::string name{e.now->name()};
  const auto pos = nodes_.find(name);
  if (pos != nodes_.end())
    past_offers_[name].emplace_back(now, pos->second.allocatable);
  if (e.what == change::deleted) {
    nodes_.erase(name);
    return;
  }
  const auto read = api::decode_node(draft{e.now->body}.doc());
  ensure(read.has_value(), name);
  node_truth x{e.now->uid, name, read->allocatable, !read->unschedulable, {}, false, {}};
  for (const auto& [key, value] : e.now->labels)
    x.labels[key] = value;
  x.since = pos != nodes_.end() && pos->second.uid == x.uid ? pos->second.since : now;
  // Also if it was deleted meanwhile: a Binding on its way names no uid of a node.
  const auto [before, is_first] = first_labels_.emplace(name, x.labels);
  x.has_moved =
      !is_first && (before->second != x.labels || (pos != nodes_.end() && pos->second.has_moved));
  nodes_.insert_or_assign(name, std::move(x));
}

void truth::take_group(const sim::api_server::event& e, base::time_point now) {
  if (e.what == change::deleted) {
    groups_.erase(e.now->key);
    return;
  }
  const auto read = api::decode_pod_group(draft{e.now->body}.doc(), api::dialect::v1beta1);
  ensure(read.has_value(), e.now->key);
  group_truth x;
  x.uid = e.now->uid;
  x.name = e.now->key;
  x.min_count = static_cast<std::uint32_t>(read->rules.is_basic ? 1 : read->rules.min_count);
  x.topology_key = read->rules.topology_key;
  x.priority = read->rules.priority.value_or(0);
  x.is_deleting = e.now->is_deleting;
  x.has_condition = read->has_started();
  const auto* degraded = api::find_condition(read->conditions, "tutti.dev/Degraded");
  x.is_degraded = degraded != nullptr && degraded->is_true();
  const auto before = groups_.find(x.name);
  x.since = before != groups_.end() && before->second.uid == x.uid ? before->second.since : now;
  groups_.insert_or_assign(x.name, std::move(x));
}

std::vector<const pod_truth*> truth::members(const std::string& group) const {
  std::vector<const pod_truth*> out;
  for (const auto& [uid, pod] : pods_)
    if (pod.group == group)
      out.push_back(&pod);
  return out;
}

bool truth::has_root(const std::string& gang) const {
  return pods_.contains(gang) || std::any_of(groups_.begin(), groups_.end(), [&](const auto& g) {
           return g.second.uid == gang;
         });
}

base::resources truth::used(const std::string& node) const {
  base::resources sum;
  for (const auto& [uid, pod] : pods_)
    if (pod.node == node && !pod.is_finished)
      sum += pod.takes.amounts;
  return sum;
}

base::resources truth::free(const std::string& node) const {
  const auto pos = nodes_.find(node);
  return pos == nodes_.end() ? base::resources{} : pos->second.allocatable - used(node);
}

base::resources truth::offered_lately(const std::string& node, base::time_point now) const {
  base::resources out;
  if (const auto pos = nodes_.find(node); pos != nodes_.end())
    out = pos->second.allocatable;
  if (const auto pos = past_offers_.find(node); pos != past_offers_.end())
    for (const auto& [until, offered] : pos->second)
      if (until + view_lag >= now)
        raise(out, offered);
  return out;
}

base::resources truth::offered_ever(const std::string& node) const {
  return offered_lately(node, base::time_point{});
}

} // namespace tutti::chaos
