// Reads groups and workloads of every dialect into one model.
#include "api/decode.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "api/decode_parts.hpp"

namespace tutti::api {
namespace {

/// The first reason to refuse stands; later ones add nothing.
void refuse(group_rules& rules, const cursor& where, std::string_view why) {
  if (rules.refused.empty())
    rules.refused = fmt::format("{}: {}", where.path(), why);
}

/// Which member of a union of objects is set. An empty name if none is; refuses if several are or
/// one that is not in `known`.
std::string chosen_member(const cursor& x, std::initializer_list<std::string_view> known,
                          group_rules& rules) {
  std::string out;
  x.members([&](std::string_view name, const cursor&) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      refuse(rules, x, fmt::format("\"{}\" is not known to this scheduler", name));
    else if (!out.empty())
      refuse(rules, x, fmt::format("both \"{}\" and \"{}\" are set", out, name));
    else
      out = name;
  });
  return out;
}

void read_policy(const cursor& policy, std::string_view count_field, group_rules& rules) {
  auto chosen = chosen_member(policy, {"basic", "gang"}, rules);
  if (chosen.empty())
    refuse(rules, policy, "neither \"basic\" nor \"gang\" is set");
  rules.is_basic = chosen == "basic";
  if (chosen != "gang")
    return;
  auto gang = policy["gang"];
  auto count = gang[count_field];
  auto wanted = count.integer32();
  if (wanted < 1)
    refuse(rules, count, fmt::format("{} is less than 1", wanted));
  else
    rules.min_count = wanted;
}

void read_disruption(const cursor& mode, dialect spoken, group_rules& rules) {
  if (!mode.is_set())
    return;
  if (spoken != dialect::v1alpha2) {
    rules.evicts_whole = chosen_member(mode, {"single", "all"}, rules) == "all";
    return;
  }
  auto word = mode.text();
  rules.evicts_whole = word == "PodGroup";
  if (!word.empty() && word != "Pod" && word != "PodGroup")
    refuse(rules, mode, fmt::format("\"{}\" is not known to this scheduler", word));
}

void read_preemption(const cursor& policy, group_rules& rules) {
  auto word = policy.text();
  if (word == "Never" || word == "PreemptLowerPriority")
    rules.never_preempts = word == "Never";
  else if (!word.empty())
    refuse(rules, policy, fmt::format("\"{}\" is not known to this scheduler", word));
}

void read_topology(const cursor& list, group_rules& rules) {
  if (list.size() > 1)
    refuse(rules, list, fmt::format("{} constraints, at most 1 is known", list.size()));
  list.each([&](const cursor& x) {
    if (rules.topology_key.empty())
      rules.topology_key = x["key"].text();
    if (rules.topology_key.empty())
      refuse(rules, x, "a constraint without a key");
  });
}

group_rules read_rules(const cursor& x, dialect spoken, bool is_composite) {
  group_rules out;
  read_policy(x[spoken == dialect::v1alpha1 ? "policy" : "schedulingPolicy"],
              is_composite ? "minGroupCount" : "minCount", out);
  if (spoken == dialect::v1alpha1)
    return out;
  auto constraints = x["schedulingConstraints"];
  read_topology(constraints["topology"], out);
  read_disruption(x["disruptionMode"], spoken, out);
  out.priority = x["priority"].maybe_integer32();
  out.priority_class_name = x["priorityClassName"].text();
  if (spoken != dialect::v1alpha2)
    read_preemption(x["preemptionPolicy"], out);
  x["resourceClaims"].each([&](const cursor& c) {
    out.claims.push_back(
        {c["name"].text(), c["resourceClaimName"].text(), c["resourceClaimTemplateName"].text()});
  });
  return out;
}

template_ref read_template_ref(const cursor& spec, dialect spoken) {
  if (spoken == dialect::v1alpha2) {
    auto ref = spec["podGroupTemplateRef"];
    auto of_workload = ref["workload"];
    return {of_workload["workloadName"].text(), of_workload["podGroupTemplateName"].text()};
  }
  auto ref = spec["workloadRef"];
  return {ref["workloadName"].text(), ref["templateName"].text()};
}

pod_group read_group(const cursor& root, dialect spoken, bool is_composite) {
  pod_group out;
  out.meta = read_meta(root);
  out.spoken = spoken;
  out.is_composite = is_composite;
  auto spec = root["spec"];
  out.rules = read_rules(spec, spoken, is_composite);
  out.made_from = read_template_ref(spec, spoken);
  if (spoken != dialect::v1alpha2)
    out.parent = spec["parentCompositePodGroupName"].text();
  auto status = root["status"];
  out.conditions = read_conditions(status["conditions"]);
  status["resourceClaimStatuses"].each([&](const cursor& x) {
    out.claim_names.insert_or_assign(x["name"].text(), x["resourceClaimName"].text());
  });
  return out;
}

/// Servers allow four levels; a bound of our own keeps a hostile document from growing the stack.
constexpr int template_depth_max = 16;

void read_templates(const cursor& x, dialect spoken, int depth, std::vector<group_template>& out) {
  if (depth > template_depth_max) {
    x.mistake("templates are nested too deep");
    return;
  }
  x[spoken == dialect::v1alpha1 ? "podGroups" : "podGroupTemplates"].each([&](const cursor& t) {
    out.push_back({t["name"].text(), false, read_rules(t, spoken, false), {}});
  });
  if (spoken == dialect::v1alpha1 || spoken == dialect::v1alpha2)
    return;
  x["compositePodGroupTemplates"].each([&](const cursor& t) {
    group_template one{t["name"].text(), true, read_rules(t, spoken, true), {}};
    read_templates(t, spoken, depth + 1, one.children);
    out.push_back(std::move(one));
  });
}

} // namespace

base::result<pod_group> decode_pod_group(const boost::json::object& object, dialect spoken) {
  if (!has_pod_groups(spoken))
    return base::error{base::code::bad_input,
                       fmt::format("{} has no PodGroup", api_version_of(spoken))};
  return decode_whole(object, [&](const cursor& root) { return read_group(root, spoken, false); });
}

base::result<pod_group> decode_composite_pod_group(const boost::json::object& object) {
  return decode_whole(object,
                      [](const cursor& root) { return read_group(root, dialect::v1alpha3, true); });
}

base::result<workload> decode_workload(const boost::json::object& object, dialect spoken) {
  return decode_whole(object, [&](const cursor& root) {
    workload out;
    out.meta = read_meta(root);
    out.spoken = spoken;
    auto spec = root["spec"];
    auto owner = spec["controllerRef"];
    out.controller.api_version = owner["apiGroup"].text();
    out.controller.kind = owner["kind"].text();
    out.controller.name = owner["name"].text();
    read_templates(spec, spoken, 1, out.templates);
    return out;
  });
}

} // namespace tutti::api
