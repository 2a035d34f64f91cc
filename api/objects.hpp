// Kubernetes objects as plain values: what a scheduler needs of them and no more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/dialect.hpp"
#include "api/terms.hpp"
#include "api/ties.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"

namespace tutti::api {

struct owner_reference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool is_controller = false;

  friend bool operator==(const owner_reference&, const owner_reference&) = default;
};

struct object_meta {
  std::string space; ///< metadata.namespace; empty for cluster-scoped objects
  std::string name;
  std::string uid;
  std::string resource_version; ///< opaque
  std::int64_t generation = 0;  ///< groups have none
  base::wall_time created;
  std::optional<base::wall_time> deleting_since; ///< metadata.deletionTimestamp
  string_map labels;
  string_map annotations;
  std::vector<std::string> finalizers;
  std::vector<owner_reference> owners;

  bool is_deleting() const { return deleting_since.has_value(); }
  friend bool operator==(const object_meta&, const object_meta&) = default;
};

/// metav1.Condition and its older cousins on pods and nodes.
struct condition {
  std::string type;
  std::string status; ///< "True", "False" or "Unknown"
  std::string reason;
  std::string message;
  base::wall_time since;
  std::int64_t observed_generation = 0;

  bool is_true() const { return status == "True"; }
  friend bool operator==(const condition&, const condition&) = default;
};
/// The condition of that type; null if there is none.
const condition* find_condition(const std::vector<condition>& list, std::string_view type);

struct node {
  object_meta meta;
  bool unschedulable = false;
  std::vector<taint> taints;
  base::resources allocatable; ///< as far as the scheduler counts: see `counts_for_scheduling`
  std::vector<condition> conditions;

  friend bool operator==(const node&, const node&) = default;
};

/// cpu, memory, ephemeral-storage, pods, hugepages-*, attachable-volumes-* and every name with a
/// domain. Other names take no part in scheduling.
bool counts_for_scheduling(std::string_view resource_name);

struct container {
  std::string name;
  bool is_sidecar = false; ///< an init container with restartPolicy Always
  base::resources requests;
  base::port_list ports; ///< host ports only

  friend bool operator==(const container&, const container&) = default;
};

/// What the kubelet granted and what it really set; may differ from the spec while a pod is
/// resized.
struct container_status {
  std::string name;
  std::optional<base::resources> allocated; ///< allocatedResources
  std::optional<base::resources> actual;    ///< resources.requests

  friend bool operator==(const container_status&, const container_status&) = default;
};

/// How a v1alpha1 pod names its group: every distinct triple (in a namespace) is a gang.
struct workload_member_ref {
  std::string workload;
  std::string pod_group; ///< entry of the Workload's spec.podGroups
  std::string replica_key;

  friend auto operator<=>(const workload_member_ref&, const workload_member_ref&) = default;
};

enum class pod_phase : std::uint8_t { pending, running, succeeded, failed, unknown };

struct pod {
  object_meta meta;
  std::string scheduler_name;
  std::string node_name;
  string_map node_selector;
  bool has_required_affinity = false;
  std::vector<node_term> required_affinity;
  std::vector<preferred_term> preferred_affinity;
  std::vector<toleration> tolerations;
  std::vector<pod_term> pod_affinity;      ///< required
  std::vector<pod_term> pod_anti_affinity; ///< required
  std::vector<weighted_pod_term> preferred_pods;
  std::vector<spread_term> spread;
  std::vector<std::string> gates; ///< names of spec.schedulingGates
  std::optional<std::int32_t> priority;
  std::string priority_class_name;
  bool never_preempts = false; ///< preemptionPolicy: Never
  std::vector<container> init_containers;
  std::vector<container> containers;
  base::resources overhead;
  std::optional<base::resources> pod_requests; ///< spec.resources.requests; only what it names
  std::vector<std::string> pod_request_names;  ///< the names in there, ascending; zero counts too
  std::int64_t grace_seconds = 30;             ///< terminationGracePeriodSeconds
  std::string group;                           ///< schedulingGroup.podGroupName; empty = none
  std::optional<workload_member_ref> workload_ref; ///< v1alpha1 only
  /// Why we must not schedule this pod: it names its group in a way that we do not understand.
  std::string refused;
  /// Demands in the spec that this version does not weigh, as JSON paths ("spec.resourceClaims").
  std::vector<std::string> unweighed;

