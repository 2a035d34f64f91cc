// Finalizers of groups and the end of namespaces.
#include "sim/api_server/controllers.hpp"

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

namespace {

bool is_live_member(const object& pod) {
  return !pod.group.empty() && !pod.is_finished();
}

} // namespace

void controllers::begin() {
  garbage_.begin();
  pods_seen_ = store_.end_event(kind_id::pods);
  groups_seen_ = store_.end_event(kind_id::pod_groups);
  for (const auto& [key, pod] : store_.all(kind_id::pods))
    if (is_live_member(*pod))
      count(*pod, true);
  std::vector<std::string> groups;
  for (const auto& [key, group] : store_.all(kind_id::pod_groups))
    groups.push_back(key);
  for (const auto& key : groups)
    release_group(key);
}

void controllers::count(const object& pod, bool is_more) {
  auto key = key_of(pod.ns(), pod.group);
  if (is_more) {
    ++live_[key];
    return;
  }
  auto it = live_.find(key);
  ensure(it != live_.end() && it->second > 0, key);
  if (--it->second == 0) {
    live_.erase(it);
    release_group(key);
  }
}

void controllers::react() {
  if (pods_seen_ < store_.first_event(kind_id::pods)
      || groups_seen_ < store_.first_event(kind_id::pod_groups)) {
    live_.clear(); // more happened at once than the window holds: look at everything again
    begin();
  }
  for (; pods_seen_ < store_.end_event(kind_id::pods); ++pods_seen_) {
    auto e = store_.event_at(kind_id::pods, pods_seen_);
    auto was = e.before && is_live_member(*e.before);
    auto is = e.what != change::deleted && is_live_member(*e.now);
    if (was != is)
      count(*e.now, is);
  }
  for (; groups_seen_ < store_.end_event(kind_id::pod_groups); ++groups_seen_) {
    auto now = store_.event_at(kind_id::pod_groups, groups_seen_).now;
    if (now->is_deleting)
      release_group(now->key);
  }
  empty_namespaces();
  if (garbage_.collect())
    react();
}

void controllers::empty_namespaces() {
  if (namespaces_seen_ == store_.last())
    return;
  std::vector<object_ptr> ending;
  for (const auto& [key, space] : store_.all(kind_id::namespaces))
    if (space->is_deleting)
      ending.push_back(space);
  for (const auto& space : ending)
    empty_namespace(space);
  auto before = std::exchange(namespaces_seen_, store_.last());
  if (!ending.empty() && before != namespaces_seen_)
    react(); // groups may have lost their last pods
}

void controllers::release_group(const std::string& key) {
  auto group = store_.find(kind_id::pod_groups, key);
  if (group && group->is_deleting && !live_.contains(key))
    registry_.drop_finalizer(kind_id::pod_groups, group, "scheduling.k8s.io/podgroup-protection");
}

void controllers::empty_namespace(const object_ptr& space) {
  auto prefix = std::string{space->name()} + "/";
  bool is_empty = true;
  for (std::size_t k = 0; k < kind_count; ++k) {
    auto kind = static_cast<kind_id>(k);
    auto* what = kinds_.preferred(kind);
    if (!what || !what->what->is_namespaced)
      continue;
    std::vector<std::string> keys;
    const auto& all = store_.all(kind);
    for (auto it = all.lower_bound(prefix); it != all.end() && it->first.starts_with(prefix); ++it)
      if (!it->second->is_deleting)
        keys.push_back(it->first);
      else
        is_empty = false;
    for (const auto& key : keys)
      if (auto done = registry_.remove(*what, key, {});
          is_refused(done) || !std::get<written>(done).is_gone)
        is_empty = false;
  }
  if (is_empty)
    registry_.finish_deletion(kind_id::namespaces, space);
}

} // namespace tutti::sim::api_server
