// The columns of each kind, as a real server prints them.
#include "sim/api_server/table.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "api/timestamp.hpp"
#include "sim/api_server/handler_parts.hpp"

namespace tutti::sim::api_server {

namespace {

struct column {
  std::string_view name;
  std::string_view type = "string";
  int priority = 0; ///< 1: only with -o wide
};

constexpr column name_column{"Name"};
constexpr column age_column{"Age"};

constexpr std::array node_columns{name_column,
                                  column{"Status"},
                                  column{"Roles"},
                                  age_column,
                                  column{"Version"},
                                  column{"Internal-IP", "string", 1},
                                  column{"External-IP", "string", 1},
                                  column{"OS-Image", "string", 1},
                                  column{"Kernel-Version", "string", 1},
                                  column{"Container-Runtime", "string", 1}};
constexpr std::array pod_columns{name_column,
                                 column{"Ready"},
                                 column{"Status"},
                                 column{"Restarts"},
                                 age_column,
                                 column{"IP", "string", 1},
                                 column{"Node", "string", 1},
                                 column{"Nominated Node", "string", 1},
                                 column{"Readiness Gates", "string", 1}};
constexpr std::array namespace_columns{name_column, column{"Status"}, age_column};
constexpr std::array class_columns{name_column, column{"Value", "integer"},
                                   column{"Global-Default", "boolean"}, age_column,
                                   column{"PreemptionPolicy"}};
constexpr std::array group_columns{name_column, column{"Policy"}, column{"Workload"},
                                   column{"Status"}, age_column};
constexpr std::array workload_columns{name_column, age_column};
constexpr std::array lease_columns{name_column, column{"Holder"}, age_column};
constexpr std::array budget_columns{name_column, column{"Min Available"}, column{"Max Unavailable"},
                                    column{"Allowed Disruptions"}, age_column};
constexpr column date_column{"Age", "date"}; // as columns of custom resources say it
constexpr std::array decision_columns{name_column,
                                      column{"Gang"},
                                      column{"Ordinal", "integer"},
                                      column{"Verdict"},
                                      column{"Done", "boolean"},
                                      date_column};
constexpr std::array custom_columns{name_column, date_column};
constexpr std::array event_columns{column{"Last Seen"},
                                   column{"Type"},
                                   column{"Reason"},
                                   column{"Object"},
                                   column{"Subobject", "string", 1},
                                   column{"Source", "string", 1},
                                   column{"Message"},
                                   column{"First Seen", "string", 1},
                                   column{"Count", "string", 1},
                                   column{"Name", "string", 1}};

std::span<const column> columns_of(kind_id kind) {
  switch (kind) {
  case kind_id::nodes:
    return node_columns;
  case kind_id::pods:
    return pod_columns;
  case kind_id::namespaces:
    return namespace_columns;
  case kind_id::priority_classes:
    return class_columns;
  case kind_id::pod_groups:
  case kind_id::composite_pod_groups:
    return group_columns;
  case kind_id::leases:
    return lease_columns;
  case kind_id::pod_disruption_budgets:
    return budget_columns;
  case kind_id::events:
    return event_columns;
  case kind_id::gang_decisions:
    return decision_columns;
  case kind_id::gang_decision_chunks:
  case kind_id::partition_maps:
    return custom_columns;
  case kind_id::workloads:
  case kind_id::config_maps:
  case kind_id::resource_slices:
  case kind_id::resource_claims:
  case kind_id::device_classes:
    return workload_columns;
  }
  return workload_columns;
}

/// "5s", "3m20s", "2d": a duration as kubectl shortens it.
std::string short_duration(std::int64_t ms) {
  auto s = ms / 1000;
  if (s < 0)
    s = 0;
  if (s < 120)
    return fmt::format("{}s", s);
  auto m = s / 60;
  if (m < 10)
    return s % 60 == 0 ? fmt::format("{}m", m) : fmt::format("{}m{}s", m, s % 60);
  if (m < 180)
    return fmt::format("{}m", m);
  auto h = m / 60;
  if (h < 8)
    return m % 60 == 0 ? fmt::format("{}h", h) : fmt::format("{}h{}m", h, m % 60);
  if (h < 48)
    return fmt::format("{}h", h);
  if (h < 24 * 8)
    return h % 24 == 0 ? fmt::format("{}d", h / 24) : fmt::format("{}d{}h", h / 24, h % 24);
  if (h < 24 * 365 * 2)
    return fmt::format("{}d", h / 24);
  return fmt::format("{}y", h / 24 / 365);
}

std::string age_of(std::string_view timestamp, base::wall_time now) {
  auto t = api::parse_timestamp(timestamp);
  return t ? short_duration(now.unix_ms - t->unix_ms) : "<unknown>";
}

std::string or_none(std::string_view text, std::string_view none = "<none>") {
  return std::string{text.empty() ? none : text};
}

const json::object* condition_of(const json::object& doc, std::string_view type) {
  auto* list = look(doc, {"status", "conditions"});
  if (!list || !list->is_array())
    return nullptr;
  for (const auto& c : list->get_array())
    if (c.is_object() && text_at(c.get_object(), {"type"}) == type)
      return &c.get_object();
  return nullptr;
}

std::string address_of(const json::object& doc, std::string_view type) {
  auto* list = look(doc, {"status", "addresses"});
  if (list && list->is_array())
    for (const auto& a : list->get_array())
      if (a.is_object() && text_at(a.get_object(), {"type"}) == type)
        return std::string{text_at(a.get_object(), {"address"})};
  return "<none>";
}

json::array node_cells(const json::object& doc, const std::string& name, const std::string& age) {
  auto* ready = condition_of(doc, "Ready");
  std::string status = !ready                                  ? "Unknown"
                       : text_at(*ready, {"status"}) == "True" ? "Ready"
                                                               : "NotReady";
  auto* cordoned = look(doc, {"spec", "unschedulable"});
  if (cordoned && cordoned->is_bool() && cordoned->get_bool())
    status += ",SchedulingDisabled";
  std::string roles;
  constexpr std::string_view role = "node-role.kubernetes.io/";
  if (auto* labels = look(doc, {"metadata", "labels"}); labels && labels->is_object())
    for (const auto& [k, v] : labels->get_object())
      if (k.starts_with(role))
        roles += (roles.empty() ? "" : ",") + std::string{k.substr(role.size())};
  auto info = [&](std::string_view key) { return text_at(doc, {"status", "nodeInfo", key}); };
  return {json::value(name),
          json::value(status),
          json::value(or_none(roles)),
          json::value(age),
          json::value(info("kubeletVersion")),
          json::value(address_of(doc, "InternalIP")),
          json::value(address_of(doc, "ExternalIP")),
          json::value(or_none(info("osImage"), "<unknown>")),
          json::value(or_none(info("kernelVersion"), "<unknown>")),
          json::value(or_none(info("containerRuntimeVersion"), "<unknown>"))};
}

std::string pod_status(const json::object& doc) {
  std::string out{text_at(doc, {"status", "phase"})};
  if (auto reason = text_at(doc, {"status", "reason"}); !reason.empty())
    out = reason;
  auto* scheduled = condition_of(doc, "PodScheduled");
  if (scheduled && text_at(*scheduled, {"reason"}) == "SchedulingGated")
    out = "SchedulingGated";
  if (out == "Succeeded")
    out = "Completed";
  if (out == "Failed")
    out = "Error";
  if (look(doc, {"metadata", "deletionTimestamp"}))
    out = "Terminating";
  return out;
}

json::array pod_cells(const json::object& doc, const std::string& name, const std::string& age) {
  std::size_t total = 0, ready = 0;
  if (auto* list = look(doc, {"spec", "containers"}); list && list->is_array())
    total = list->get_array().size();
  if (auto* list = look(doc, {"status", "containerStatuses"}); list && list->is_array())
    ready =
        static_cast<std::size_t>(std::ranges::count_if(list->get_array(), [](const json::value& c) {
          auto* v = c.is_object() ? c.get_object().if_contains("ready") : nullptr;
          return v && v->is_bool() && v->get_bool();
        }));
  return {json::value(name),
          json::value(fmt::format("{}/{}", ready, total)),
          json::value(pod_status(doc)),
          json::value("0"),
          json::value(age),
          json::value(or_none(text_at(doc, {"status", "podIP"}))),
          json::value(or_none(text_at(doc, {"spec", "nodeName"}))),
          json::value(or_none(text_at(doc, {"status", "nominatedNodeName"}))),
          json::value("<none>")};
}

/// "Scheduled" once its condition is True, the condition's reason if it is False, else Pending.
std::string group_status(const json::object& doc) {
  auto* c = condition_of(doc, "PodGroupInitiallyScheduled");
  if (!c)
    c = condition_of(doc, "PodGroupScheduled");
  if (!c)
    return "Pending";
  if (text_at(*c, {"status"}) == "True")
    return "Scheduled";
  return or_none(text_at(*c, {"reason"}), "Pending");
}

json::array group_cells(const json::object& doc, const std::string& name, const std::string& age) {
  auto* policy = look(doc, {"spec", "schedulingPolicy"});
  auto* members = policy ? policy->if_object() : nullptr;
  auto word = members && members->contains("gang")    ? "Gang"
              : members && members->contains("basic") ? "Basic"
                                                      : "<none>";
  auto workload = text_at(doc, {"spec", "workloadRef", "workloadName"});
  if (workload.empty())
    workload = text_at(doc, {"spec", "podGroupTemplateRef", "workload", "workloadName"});
  return {json::value(name), json::value(word), json::value(or_none(workload)),
          json::value(group_status(doc)), json::value(age)};
}

std::string any_text(const json::value* v, std::string_view none) {
  if (!v || v->is_null())
    return std::string{none};
  return v->is_string() ? std::string{v->get_string()} : json::serialize(*v);
}

json::array event_cells(const json::object& doc, const object& x, base::wall_time now) {
  auto created = text_at(doc, {"metadata", "creationTimestamp"});
  auto last = text_at(doc, {"series", "lastObservedTime"});
  if (last.empty())
    last = text_at(doc, {"lastTimestamp"});
  if (last.empty())
    last = text_at(doc, {"eventTime"});
  if (last.empty())
    last = created;
  std::string kind{text_at(doc, {"involvedObject", "kind"})};
  std::ranges::transform(kind, kind.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  auto source = text_at(doc, {"source", "component"});
  if (source.empty())
    source = text_at(doc, {"reportingComponent"});
  auto* count = look(doc, {"series", "count"});
  if (!count)
    count = doc.if_contains("count");
  return {json::value(age_of(last, now)),
          json::value(text_at(doc, {"type"})),
          json::value(text_at(doc, {"reason"})),
          json::value(fmt::format("{}/{}", kind, text_at(doc, {"involvedObject", "name"}))),
          json::value(text_at(doc, {"involvedObject", "fieldPath"})),
          json::value(source),
          json::value(text_at(doc, {"message"})),
          json::value(age_of(created, now)),
          json::value(any_text(count, "1")),
          json::value(x.name())};
}

/// Values as they are, absent ones empty: what a server makes of the columns of a custom resource.
json::array decision_cells(const json::object& doc, const std::string& name,
                           const std::string& age) {
  const auto field = [&doc](std::string_view key) {
    const auto* v = look(doc, {"spec", key});
    return v ? *v : json::value(nullptr);
  };
  return {json::value(name), field("gang"), field("ordinal"),
          field("verdict"),  field("done"), json::value(age)};
}

json::array cells_of(const endpoint& what, const object& x, const json::object& doc,
                     base::wall_time now) {
  std::string name{x.name()};
  auto age = age_of(text_at(doc, {"metadata", "creationTimestamp"}), now);
  switch (what.what->id) {
  case kind_id::nodes:
    return node_cells(doc, name, age);
  case kind_id::pods:
    return pod_cells(doc, name, age);
  case kind_id::namespaces:
    return {json::value(name), json::value(text_at(doc, {"status", "phase"})), json::value(age)};
  case kind_id::priority_classes: {
    auto* value = doc.if_contains("value");
    auto* is_default = doc.if_contains("globalDefault");
    return {json::value(name), value ? *value : json::value(0),
            is_default ? *is_default : json::value(false), json::value(age),
            json::value(or_none(text_at(doc, {"preemptionPolicy"}), "PreemptLowerPriority"))};
  }
  case kind_id::pod_groups:
  case kind_id::composite_pod_groups:
    return group_cells(doc, name, age);
  case kind_id::leases:
    return {json::value(name), json::value(text_at(doc, {"spec", "holderIdentity"})),
            json::value(age)};
  case kind_id::pod_disruption_budgets:
    return {json::value(name), json::value(any_text(look(doc, {"spec", "minAvailable"}), "N/A")),
            json::value(any_text(look(doc, {"spec", "maxUnavailable"}), "N/A")),
            json::value(any_text(look(doc, {"status", "disruptionsAllowed"}), "0")),
            json::value(age)};
  case kind_id::events:
    return event_cells(doc, x, now);
  case kind_id::gang_decisions:
    return decision_cells(doc, name, age);
  case kind_id::workloads:
  case kind_id::config_maps:
  case kind_id::resource_slices:
  case kind_id::resource_claims:
  case kind_id::device_classes:
  case kind_id::gang_decision_chunks:
  case kind_id::partition_maps:
    break;
  }
  return {json::value(name), json::value(age)};
}

/// The metadata that a row carries: name, namespace, labels, … without the rest of the object.
json::object partial_of(const json::object& doc) {
  json::object out{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
  if (auto* meta = look(doc, {"metadata"}))
    out["metadata"] = *meta;
  return out;
}

} // namespace

outcome<std::optional<row_object>> table_asked(std::string_view accept,
                                               std::string_view include_object) {
  if (accept.find("as=Table") == std::string_view::npos)
    return std::nullopt;
  if (include_object.empty() || include_object == "Metadata")
    return row_object::metadata;
  if (include_object == "None")
    return row_object::none;
  if (include_object == "Object")
    return row_object::whole;
  return bad_request(fmt::format("unrecognized includeObject value: \"{}\"", include_object));
}

std::string table_of(const endpoint& what, const std::vector<object_ptr>& rows,
                     std::string_view list_meta, base::wall_time now, row_object carries) {
  std::string out = fmt::format(R"({{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},)"
                                R"("columnDefinitions":[)",
                                list_meta);
  bool first = true;
  for (const auto& c : columns_of(what.what->id)) {
    out += first ? "" : ",";
    first = false;
    out += fmt::format(R"({{"name":"{}","type":"{}","format":"{}","description":"",)"
                       R"("priority":{}}})",
                       c.name, c.type, c.name == "Name" ? "name" : "", c.priority);
  }
  out += R"(],"rows":[)";
  first = true;
  for (const auto& x : rows) {
    draft parsed{x->body};
    out += first ? "" : ",";
    first = false;
    out += R"({"cells":)";
    out += json::serialize(cells_of(what, *x, parsed.doc(), now));
    out += R"(,"object":)";
    if (carries == row_object::whole)
      write_object(what, *x, out);
    else
      out += carries == row_object::none ? "null" : json::serialize(partial_of(parsed.doc()));
    out += "}";
  }
  out += "]}";
  return out;
}

} // namespace tutti::sim::api_server
