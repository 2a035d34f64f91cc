// The rules of Pod that a scheduler's work can meet: its link to a group, its containers' requests,
// and which fields may change.
#include <algorithm>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/quantity.hpp"
#include "api/validate_parts.hpp"

namespace tutti::api::detail {
namespace {

namespace json = boost::json;

constexpr std::string_view immutable_words =
    "pod updates may not change fields other than "
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

template <class F>
void for_each_item(const subject& s, std::string_view field, F&& f) {
  auto* list = list_at(s.now, field);
  for (std::size_t i = 0; list && i < list->size(); ++i)
    if (auto* item = (*list)[i].if_object())
      f(subject{s.kubernetes, s.is_update, s.errors, fmt::format("{}[{}]", s.at(field), i), nullptr,
                *item});
}

void check_amounts(const subject& resources, std::string_view field) {
  auto amounts = resources.inside(field);
  for (auto& [name, amount] : amounts.now)
    check_amount(amounts.errors, fmt::format("{}[{}]", amounts.path, std::string_view{name}), name,
                 amount);
}

/// A request may not exceed its limit; of extended resources and huge pages both must be equal.
void check_limits(const subject& resources) {
  auto requests = resources.inside("requests"), limits = resources.inside("limits");
  for (auto& [name, amount] : requests.now) {
    auto request = quantity_of(amount);
    auto* limit_value = member(limits.now, name);
    auto path = fmt::format("{}[{}]", requests.path, std::string_view{name});
    std::string_view resource = name;
    bool is_extended =
        resource.find('/') != resource.npos && !resource.starts_with("kubernetes.io/");
    if (!limit_value) {
      if (is_extended)
        resources.errors.required(limits.path, fmt::format("{}: as much as is requested", resource),
                                  "Limit must be set for non overcommitable resources");
      continue;
    }
    auto limit = quantity_of(*limit_value);
    if (!request || !limit)
      continue;
    if (is_extended && request->compare(*limit) != 0)
      resources.errors.invalid(
          path, quoted(request->text()),
          fmt::format("must be equal to {} limit of {}", resource, limit->text()));
    else if (request->compare(*limit) > 0)
      resources.errors.invalid(
          path, quoted(request->text()),
          fmt::format("must be less than or equal to {} limit of {}", resource, limit->text()));
  }
}

void check_container(const subject& container, std::set<std::string_view>& names) {
  auto name = text_at(container.now, "name");
  check_required_name(container, "name", label_problem);
  if (!name.empty() && !names.insert(name).second)
    container.errors.duplicate(container.at("name"), quoted(name));
  if (text_at(container.now, "image").empty())
    container.errors.required(container.at("image"), "the name of an image");
  auto resources = container.inside("resources");
  check_amounts(resources, "limits");
  check_amounts(resources, "requests");
  check_limits(resources);
}

void check_group_link(const subject& spec) {
  if (spec.kubernetes == release::v1_35) {
    if (!member(spec.now, "workloadRef"))
      return;
    auto ref = spec.inside("workloadRef");
    check_required_name(ref, "name", subdomain_problem);
    check_required_name(ref, "podGroup", label_problem);
    return check_optional_name(ref, "podGroupReplicaKey", label_problem);
  }
  if (!member(spec.now, "schedulingGroup"))
    return;
  auto group = spec.inside("schedulingGroup");
  auto path = group.at("podGroupName");
  auto name = text_at(group.now, "podGroupName");
  if (!member(group.now, "podGroupName"))
    spec.errors.invalid(path, "null", "must specify one of: `podGroupName`");
  else if (auto problem = subdomain_problem(name); !problem.empty())
    spec.errors.invalid(path, quoted(name), problem);
}

void check_new_pod(const subject& spec) {
  std::set<std::string_view> names;
  auto* containers = list_at(spec.now, "containers");
  if (!containers || containers->empty())
    spec.errors.required(spec.at("containers"), "one container or more");
  for_each_item(spec, "containers", [&](const subject& one) { check_container(one, names); });
  for_each_item(spec, "initContainers", [&](const subject& one) { check_container(one, names); });
  check_optional_name(spec, "nodeName", subdomain_problem);
  check_optional_name(spec, "priorityClassName", subdomain_problem);
  std::set<std::string_view> gates;
  for_each_item(spec, "schedulingGates", [&](const subject& gate) {
    check_required_name(gate, "name", label_key_problem);
    if (auto name = text_at(gate.now, "name"); !gates.insert(name).second)
      gate.errors.duplicate(gate.path, json::serialize(gate.now));
  });
  if (auto grace = integer_at(spec.now, "terminationGracePeriodSeconds"); grace && *grace < 0)
    spec.errors.invalid(spec.at("terminationGracePeriodSeconds"), std::to_string(*grace),
                        "must be greater than or equal to 0");
  check_group_link(spec);
}

/// True if every item of `part` is in `whole`.
bool covers(const json::object& whole, const json::object& part, std::string_view field) {
  auto* more = list_at(whole, field);
  auto* less = list_at(part, field);
  if (!less || less->empty())
    return true;
  return more && std::all_of(less->begin(), less->end(), [&](auto& item) {
           return std::any_of(more->begin(), more->end(),
                              [&](auto& other) { return is_same(&item, &other); });
         });
}

void take_over(json::object& to, const json::object& from, std::string_view field) {
  if (auto* value = from.if_contains(field))
    to[field] = *value;
  else
    to.erase(field);
}

void take_over_images(json::object& to, const json::object& from, std::string_view field) {
  auto* now = list_at(to, field);
  auto* old = list_at(from, field);
  for (std::size_t i = 0; now && old && i < now->size() && i < old->size(); ++i)
    if ((*now)[i].is_object() && (*old)[i].is_object())
      take_over((*now)[i].get_object(), (*old)[i].get_object(), "image");
}

/// `now` with all changes undone that are allowed: what is left over is not.
json::object without_allowed_changes(const json::object& old, const json::object& now) {
  auto rest = now;
  take_over(rest, old, "activeDeadlineSeconds");
  take_over_images(rest, old, "containers");
  take_over_images(rest, old, "initContainers");
  if (covers(now, old, "tolerations"))
    take_over(rest, old, "tolerations");
  auto* gates = list_at(old, "schedulingGates");
  if (!gates || gates->empty())
    return rest;
  if (covers(old, now, "schedulingGates"))
    take_over(rest, old, "schedulingGates");
  // While a pod is gated, what it demands of nodes may become stricter.
  auto *selector = object_at(old, "nodeSelector"), *tighter = object_at(now, "nodeSelector");
  bool is_tighter =
      !selector || (tighter && std::all_of(selector->begin(), selector->end(), [&](auto& item) {
                      auto* kept = tighter->if_contains(item.key());
                      return kept && *kept == item.value();
                    }));
  if (is_tighter)
    take_over(rest, old, "nodeSelector");
  return rest;
}

void check_pod_update(const subject& spec) {
  auto rest = without_allowed_changes(*spec.old, spec.now);
  std::set<std::string> changed;
  for (auto& [name, value] : rest)
    if (!is_same(&value, spec.old->if_contains(name)))
      changed.insert("spec." + std::string{name});
  for (auto& [name, value] : *spec.old)
    if (!is_same(&value, rest.if_contains(name)))
      changed.insert("spec." + std::string{name});
  if (!changed.empty())
    spec.errors.forbidden(spec.path,
                          fmt::format("{}\n{}", immutable_words, fmt::join(changed, "\n")));
}

} // namespace

void check_pod(const subject& s) {
  auto spec = s.inside("spec");
  if (spec.old)
    check_pod_update(spec);
  else
    check_new_pod(spec);
}

void check_pod_status(const subject& s) {
  auto status = s.inside("status");
  if (!text_at(status.now, "nominatedNodeName").empty()
      && !is_unchanged(status, "nominatedNodeName")
      && !text_at(s.inside("spec").now, "nodeName").empty())
    s.errors.forbidden(status.at("nominatedNodeName"),
                       "may not be set on pods that are already bound to a node");
}

} // namespace tutti::api::detail