  pod_phase phase = pod_phase::pending;
  std::optional<base::wall_time> started; ///< status.startTime
  std::string nominated_node;
  std::vector<condition> conditions;
  std::vector<container_status> statuses; ///< of containers and init containers
  bool is_resize_infeasible = false;

  bool is_terminal() const { return phase == pod_phase::succeeded || phase == pod_phase::failed; }
  friend bool operator==(const pod&, const pod&) = default;
};

struct priority_class {
  object_meta meta;
  std::int32_t value = 0;
  bool is_global_default = false;
  bool never_preempts = false;

  friend bool operator==(const priority_class&, const priority_class&) = default;
};

/// One entry of spec.resourceClaims of a group or template: a claim or a template of claims.
struct group_claim {
  std::string name;
  std::string claim_name;
  std::string claim_template_name;

  friend bool operator==(const group_claim&, const group_claim&) = default;
};

/// What a group asks for, whatever the dialect; of a PodGroup or of a template.
struct group_rules {
  bool is_basic = false;
  std::int32_t min_count = 1; ///< pods of a gang; groups of a composite gang; basic: 1
  std::string topology_key;   ///< empty = no constraint
  bool evicts_whole = false;  ///< disruption mode: all of it or nothing
  std::optional<std::int32_t> priority;
  std::string priority_class_name;
  std::optional<bool> never_preempts; ///< nothing: as its pods say
  std::vector<group_claim> claims;
  /// Why this cannot be scheduled: something in it that we do not understand and must not guess.
  /// Empty if all is well.
  std::string refused;

  friend bool operator==(const group_rules&, const group_rules&) = default;
};

/// The template that a group was made from; both empty if none.
struct template_ref {
  std::string workload;
  std::string name;

  friend bool operator==(const template_ref&, const template_ref&) = default;
};

/// One PodGroup of any dialect (for v1alpha1 made up by `synthesise_group`), or a
/// CompositePodGroup.
struct pod_group {
  object_meta meta;
  dialect spoken = dialect::v1beta1;
  bool is_composite = false; ///< its members are groups, and `rules.min_count` counts those
  group_rules rules;
  template_ref made_from;
  std::string parent; ///< name of a CompositePodGroup; empty = a root
  std::vector<condition> conditions;
  string_map claim_names; ///< status.resourceClaimStatuses: entry to name of the made claim

  /// Its dialect's condition says that it was scheduled once.
  bool has_started() const;
  friend bool operator==(const pod_group&, const pod_group&) = default;
};

/// A template in a Workload: of a PodGroup (no children) or of a CompositePodGroup.
struct group_template {
  std::string name;
  bool is_composite = false;
  group_rules rules;
  std::vector<group_template> children;

  friend bool operator==(const group_template&, const group_template&) = default;
};

struct workload {
  object_meta meta;
  dialect spoken = dialect::v1beta1;
  owner_reference controller; ///< spec.controllerRef; empty kind = none
  std::vector<group_template> templates;

  friend bool operator==(const workload&, const workload&) = default;
};

/// The template of that name, at any depth; null if there is none.
const group_template* find_template(const workload& w, std::string_view name);

/// The group that v1alpha1 pods with this reference belong to. Its name is "workload/podGroup" or
/// "workload/podGroup/replicaKey" (no real PodGroup can have that name), its uid the Workload's uid
/// and the same. Refused if the Workload has no such entry.
pod_group synthesise_group(const workload& w, const workload_member_ref& ref);
/// The name that `synthesise_group` gives; also how pods of such a group are found.
std::string synthetic_group_name(const workload_member_ref& ref);

} // namespace tutti::api
