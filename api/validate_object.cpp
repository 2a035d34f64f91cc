// The rules of metadata, and those few of Node, PriorityClass and Lease that we can meet.
#include <set>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/json_edit.hpp"
#include "api/quantity.hpp"
#include "api/validate_parts.hpp"

namespace tutti::api::detail {
namespace {

namespace json = boost::json;

constexpr std::int64_t user_priority_max = 1'000'000'000;
constexpr std::string_view system_prefix = "system-";
constexpr std::size_t annotations_bytes_max = 256u << 10;

void check_labels(field_errors& errors, const json::object& metadata) {
  auto* labels = object_at(metadata, "labels");
  if (!labels)
    return;
  for (auto& [key, value] : *labels) {
    if (auto problem = label_key_problem(key); !problem.empty())
      errors.invalid("metadata.labels", quoted(key), problem);
    auto text = text_at(*labels, key);
    if (auto problem = label_value_problem(text); !problem.empty())
      errors.invalid("metadata.labels", quoted(text), problem);
  }
}

void check_annotations(field_errors& errors, const json::object& metadata) {
  auto* annotations = object_at(metadata, "annotations");
  if (!annotations)
    return;
  std::size_t bytes = 0;
  for (auto& [key, value] : *annotations) {
    bytes += key.size() + text_at(*annotations, key).size();
    if (auto problem = label_key_problem(key); !problem.empty())
      errors.invalid("metadata.annotations", quoted(key), problem);
  }
  if (bytes > annotations_bytes_max)
    errors.too_many("metadata.annotations", bytes, annotations_bytes_max);
}

const json::object& metadata_of(const json::object& object) {
  static const json::object nothing;
  auto* metadata = object_at(object, "metadata");
  return metadata ? *metadata : nothing;
}

} // namespace

void check_metadata(field_errors& errors, const json::object& object, problem_of name_problem) {
  auto& metadata = metadata_of(object);
  auto name = text_at(metadata, "name");
  if (name.empty())
    errors.required("metadata.name", allowed_by(name_problem), "name or generateName is required");
  else if (auto problem = name_problem(name); !problem.empty())
    errors.invalid("metadata.name", quoted(name), problem);
  check_labels(errors, metadata);
  check_annotations(errors, metadata);
}

void check_metadata_update(field_errors& errors, const json::object& old, const json::object& now) {
  auto &before = metadata_of(old), &after = metadata_of(now);
  for (auto* field : {"name", "namespace", "uid", "creationTimestamp"})
    if (!is_same(before.if_contains(field), after.if_contains(field)))
      errors.immutable(fmt::format("metadata.{}", field), quoted(text_at(after, field)));
  if (!is_same(before.if_contains("labels"), after.if_contains("labels")))
    check_labels(errors, after);
  if (!is_same(before.if_contains("annotations"), after.if_contains("annotations")))
    check_annotations(errors, after);
}

void check_amount(field_errors& errors, const std::string& path, std::string_view resource,
                  const json::value& amount) {
  const auto read = quantity_of(amount);
  if (!read)
    return; // said when it was read
  const bool is_native =
      resource.find('/') == resource.npos || resource.find("kubernetes.io/") != resource.npos;
  if (read->is_negative())
    errors.invalid(path, quoted(read->text()), "must be greater than or equal to 0");
  else if ((!is_native || resource == "pods") && read->milli_value() % 1000 != 0)
    errors.invalid(path, quoted(read->text()), "must be an integer");
}

void check_node(const subject& s) {
  const auto status = s.inside("status");
  for (const char* field : {"capacity", "allocatable"}) {
    const auto amounts = status.inside(field);
    for (auto& [name, amount] : amounts.now)
      check_amount(s.errors, fmt::format("{}.{}", amounts.path, std::string_view{name}), name,
                   amount);
  }
  auto spec = s.inside("spec");
  auto* taints = list_at(spec.now, "taints");
  if (!taints || is_unchanged(spec, "taints"))
    return;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints->size(); ++i) {
    auto* taint = (*taints)[i].if_object();
    if (!taint)
      continue;
    subject one{s.kubernetes, s.is_update, s.errors, fmt::format("{}[{}]", spec.at("taints"), i),
                nullptr,      *taint};
    auto key = text_at(*taint, "key"), effect = text_at(*taint, "effect");
    if (auto problem = label_key_problem(key); !problem.empty())
      s.errors.invalid(one.at("key"), quoted(key), problem);
    check_optional_name(one, "value", label_value_problem);
    if (effect.empty())
      s.errors.required(one.at("effect"), "NoExecute, NoSchedule, PreferNoSchedule");
    else if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute")
      s.errors.not_supported(one.at("effect"), effect,
                             {"NoExecute", "NoSchedule", "PreferNoSchedule"});
    if (!seen.insert({key, effect}).second)
      s.errors.duplicate(one.path, json::serialize(*taint));
  }
}

void check_priority_class(const subject& s) {
  auto value = integer_at(s.now, "value").value_or(0);
  if (s.old) {
    if (integer_at(*s.old, "value").value_or(0) != value)
      s.errors.forbidden("value", "may not be changed in an update.", unchanged_words);
    if (!is_unchanged(s, "preemptionPolicy"))
      s.errors.immutable("preemptionPolicy", quoted(text_at(s.now, "preemptionPolicy")));
    return;
  }
  auto name = text_at(metadata_of(s.now), "name");
  bool is_builtin = (name == "system-cluster-critical" && value == 2 * user_priority_max)
                    || (name == "system-node-critical" && value == 2 * user_priority_max + 1000);
  if (!is_builtin && name.starts_with(system_prefix))
    s.errors.forbidden(
        "metadata.name",
        "priority class names with 'system-' prefix are reserved for system use only");
  if (!is_builtin && value > user_priority_max)
    s.errors.forbidden(
        "value",
        fmt::format("maximum allowed value of a user defined priority is {}", user_priority_max));
  auto policy = text_at(s.now, "preemptionPolicy");
  if (policy != "PreemptLowerPriority" && policy != "Never")
    s.errors.not_supported("preemptionPolicy", policy, {"Never", "PreemptLowerPriority"});
}

void check_lease(const subject& s) {
  auto spec = s.inside("spec");
  for (auto* field : {"leaseDurationSeconds", "leaseTransitions"}) {
    bool is_duration = std::string_view{field} == "leaseDurationSeconds";
    auto value = integer_at(spec.now, field);
    if (value && is_duration && *value <= 0)
      s.errors.invalid(spec.at(field), std::to_string(*value), "must be greater than 0");
    if (value && !is_duration && *value < 0)
      s.errors.invalid(spec.at(field), std::to_string(*value),
                       "must be greater than or equal to 0");
  }
  if (auto* holder = member(spec.now, "holderIdentity"); holder && *holder == "")
    s.errors.invalid(spec.at("holderIdentity"), "\"\"", "must not be empty");
}

void check_chunk(const subject& s) {
  if (s.old && !is_same(s.old->if_contains("spec"), s.now.if_contains("spec")))
    s.errors.invalid("spec", "\"object\"", "a chunk is never changed");
}

} // namespace tutti::api::detail
