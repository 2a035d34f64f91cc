// The little of kube-controller-manager that a scheduler can tell apart: PodGroups keep existing
// while their pods live, namespaces take their contents with them, and what is owned goes with its
// owner.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "sim/api_server/garbage.hpp"
#include "sim/api_server/registry.hpp"

namespace tutti::sim::api_server {

class controllers {
public:
  controllers(const catalog& kinds, store& objects, registry& writes)
      : kinds_(kinds), store_(objects), registry_(writes), garbage_(kinds, objects, writes) {}

  /// Takes up what is there already. Before the first `react`.
  void begin();
  /// Looks at what changed since the last call and does what follows from it.
  void react();

private:
  void count(const object& pod, bool is_more);
  void release_group(const std::string& key);
  void empty_namespaces();
  void empty_namespace(const object_ptr& space);

  const catalog& kinds_;
  store& store_;
  registry& registry_;
  garbage garbage_;
  std::size_t pods_seen_ = 0;
  std::size_t groups_seen_ = 0;
  revision namespaces_seen_ = 0;
  std::map<std::string, std::size_t> live_; ///< live pods by "namespace/group"
};

} // namespace tutti::sim::api_server
