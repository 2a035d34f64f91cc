// Defaults, admission and validation on the server's side of the API.
#include "sim/api_server/rules.hpp"

#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {

void fill(json::object& into, std::string_view key, json::value v) {
  if (!into.contains(key))
    into[key] = std::move(v);
}

bool is_group(kind_id kind) {
  return kind == kind_id::pod_groups || kind == kind_id::composite_pod_groups;
}

} // namespace

std::optional<refusal> rules::check_fields(const endpoint&, json::object&, std::string_view,
                                           std::string&) const {
  return std::nullopt;
}

std::optional<refusal> rules::admit(const endpoint& what, json::object& doc) const {
  auto kind = what.what->id;
  subject who{what.group, what.what->plural, text_at(doc, {"metadata", "name"})};
  if (who.name.empty())
    return invalid(what.what->kind, who,
                   {{"FieldValueRequired", "Required value: name or generateName is required",
                     "metadata.name"}});
  if (kind == kind_id::pods) {
    auto& spec = child(doc, "spec");
    fill(spec, "schedulerName", json::value(options_.default_scheduler));
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
  }
  if (kind == kind_id::pods || is_group(kind))
    if (auto refused = admit_priority(what, doc))
      return refused;
  if (kind == kind_id::pod_groups) {
    auto& list = child(doc, "metadata")["finalizers"];
    if (!list.is_array())
      list = json::array(doc.storage());
    json::value mark("scheduling.k8s.io/podgroup-protection");
    bool has = false;
    for (const auto& x : list.get_array())
      has = has || x == mark;
    if (!has)
      list.get_array().push_back(mark);
  }
  return std::nullopt;
}

std::optional<refusal> rules::admit_priority(const endpoint& what, json::object& doc) const {
  auto& spec = child(doc, "spec");
  subject who{what.group, what.what->plural, text_at(doc, {"metadata", "name"})};
  auto name = text_at(doc, {"spec", "priorityClassName"});
  if (name.empty()) {
    fill(spec, "priority", 0);
    fill(spec, "preemptionPolicy", "PreemptLowerPriority");
    return std::nullopt;
  }
  auto found = store_.find(kind_id::priority_classes, name);
  if (!found)
    return forbidden(who, fmt::format("no PriorityClass with name {} was found", name));
  draft parsed{found->body};
  auto* value = parsed.doc().if_contains("value");
  if (value)
    fill(spec, "priority", json::value(*value, doc.storage()));
  fill(spec, "preemptionPolicy",
       json::value(text_at(parsed.doc(), {"preemptionPolicy"}) == "Never"
                       ? "Never"
                       : "PreemptLowerPriority"));
  return std::nullopt;
}

std::optional<refusal> rules::admit_update(const endpoint& what, const json::object& before,
                                           json::object& now, bool is_status) const {
  if (what.what->id == kind_id::pods && is_status
      && !text_at(before, {"spec", "nodeName"}).empty()) {
    auto nominated = text_at(now, {"status", "nominatedNodeName"});
    if (!nominated.empty() && nominated != text_at(before, {"status", "nominatedNodeName"}))
      return invalid("Pod", {"", "pods", text_at(now, {"metadata", "name"})},
                     {{"FieldValueForbidden",
                       "Forbidden: may not be set on pods that are already bound to a node",
                       "status.nominatedNodeName"}});
  }
  return std::nullopt;
}

} // namespace tutti::sim::api_server
