// What admission makes of an object before it is stored.
#include "api/admission.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/validate_errors.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

constexpr std::string_view protection = "scheduling.k8s.io/podgroup-protection";

bool is_group(const json::object& object) {
  auto kind = text_at(object, "kind");
  return text_at(object, "apiVersion").starts_with("scheduling.k8s.io/")
         && (kind == "PodGroup" || kind == "CompositePodGroup");
}
bool is_pod(const json::object& object) {
  return text_at(object, "apiVersion") == "v1" && text_at(object, "kind") == "Pod";
}

/// How messages call an object: `pods "p"`, `podgroups.scheduling.k8s.io "x"`.
std::string resource_text(const json::object& object) {
  auto kind = text_at(object, "kind");
  auto* metadata = object_at(object, "metadata");
  auto resource = kind == "Pod"        ? "pods"
                  : kind == "PodGroup" ? "podgroups.scheduling.k8s.io"
                                       : "compositepodgroups.scheduling.k8s.io";
  return fmt::format("{} {}", resource, quoted(metadata ? text_at(*metadata, "name") : ""));
}

refusal forbidden(const json::object& object, std::string_view why) {
  return {403, "Forbidden", fmt::format("{} is forbidden: {}", resource_text(object), why), {}};
}

std::optional<priority_class> system_class(std::string_view name) {
  constexpr std::int32_t cluster_critical = 2'000'000'000, node_critical = 2'000'001'000;
  if (name != "system-cluster-critical" && name != "system-node-critical")
    return std::nullopt;
  priority_class found;
  found.meta.name = name;
  found.value = name == "system-node-critical" ? node_critical : cluster_critical;
  return found;
}

std::optional<refusal> check_priority(json::object& object, json::object& spec,
                                      std::int32_t computed) {
  auto given = integer_at(spec, "priority");
  if (!given || *given == computed) {
    spec["priority"] = computed;
    return std::nullopt;
  }
  if (is_pod(object))
    return forbidden(object, fmt::format("the integer value of priority ({}) must not be provided "
                                         "in pod spec; priority admission controller computed {} "
                                         "from the given PriorityClass name",
                                         *given, computed));
  auto what = text_at(object, "kind") == "PodGroup" ? "pod group" : "composite pod group";
  return forbidden(object, fmt::format("priority set in the {} ({}) must match the priority "
                                       "computed ({}) based on the priority class set in the spec",
                                       what, *given, computed));
}

std::optional<refusal> check_preemption(json::object& object, json::object& spec, bool is_never) {
  std::string_view computed = is_never ? "Never" : "PreemptLowerPriority";
  auto given = text_at(spec, "preemptionPolicy");
  if (given.empty() || given == computed) {
    spec["preemptionPolicy"] = computed;
    return std::nullopt;
  }
  auto what = is_pod(object)                          ? "pod"
              : text_at(object, "kind") == "PodGroup" ? "pod group"
                                                      : "composite pod group";
  return forbidden(object, fmt::format("the string value of PreemptionPolicy ({}) must not be "
                                       "provided in {} spec; priority admission controller "
                                       "computed {} from the given PriorityClass name",
                                       given, what, computed));
}

/// Kinds whose status only /status may write, from the first moment on.
bool drops_status_on_create(const json::object& object) {
  return is_group(object) || is_pod(object);
}

bool has_status_part(const json::object& object) {
  auto kind = text_at(object, "kind");
  return is_group(object) || is_pod(object) || kind == "Node" || kind == "Namespace"
         || kind == "PodDisruptionBudget";
}

void take_over(json::object& to, const json::object& from, std::string_view field) {
  if (auto* value = member(from, field))
    to[field] = *value;
  else
    to.erase(field);
}

/// A write to the status of a group leaves the rest of it alone, preconditions apart.
void keep_metadata(const json::object& old, json::object& now) {
  auto* before = object_at(old, "metadata");
  auto* after = object_at(now, "metadata");
  if (!is_group(now) || !before || !after)
    return;
  for (auto* field : {"labels", "annotations", "finalizers", "ownerReferences"})
    take_over(*after, *before, field);
}

/// What admission filled in is not asked for again.
void keep_priority(const json::object& old, json::object& now) {
  auto* before = object_at(old, "spec");
  auto* spec = object_at(now, "spec");
  if (!before || !spec)
    return;
  for (auto* field : {"priority", "preemptionPolicy"})
    if (!member(*spec, field))
      take_over(*spec, *before, field);
}

} // namespace

