// Groups and composite groups in the words of each Kubernetes release.
#include <fmt/format.h>

#include "sim/scenario/shorthand_parts.hpp"

namespace tutti::sim::scenario {

namespace {

json::value mode_of(const tree& x, api::release kubernetes) {
  const auto& word = word_of(x, "disruption mode", {"single", "all"});
  if (kubernetes == api::release::v1_36)
    return json::value(word == "all" ? "PodGroup" : "Pod");
  return json::object{{word, json::object{}}};
}

/// What the minimum says: a gang, or no condition at all.
json::object policy_of(const tree* min, std::string_view field) {
  if (!min)
    return {{"basic", json::object{}}};
  return {{"gang", {{field, number_of(*min)}}}};
}

json::object topology_of(const tree& key) {
  json::object one{{"key", label_key(text_of(key))}};
  return {{"topology", json::array{std::move(one)}}};
}

json::object started_status(api::release kubernetes) {
  json::object condition{{"type", group_condition_of(kubernetes)},
                         {"status", "True"},
                         {"reason", "Scheduled"},
                         {"message", "all members were bound before the story begins"},
                         {"lastTransitionTime", "2030-01-01T00:00:00Z"}};
  return {{"conditions", json::array{std::move(condition)}}};
}

/// 1.35 has no groups: an entry of a Workload, of the same name, is one.
json::object workload_of(const full_name& name, const tree* min) {
  auto out = object_of("scheduling.k8s.io/v1alpha1", "Workload", name);
  json::object entry{{"name", name.api_name()}, {"policy", policy_of(min, "minCount")}};
  out["spec"] = {{"podGroups", json::array{std::move(entry)}}};
  return out;
}

wanted_object group_of(const full_name& name, const tree& x, const spoken_api& how,
                       prerequisites& needed) {
  mapping fields{x, "field of a group"};
  wanted_object out;
  const auto* min = fields.take("min");
  json::object spec{{"schedulingPolicy", policy_of(min, "minCount")}};
  if (const auto* key = fields.take("key"))
    spec["schedulingConstraints"] = topology_of(*key);
  const auto* never = fields.take("preemption");
  if (never)
    word_of(*never, "preemption policy", {"Never"});
  const auto* priority = fields.take("prio");
  if (priority || never)
    spec["priorityClassName"] =
        needed.class_of(priority ? number_of(*priority) : 0, never != nullptr);
  if (never)
    spec["preemptionPolicy"] = "Never";
  if (const auto* mode = fields.take("mode"))
    spec["disruptionMode"] = mode_of(*mode, how.kubernetes);
  const auto* parent = fields.take("parent");
  if (parent)
    spec["parentCompositePodGroupName"] = split_name(text_of(*parent)).api_name();
  if (const auto* claims = fields.take("claims")) {
    json::array list;
    for (const auto& claim : expand_all(*claims)) {
      const auto api_name = split_name(claim).api_name();
      list.push_back(json::object{{"name", api_name}, {"resourceClaimName", api_name}});
    }
    spec["resourceClaims"] = std::move(list);
  }
  const auto* started = fields.take("started");
  if (const auto* home = fields.take("home"))
    out.home = text_of(*home);
  fields.end();
  if (how.kubernetes == api::release::v1_35) {
    out.object = workload_of(name, min);
    return out;
  }
  const auto* version = how.kubernetes == api::release::v1_36 ? "v1alpha2"
                        : parent                              ? "v1alpha3"
                                                              : "v1beta1";
  out.object = object_of(fmt::format("scheduling.k8s.io/{}", version), "PodGroup", name);
  out.object["spec"] = std::move(spec);
  if (started && flag_of(*started))
    out.object["status"] = started_status(how.kubernetes);
  return out;
}

} // namespace

std::string group_condition_of(api::release kubernetes) {
  return kubernetes == api::release::v1_36 ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

wanted_objects read_groups(const tree& x, const spoken_api& how) {
  wanted_objects out;
  prerequisites needed;
  for_each_name(x, [&](const std::string& text, const tree& value) {
    const auto name = split_name(text);
    needed.add_space(name);
    out.push_back(group_of(name, value, how, needed));
  });
  return needed.before(std::move(out));
}

wanted_objects read_composites(const tree& x) {
  wanted_objects out;
  prerequisites needed;
  for_each_name(x, [&](const std::string& text, const tree& value) {
    const auto name = split_name(text);
    needed.add_space(name);
    mapping fields{value, "field of a composite group"};
    auto made = object_of("scheduling.k8s.io/v1alpha3", "CompositePodGroup", name);
    json::object spec{{"schedulingPolicy", policy_of(fields.take("min"), "minGroupCount")}};
    if (const auto* key = fields.take("key"))
      spec["schedulingConstraints"] = topology_of(*key);
    if (const auto* priority = fields.take("prio"))
      spec["priorityClassName"] = needed.class_of(number_of(*priority), false);
    if (const auto* parent = fields.take("parent"))
      spec["parentCompositePodGroupName"] = split_name(text_of(*parent)).api_name();
    fields.end();
    made["spec"] = std::move(spec);
    out.push_back({std::move(made)});
  });
  return needed.before(std::move(out));
}

} // namespace tutti::sim::scenario
