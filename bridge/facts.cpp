// How nodes, pods and groups of the API become facts, and what of a node enters its hash.
#include "bridge/facts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/core.h>

#include "api/pod_terms.hpp"
#include "api/requests.hpp"
#include "api/ties.hpp"
#include "base/hash.hpp"
#include "base/ties_table.hpp"

namespace tutti::bridge {
namespace {

using base::hash_combine;
using base::hash_of;

std::uint64_t hash_amount(std::int64_t x) {
  return hash_of(static_cast<std::uint64_t>(x));
}

std::uint64_t hash_resources(const base::resources& x) {
  auto h = hash_amount(x.cpu_milli);
  h = hash_combine(h, hash_amount(x.memory_bytes));
  h = hash_combine(h, hash_amount(x.ephemeral_bytes));
  h = hash_combine(h, hash_amount(x.pods));
  for (const auto& e : x.extended)
    h = hash_combine(hash_combine(h, hash_of(e.name.text())), hash_amount(e.amount));
  return h;
}

std::uint64_t hash_footprint(const base::footprint& x) {
  auto h = hash_resources(x.amounts);
  for (const auto& p : x.ports) {
    h = hash_combine(hash_combine(h, hash_of(p.ip.text())), hash_of(p.protocol.text()));
    h = hash_combine(h, static_cast<std::uint64_t>(p.port));
  }
  return h;
}

/// A demand that placement does not weigh is refused, not overlooked: a pod on the wrong node is
/// worse than a pod that waits and says for what.
std::string refusal_of(const api::pod& p) {
  if (!p.refused.empty())
    return p.refused;
  if (p.unweighed.empty())
    return {};
  std::string demands;
  for (const auto& path : p.unweighed)
    demands += (demands.empty() ? "" : ", ") + path;
  return "asks for " + demands + ", which this scheduler does not weigh yet";
}

/// Labels that controllers give each pod of many another value of.
constexpr std::array<std::string_view, 9> numbering{
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "jobset.sigs.k8s.io/job-global-index",
    "jobset.sigs.k8s.io/job-index",
    "jobset.sigs.k8s.io/job-key",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "statefulset.kubernetes.io/pod-name",
    "training.kubeflow.org/replica-index",
    "volcano.sh/task-index",
};

bool is_numbering(std::string_view key) {
  return std::binary_search(numbering.begin(), numbering.end(), key);
}

/// Namespaces by their labels: those are not watched.
bool selects_spaces(const api::pod_ties& x) {
  for (const auto* terms : {&x.affinity, &x.anti_affinity})
    for (const auto& term : *terms)
      if (term.space_labels && !term.space_labels->selects_all)
        return true;
  return false;
}

/// The first of those keys that a required term of `x` selects by; empty if none does.
std::string_view numbering_selected(const api::pod_ties& x) {
  const auto of = [](const api::label_selector& by) -> std::string_view {
    for (const auto& requirement : by.requirements)
      if (is_numbering(requirement.key))
        return requirement.key;
    return {};
  };
  for (const auto* terms : {&x.affinity, &x.anti_affinity})
    for (const auto& term : *terms)
      if (const auto key = of(term.pods); !key.empty())
        return key;
  for (const auto& term : x.spread)
    if (const auto key = of(term.pods); term.is_required && !key.empty())
      return key;
  return {};
}

} // namespace

std::uint64_t facts_hash_of(const protocol::node_facts& x) {
  auto h = hash_combine(hash_of(x.uid.value), hash_of(x.name.value));
  h = hash_combine(h, x.kind ? x.kind->id.value : 0);
  h = hash_combine(h, hash_resources(x.allocatable));
  h = hash_combine(h, hash_of(x.host_name));
  for (const auto& d : x.domains)
    h = hash_combine(h, hash_of(d));
  return h == 0 ? 1 : h; // 0 means "do not compare"
}

protocol::node_facts_ptr fact_maker::node(const api::node& n) {
  auto out = std::make_shared<protocol::node_facts>();
  out->uid = {n.meta.uid};
  out->name = {n.meta.name};
  const auto made = api::class_of(n);
  out->kind = classes_.intern(made->id.value, made);
  out->allocatable = n.allocatable;
  out->host_name = api::host_name_of(n);
  for (const auto& level : levels_) {
    const auto found = n.meta.labels.find(level);
    out->domains.push_back(found == n.meta.labels.end() ? std::string{} : found->second);
  }
  out->facts_hash = facts_hash_of(*out);
  return out;
}

protocol::pod_facts fact_maker::pod(const api::pod& p) {
  protocol::pod_facts out;
  out.uid = {p.meta.uid};
  out.name = {p.meta.space, p.meta.name};
  out.group = p.workload_ref ? api::synthetic_group_name(*p.workload_ref) : p.group;
  out.scheduler = p.scheduler_name;
  out.priority = p.priority.value_or(0);
  out.never_preempts = p.never_preempts;
  out.is_gated = !p.gates.empty();
  out.is_terminal = p.is_terminal();
  out.is_deleting = p.meta.is_deleting();
  out.node = {p.node_name};
  out.resource_version = p.meta.resource_version;
  out.created = p.meta.created;
  const auto made = api::shape_of(p);
  out.kind = shapes_.intern(made->id.value, made);
  out.ties = ties(p);
  out.refused = refusal_of(p);
  const auto asks = api::ties_of(p);
  if (out.refused.empty() && selects_spaces(asks))
    out.refused = "selects namespaces by their labels, which this scheduler does not weigh yet";
  if (const auto key = numbering_selected(asks); out.refused.empty() && !key.empty())
    out.refused = fmt::format("selects pods by the label {}, which this scheduler does not weigh: "
                              "each pod has another value of it",
                              key);
  return out;
}

protocol::group_facts fact_maker::group(const api::pod_group& g) const {
  protocol::group_facts out;
  out.uid = g.meta.uid;
  out.name = {g.meta.space, g.meta.name};
  out.is_basic = g.rules.is_basic;
  out.min_count = g.rules.min_count > 0 ? static_cast<std::uint32_t>(g.rules.min_count) : 1;
  out.topology_key = g.rules.topology_key;
  out.priority = g.rules.priority.value_or(0);
  out.never_preempts = g.rules.never_preempts.value_or(false);
  out.evicts_whole = g.rules.evicts_whole;
  out.is_deleting = g.meta.is_deleting();
  out.has_started = g.has_started();
  const auto* degraded = api::find_condition(g.conditions, "tutti.dev/Degraded");
  out.is_degraded = degraded != nullptr && degraded->is_true();
  out.created = g.meta.created;
  out.refused = g.rules.refused;
  if (out.refused.empty() && !g.parent.empty())
    out.refused = "spec.parentCompositePodGroupName: composite pod groups are not supported";
  if (out.refused.empty() && !g.rules.claims.empty())
    out.refused = "spec.resourceClaims: resource claims of a group are not supported";
  return out;
}

base::ties_ptr fact_maker::ties(const api::pod& p) {
  auto made = api::ties_of(p);
  std::erase_if(made.labels, [](const auto& label) { return is_numbering(label.first); });
  return base::shared(*api::make_ties(made));
}

footprint_ptr fact_maker::footprint(const api::pod& p) {
  const auto made = std::make_shared<const base::footprint>(api::footprint_of(p));
  return footprints_.intern(hash_footprint(*made), made);
}

} // namespace tutti::bridge