std::optional<refusal> admit_priority(json::object& object, release kubernetes,
                                      const cluster_lookup& cluster) {
  bool has_priority = is_pod(object) || (is_group(object) && kubernetes != release::v1_35);
  auto* spec = has_priority ? ensure_object(object, "spec") : nullptr;
  if (!spec)
    return std::nullopt;
  auto name = std::string{text_at(*spec, "priorityClassName")};
  std::optional<priority_class> found;
  if (name.empty()) {
    found = cluster.default_class ? cluster.default_class() : std::nullopt;
    if (found)
      (*spec)["priorityClassName"] = found->meta.name;
  } else {
    found = cluster.class_named ? cluster.class_named(name) : std::nullopt;
    if (!found)
      found = system_class(name);
    if (!found)
      return forbidden(object, fmt::format("no PriorityClass with name {} was found", name));
  }
  if (auto refused = check_priority(object, *spec, found ? found->value : 0))
    return refused;
  if (is_pod(object) || kubernetes == release::v1_37)
    return check_preemption(object, *spec, found && found->never_preempts);
  return std::nullopt;
}

void add_finalizers(json::object& object) {
  if (!is_group(object) || text_at(object, "kind") != "PodGroup")
    return;
  auto* metadata = ensure_object(object, "metadata");
  if (!metadata)
    return;
  set_if_absent(*metadata, "finalizers", json::array{});
  auto* finalizers = list_at(*metadata, "finalizers");
  if (!finalizers)
    return;
  for (auto& one : *finalizers)
    if (one.is_string() && one.get_string() == protection)
      return;
  finalizers->push_back(json::value(protection));
}

std::optional<refusal> refuse_references(const json::object& object, release kubernetes,
                                         const cluster_lookup& cluster) {
  if (kubernetes != release::v1_36 || !is_group(object) || !cluster.workload)
    return std::nullopt;
  auto* spec = object_at(object, "spec");
  auto* ref = spec ? object_at(*spec, "podGroupTemplateRef") : nullptr;
  auto* to = ref ? object_at(*ref, "workload") : nullptr;
  if (!to)
    return std::nullopt;
  auto* metadata = object_at(object, "metadata");
  auto name = text_at(*to, "workloadName"), wanted = text_at(*to, "podGroupTemplateName");
  auto* workload = cluster.workload(metadata ? text_at(*metadata, "namespace") : "", name);
  auto* about = workload ? object_at(*workload, "metadata") : nullptr;
  if (!workload || (about && member(*about, "deletionTimestamp")))
    return forbidden(object, fmt::format("PodGroup rejected: Workload {} {}", quoted(name),
                                         workload ? "is being deleted" : "not found"));
  auto* its_spec = object_at(*workload, "spec");
  if (auto* templates = its_spec ? list_at(*its_spec, "podGroupTemplates") : nullptr)
    for (auto& one : *templates)
      if (one.is_object() && text_at(one.get_object(), "name") == wanted)
        return std::nullopt;
  return forbidden(object, fmt::format("PodGroup rejected: PodGroupTemplate {} not found in "
                                       "Workload {}",
                                       quoted(wanted), quoted(name)));
}

std::optional<refusal> admit_new(json::object& object, const default_options& options,
                                 const cluster_lookup& cluster) {
  if (drops_status_on_create(object))
    object.erase("status");
  apply_defaults(object, options);
  if (auto refused = admit_priority(object, options.kubernetes, cluster))
    return refused;
  add_finalizers(object);
  if (auto refused = refuse_create(options.kubernetes, object))
    return refused;
  return refuse_references(object, options.kubernetes, cluster);
}

std::optional<refusal> admit_update(const json::object& old, json::object& now, object_part part,
                                    const default_options& options) {
  if (part == object_part::status) {
    take_over(now, old, "spec");
    keep_metadata(old, now);
  } else if (has_status_part(now)) {
    take_over(now, old, "status");
  }
  apply_defaults(now, options);
  if (part == object_part::main && is_pod(now))
    keep_priority(old, now);
  return refuse_update(options.kubernetes, old, now, part);
}

} // namespace tutti::api
