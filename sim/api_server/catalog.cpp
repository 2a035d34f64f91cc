// The table of kinds, and which release serves which version.
#include "sim/api_server/catalog.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

namespace {

using enum kind_id;

std::vector<kind_info> kubernetes_kinds() {
  return {
      {namespaces, "", "namespaces", "namespace", "Namespace", {"ns"}, false, true},
      {nodes, "", "nodes", "node", "Node", {"no"}, false, true},
      {pods, "", "pods", "pod", "Pod", {"po"}, true, true},
      {events, "", "events", "event", "Event", {"ev"}, true, false},
      {priority_classes,
       "scheduling.k8s.io",
       "priorityclasses",
       "priorityclass",
       "PriorityClass",
       {"pc"},
       false,
       false},
      {workloads, "scheduling.k8s.io", "workloads", "workload", "Workload", {}, true, false},
      {pod_groups, "scheduling.k8s.io", "podgroups", "podgroup", "PodGroup", {}, true, true},
      {composite_pod_groups,
       "scheduling.k8s.io",
       "compositepodgroups",
       "compositepodgroup",
       "CompositePodGroup",
       {},
       true,
       true},
      {leases, "coordination.k8s.io", "leases", "lease", "Lease", {}, true, false},
      {pod_disruption_budgets,
       "policy",
       "poddisruptionbudgets",
       "poddisruptionbudget",
       "PodDisruptionBudget",
       {"pdb"},
       true,
       true},
      {config_maps, "", "configmaps", "configmap", "ConfigMap", {"cm"}, true, false},
      {resource_slices,
       "resource.k8s.io",
       "resourceslices",
       "resourceslice",
       "ResourceSlice",
       {},
       false,
       false},
      {resource_claims,
       "resource.k8s.io",
       "resourceclaims",
       "resourceclaim",
       "ResourceClaim",
       {},
       true,
       true},
      {device_classes,
       "resource.k8s.io",
       "deviceclasses",
       "deviceclass",
       "DeviceClass",
       {},
       false,
       false},
  };
}

/// On a real server deploy/crds makes them known.
std::vector<kind_info> own_kinds() {
  return {
      {gang_decisions,
       "tutti.dev",
       "gangdecisions",
       "gangdecision",
       "GangDecision",
       {"gd"},
       true,
       false},
      {gang_decision_chunks,
       "tutti.dev",
       "gangdecisionchunks",
       "gangdecisionchunk",
       "GangDecisionChunk",
       {},
       true,
       false},
      {partition_maps,
       "tutti.dev",
       "partitionmaps",
       "partitionmap",
       "PartitionMap",
       {},
       false,
       false},
  };
}

const std::vector<kind_info>& kinds() {
  static const auto table = [] {
    auto all = kubernetes_kinds();
    for (auto& x : own_kinds())
      all.push_back(std::move(x));
    ensure(all.size() == kind_count, all.size());
    return all;
  }();
  return table;
}

struct row {
  kind_id id;
  std::string_view group;
  std::string_view version;
};

std::vector<row> rows_of(release r) {
  std::vector<row> out{{namespaces, "", "v1"},
                       {nodes, "", "v1"},
                       {pods, "", "v1"},
                       {events, "", "v1"},
                       {config_maps, "", "v1"}};
  out.push_back({leases, "coordination.k8s.io", "v1"});
  out.push_back({events, "events.k8s.io", "v1"});
  out.push_back({pod_disruption_budgets, "policy", "v1"});
  for (auto id : {resource_slices, resource_claims, device_classes})
    out.push_back({id, "resource.k8s.io", "v1"});
  constexpr std::string_view scheduling = "scheduling.k8s.io";
  out.push_back({priority_classes, scheduling, "v1"});
  switch (r) {
  case release::v1_35:
    out.push_back({workloads, scheduling, "v1alpha1"});
    break;
  case release::v1_36:
    out.push_back({workloads, scheduling, "v1alpha2"});
    out.push_back({pod_groups, scheduling, "v1alpha2"});
    break;
  case release::v1_37:
    out.push_back({workloads, scheduling, "v1beta1"});
    out.push_back({pod_groups, scheduling, "v1beta1"});
    out.push_back({workloads, scheduling, "v1alpha3"});
    out.push_back({pod_groups, scheduling, "v1alpha3"});
    out.push_back({composite_pod_groups, scheduling, "v1alpha3"});
    break;
  }
  // Our own; on a real server deploy/crds makes it known.
  for (auto id : {gang_decisions, gang_decision_chunks, partition_maps})
    out.push_back({id, "tutti.dev", "v1alpha1"});
  return out;
}

endpoint make_endpoint(const row& r) {
  endpoint e;
  e.what = &info_of(r.id);
  e.group = r.group;
  e.version = r.version;
  e.api_version =
      r.group.empty() ? std::string{r.version} : fmt::format("{}/{}", r.group, r.version);
  e.head = fmt::format(R"({{"kind":"{}","apiVersion":"{}",)", e.what->kind, e.api_version);
  return e;
}

} // namespace

std::string_view full_version(release r) {
  switch (r) {
  case release::v1_35:
    return "v1.35.7";
  case release::v1_36:
    return "v1.36.3";
  case release::v1_37:
    return "v1.37.2";
  }
  return "?";
}

const kind_info& info_of(kind_id id) {
  const auto& info = kinds().at(static_cast<std::size_t>(id));
  ensure(info.id == id, info.plural);
  return info;
}

catalog::catalog(release r) : release_(r) {
  for (const auto& one : rows_of(r))
    endpoints_.push_back(make_endpoint(one));
}

const endpoint* catalog::find(std::string_view group, std::string_view version,
                              std::string_view plural) const {
  auto it = std::ranges::find_if(endpoints_, [&](const endpoint& e) {
    return e.what->plural == plural && e.version == version && e.group == group;
  });
  return it == endpoints_.end() ? nullptr : &*it;
}

const endpoint* catalog::find_kind(std::string_view api_version, std::string_view kind) const {
  auto it = std::ranges::find_if(endpoints_, [&](const endpoint& e) {
    return e.api_version == api_version && e.what->kind == kind;
  });
  return it == endpoints_.end() ? nullptr : &*it;
}

const endpoint* catalog::preferred(kind_id id) const {
  auto it = std::ranges::find_if(endpoints_, [&](const endpoint& e) { return e.what->id == id; });
  return it == endpoints_.end() ? nullptr : &*it;
}

bool catalog::has_group(std::string_view group) const {
  return std::ranges::any_of(endpoints_, [&](const endpoint& e) { return e.group == group; });
}

bool catalog::has_version(std::string_view group, std::string_view version) const {
  return std::ranges::any_of(
      endpoints_, [&](const endpoint& e) { return e.group == group && e.version == version; });
}

} // namespace tutti::sim::api_server
