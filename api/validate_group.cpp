// The rules of PodGroup and CompositePodGroup, and of their status.
#include <array>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/validate_parts.hpp"

namespace tutti::api::detail {
namespace {

namespace json = boost::json;

constexpr std::size_t claim_statuses_max = 4;
constexpr std::string_view workload_ref_words = "an object with workloadName and templateName";

/// 1.37: which template of which Workload a group was made from.
void check_workload_ref(const subject& spec) {
  auto ref = spec.inside("workloadRef");
  check_required_name(ref, "workloadName", subdomain_problem);
  check_required_name(ref, "templateName", label_problem);
}

/// 1.36: the same in another shape.
void check_template_ref(const subject& spec) {
  auto ref = spec.inside("podGroupTemplateRef");
  check_union(ref, {"workload"});
  if (!member(ref.now, "workload"))
    return;
  auto workload = ref.inside("workload");
  check_required_name(workload, "workloadName", subdomain_problem);
  check_required_name(workload, "podGroupTemplateName", label_problem);
}

void check_condition(const subject& s) {
  check_required_name(s, "type", label_key_problem);
  auto status = text_at(s.now, "status");
  if (status != "True" && status != "False" && status != "Unknown")
    s.errors.not_supported(s.at("status"), status, {"False", "True", "Unknown"});
  if (text_at(s.now, "lastTransitionTime").empty())
    s.errors.required(s.at("lastTransitionTime"), "a time, for example 2026-01-02T03:04:05Z");
  check_required_name(s, "reason", condition_reason_problem);
}

void check_conditions(const subject& status) {
  auto* conditions = list_at(status.now, "conditions");
  if (!conditions || is_unchanged(status, "conditions"))
    return;
  for (std::size_t i = 0; i < conditions->size(); ++i)
    if (auto* condition = (*conditions)[i].if_object())
      check_condition({status.kubernetes, status.is_update, status.errors,
                       fmt::format("{}[{}]", status.at("conditions"), i), nullptr, *condition});
}

void check_claim_statuses(const subject& s, const subject& status) {
  auto* list = list_at(status.now, "resourceClaimStatuses");
  if (!list || is_unchanged(status, "resourceClaimStatuses"))
    return;
  if (list->size() > claim_statuses_max)
    return s.errors.too_many(status.at("resourceClaimStatuses"), list->size(), claim_statuses_max);
  std::set<std::string_view> claims;
  auto spec = s.inside("spec");
  if (auto* known = list_at(spec.now, "resourceClaims"))
    for (auto& claim : *known)
      if (auto* object = claim.if_object())
        claims.insert(text_at(*object, "name"));
  for (std::size_t i = 0; i < list->size(); ++i) {
    auto* one = (*list)[i].if_object();
    auto name = one ? text_at(*one, "name") : std::string_view{};
    if (!claims.contains(name))
      s.errors.invalid(fmt::format("{}[{}].name", status.at("resourceClaimStatuses"), i),
                       quoted(name), "must match the name of an entry in `spec.resourceClaims`");
  }
}

} // namespace

void check_pod_group(const subject& s) {
  auto spec = s.inside("spec");
  if (s.kubernetes == release::v1_36) {
    if (is_open(spec, "podGroupTemplateRef") && member(spec.now, "podGroupTemplateRef"))
      check_template_ref(spec);
    if (is_open(spec, "schedulingPolicy"))
      check_policy(spec, "schedulingPolicy", "minCount");
    return check_placement(spec, true);
  }
  bool has_parent = member(spec.now, "parentCompositePodGroupName");
  if (is_open(spec, "parentCompositePodGroupName"))
    check_optional_name(spec, "parentCompositePodGroupName", subdomain_problem);
  if (is_open(spec, "workloadRef")) {
    if (member(spec.now, "workloadRef"))
      check_workload_ref(spec);
    else if (has_parent)
      s.errors.required(spec.at("workloadRef"), workload_ref_words,
                        "must be set when parentCompositePodGroupName is set");
  }
  check_policy(spec, "schedulingPolicy", "minCount");
  check_placement(spec, true);
}

void check_composite_pod_group(const subject& s) {
  auto spec = s.inside("spec");
  if (is_open(spec, "parentCompositePodGroupName"))
    check_optional_name(spec, "parentCompositePodGroupName", subdomain_problem);
  if (is_open(spec, "workloadRef")) {
    if (member(spec.now, "workloadRef"))
      check_workload_ref(spec);
    else
      s.errors.required(spec.at("workloadRef"), workload_ref_words);
  }
  if (is_open(spec, "schedulingPolicy"))
    check_policy(spec, "schedulingPolicy", "minGroupCount");
  check_placement(spec, false);
}

void check_group_status(const subject& s) {
  auto status = s.inside("status");
  check_conditions(status);
  check_claim_statuses(s, status);
}

} // namespace tutti::api::detail
