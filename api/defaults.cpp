// Defaults of groups, workloads and everything that is no pod.
#include "api/defaults.hpp"

#include <utility>

#include <boost/json.hpp>

#include "api/defaults_pod.hpp"
#include "api/json_edit.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

bool is_of(const json::object& object, std::string_view group, std::string_view kind) {
  auto api_version = text_at(object, "apiVersion");
  auto slash = api_version.find('/');
  auto own_group = slash == api_version.npos ? std::string_view{} : api_version.substr(0, slash);
  return own_group == group && text_at(object, "kind") == kind;
}

void default_namespace(json::object& object) {
  auto* metadata = ensure_object(object, "metadata");
  auto* labels = metadata ? ensure_object(*metadata, "labels") : nullptr;
  if (labels)
    set_if_absent(*labels, "kubernetes.io/metadata.name", json::value(text_at(*metadata, "name")));
  if (auto* spec = ensure_object(object, "spec"))
    set_if_absent(*spec, "finalizers", json::array{"kubernetes"});
  if (auto* status = ensure_object(object, "status"))
    set_if_empty(*status, "phase", "Active");
}

/// A Node may offer all it has, unless it says otherwise.
void default_node(json::object& object) {
  ensure_object(object, "spec");
  auto* status = object_at(object, "status");
  if (!status)
    return;
  for (auto* key : {"capacity", "allocatable"})
    if (auto* amounts = object_at(*status, key))
      respell_amounts(*amounts);
  if (auto* capacity = object_at(*status, "capacity");
      capacity && !member(*status, "allocatable")) {
    auto copy = *capacity; // adding a member moves the others
    (*status)["allocatable"] = std::move(copy);
  }
}

void default_pod(json::object& object, const default_options& options) {
  ensure_object(object, "status"); // first: adding a member moves the others
  auto* spec = ensure_object(object, "spec");
  auto* status = object_at(object, "status");
  if (!spec || !status)
    return;
  default_pod_spec(*spec, options.scheduler_name);
  set_if_empty(*status, "phase", "Pending");
  set_if_empty(*status, "qosClass", qos_class(*spec));
}

void default_group(json::object& object, const default_options& options) {
  auto* spec = ensure_object(object, "spec");
  if (!spec)
    return;
  switch (options.kubernetes) {
  case release::v1_35:
    return;
  case release::v1_36:
    set_if_absent(*spec, "disruptionMode", "Pod");
    return;
  case release::v1_37:
    set_if_absent(*spec, "disruptionMode", json::object{{"single", json::object{}}});
    set_if_absent(*spec, "preemptionPolicy", "PreemptLowerPriority");
    return;
  }
}

} // namespace

void apply_defaults(json::object& object, const default_options& options) {
  constexpr std::string_view scheduling = "scheduling.k8s.io";
  if (is_of(object, {}, "Pod"))
    default_pod(object, options);
  else if (is_of(object, {}, "Node"))
    default_node(object);
  else if (is_of(object, {}, "Namespace"))
    default_namespace(object);
  else if (is_of(object, scheduling, "PriorityClass"))
    set_if_absent(object, "preemptionPolicy", "PreemptLowerPriority");
  else if (is_of(object, scheduling, "PodGroup") || is_of(object, scheduling, "CompositePodGroup"))
    default_group(object, options);
}

} // namespace tutti::api
