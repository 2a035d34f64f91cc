// Reads pods: where they may go, what they take, which group they belong to.
#include "api/decode.hpp"

#include <algorithm>

#include "api/decode_parts.hpp"

namespace tutti::api {
namespace {

pod_phase phase_of(std::string_view word) {
  if (word.empty() || word == "Pending")
    return pod_phase::pending;
  if (word == "Running")
    return pod_phase::running;
  if (word == "Succeeded")
    return pod_phase::succeeded;
  if (word == "Failed")
    return pod_phase::failed;
  return pod_phase::unknown;
}

container read_container(const cursor& x) {
  container out;
  out.name = x["name"].text();
  out.is_sidecar = x["restartPolicy"].text() == "Always";
  out.requests = read_amounts(x["resources"]["requests"], amounts_of::requests);
  x["ports"].each([&](const cursor& p) {
    auto port = p["hostPort"].integer32();
    if (port == 0)
      return;
    auto protocol = p["protocol"].text();
    out.ports.push_back({base::symbol{p["hostIP"].text()},
                         base::symbol{protocol.empty() ? "TCP" : protocol}, port});
  });
  return out;
}

/// A term with an operator that we do not know matches nothing, as on a genuine scheduler.
node_term read_term(const cursor& x, bool& is_known) {
  node_term out;
  bool is_clean = true;
  auto read_into = [&](std::vector<label_requirement>& list) {
    return [&](const cursor& e) {
      if (auto requirement = read_requirement(e))
        list.push_back(std::move(*requirement));
      else
        is_clean = false;
    };
  };
  x["matchExpressions"].each(read_into(out.labels));
  x["matchFields"].each(read_into(out.fields));
  is_known = is_known && is_clean;
  return is_clean ? out : node_term{};
}

void read_node_affinity(const cursor& affinity, pod& out) {
  bool is_known = true;
  auto required = affinity["requiredDuringSchedulingIgnoredDuringExecution"];
  out.has_required_affinity = required.is_set();
  required["nodeSelectorTerms"].each(
      [&](const cursor& x) { out.required_affinity.push_back(read_term(x, is_known)); });
  affinity["preferredDuringSchedulingIgnoredDuringExecution"].each([&](const cursor& x) {
    out.preferred_affinity.push_back(
        {x["weight"].integer32(), read_term(x["preference"], is_known)});
  });
  if (!is_known)
    out.unweighed.push_back(affinity.path());
}

std::optional<toleration> read_toleration(const cursor& x) {
  toleration out;
  out.key = x["key"].text();
  out.value = x["value"].text();
  auto how = x["operator"].text();
  out.is_exists = how == "Exists";
  if (!how.empty() && how != "Equal" && how != "Exists")
    return std::nullopt;
  auto effect = x["effect"].text();
  out.any_effect = effect.empty();
  if (effect == "PreferNoSchedule")
    out.effect = taint_effect::prefer_no_schedule;
  else if (effect == "NoExecute")
    out.effect = taint_effect::no_execute;
  else if (!effect.empty() && effect != "NoSchedule")
    return std::nullopt;
  return out;
}

void read_tolerations(const cursor& list, pod& out) {
  list.each([&](const cursor& x) {
    if (auto one = read_toleration(x))
      out.tolerations.push_back(std::move(*one));
    else
      out.unweighed.push_back(x.path());
  });
}

/// Hard demands that placement does not look at yet: whoever schedules the pod must say so.
void note_unweighed(const cursor& spec, pod& out) {
  auto note = [&](const cursor& x, bool is_there) {
    if (is_there)
      out.unweighed.push_back(x.path());
  };
  auto claims = spec["resourceClaims"];
  note(claims, claims.size() > 0);
  spec["volumes"].each([&](const cursor& x) {
    note(x, x["persistentVolumeClaim"].is_set() || x["ephemeral"].is_set());
  });
}

void read_group_link(const cursor& spec, pod& out) {
  auto group = spec["schedulingGroup"];
  out.group = group["podGroupName"].text();
  if (group.is_set() && out.group.empty())
    out.refused = "spec.schedulingGroup names no PodGroup";
  if (auto ref = spec["workloadRef"]; ref.is_set()) {
    out.workload_ref = workload_member_ref{ref["name"].text(), ref["podGroup"].text(),
                                           ref["podGroupReplicaKey"].text()};
    if (out.workload_ref->workload.empty() || out.workload_ref->pod_group.empty())
      out.refused = "spec.workloadRef names no pod group";
  }
}

void read_spec(const cursor& spec, pod& out) {
  out.scheduler_name = spec["schedulerName"].text();
  out.node_name = spec["nodeName"].text();
  out.node_selector = spec["nodeSelector"].texts();
  auto affinity = spec["affinity"];
  read_node_affinity(affinity["nodeAffinity"], out);
  read_tolerations(spec["tolerations"], out);
  spec["schedulingGates"].each([&](const cursor& x) { out.gates.push_back(x["name"].text()); });
  out.priority = spec["priority"].maybe_integer32();
  out.priority_class_name = spec["priorityClassName"].text();
  out.never_preempts = spec["preemptionPolicy"].text() == "Never";
  spec["initContainers"].each(
      [&](const cursor& x) { out.init_containers.push_back(read_container(x)); });
  spec["containers"].each([&](const cursor& x) {
    out.containers.push_back(read_container(x));
    out.containers.back().is_sidecar = false;
  });
  out.overhead = read_amounts(spec["overhead"], amounts_of::requests);
  auto resources = spec["resources"];
  if (auto requests = resources["requests"]; requests.is_set()) {
    out.pod_requests = read_amounts(requests, amounts_of::requests);
    requests.members(
        [&](std::string_view name, const cursor&) { out.pod_request_names.emplace_back(name); });
    std::sort(out.pod_request_names.begin(), out.pod_request_names.end());
  }
  if (auto grace = spec["terminationGracePeriodSeconds"]; grace.is_set())
    out.grace_seconds = grace.integer();
  read_group_link(spec, out);
  read_ties(spec, out);
  note_unweighed(spec, out);
}

container_status read_container_status(const cursor& x) {
  container_status out;
  out.name = x["name"].text();
  if (auto allocated = x["allocatedResources"]; allocated.is_set())
    out.allocated = read_amounts(allocated, amounts_of::requests);
  if (auto resources = x["resources"]; resources.is_set())
    out.actual = read_amounts(resources["requests"], amounts_of::requests);
  return out;
}

void read_status(const cursor& status, pod& out) {
  out.phase = phase_of(status["phase"].text());
  if (const auto started = status["startTime"]; started.is_set())
    out.started = started.time();
  out.nominated_node = status["nominatedNodeName"].text();
  out.conditions = read_conditions(status["conditions"]);
  for (auto list : {"containerStatuses", "initContainerStatuses"})
    status[list].each([&](const cursor& x) { out.statuses.push_back(read_container_status(x)); });
  const auto* pending = find_condition(out.conditions, "PodResizePending");
  out.is_resize_infeasible = status["resize"].text() == "Infeasible"
                             || (pending != nullptr && pending->reason == "Infeasible");
}

} // namespace

base::result<pod> decode_pod(const boost::json::object& object) {
  return decode_whole(object, [](const cursor& root) {
    pod out;
    out.meta = read_meta(root);
    read_spec(root["spec"], out);
    read_status(root["status"], out);
    return out;
  });
}

} // namespace tutti::api
