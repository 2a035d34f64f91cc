// Small questions about objects.
#include "api/objects.hpp"

#include <fmt/core.h>

namespace tutti::api {

const condition* find_condition(const std::vector<condition>& list, std::string_view type) {
  for (const auto& x : list)
    if (x.type == type)
      return &x;
  return nullptr;
}

bool counts_for_scheduling(std::string_view name) {
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name == "pods"
         || name.starts_with("hugepages-") || name.starts_with("attachable-volumes-")
         || name.find('/') != std::string_view::npos;
}

bool pod_group::has_started() const {
  auto type = is_composite ? "CompositePodGroupInitiallyScheduled" : scheduled_condition_of(spoken);
  const auto* found = type.empty() ? nullptr : find_condition(conditions, type);
  return found != nullptr && found->is_true();
}

namespace {

const group_template* find_in(const std::vector<group_template>& list, std::string_view name) {
  for (const auto& x : list) {
    if (x.name == name)
      return &x;
    if (const auto* below = find_in(x.children, name))
      return below;
  }
  return nullptr;
}

} // namespace

const group_template* find_template(const workload& w, std::string_view name) {
  return find_in(w.templates, name);
}

std::string synthetic_group_name(const workload_member_ref& ref) {
  if (ref.replica_key.empty())
    return fmt::format("{}/{}", ref.workload, ref.pod_group);
  return fmt::format("{}/{}/{}", ref.workload, ref.pod_group, ref.replica_key);
}

pod_group synthesise_group(const workload& w, const workload_member_ref& ref) {
  pod_group out;
  out.spoken = dialect::v1alpha1;
  out.meta.space = w.meta.space;
  out.meta.name = synthetic_group_name(ref);
  out.meta.uid = fmt::format("{}/{}{}{}", w.meta.uid, ref.pod_group,
                             ref.replica_key.empty() ? "" : "/", ref.replica_key);
  out.meta.created = w.meta.created;
  out.meta.deleting_since = w.meta.deleting_since;
  out.made_from = {ref.workload, ref.pod_group};
  if (const auto* source = find_template(w, ref.pod_group))
    out.rules = source->rules;
  else
    out.rules.refused =
        fmt::format("Workload \"{}\" has no pod group \"{}\"", w.meta.name, ref.pod_group);
  return out;
}

} // namespace tutti::api
