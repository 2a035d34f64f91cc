// Reads nodes, priority classes and the metadata that every object has.
#include "api/decode.hpp"

#include "api/decode_parts.hpp"
#include "api/selector.hpp"

namespace tutti::api {
namespace {

std::optional<taint_effect> effect_of(std::string_view word) {
  if (word == "NoSchedule")
    return taint_effect::no_schedule;
  if (word == "PreferNoSchedule")
    return taint_effect::prefer_no_schedule;
  if (word == "NoExecute")
    return taint_effect::no_execute;
  return std::nullopt;
}

owner_reference read_owner(const cursor& x) {
  return {x["apiVersion"].text(), x["kind"].text(), x["name"].text(), x["uid"].text(),
          x["controller"].flag()};
}

} // namespace

object_meta read_meta(const cursor& root) {
  auto meta = root["metadata"];
  object_meta out;
  out.space = meta["namespace"].text();
  out.name = meta["name"].text();
  out.uid = meta["uid"].text();
  out.resource_version = meta["resourceVersion"].text();
  out.generation = meta["generation"].integer();
  out.created = meta["creationTimestamp"].time();
  if (auto deleted = meta["deletionTimestamp"]; deleted.is_set())
    out.deleting_since = deleted.time();
  out.labels = meta["labels"].texts();
  out.annotations = meta["annotations"].texts();
  meta["finalizers"].each([&](const cursor& x) { out.finalizers.push_back(x.text()); });
  meta["ownerReferences"].each([&](const cursor& x) { out.owners.push_back(read_owner(x)); });
  return out;
}

std::vector<condition> read_conditions(const cursor& list) {
  std::vector<condition> out;
  list.each([&](const cursor& x) {
    out.push_back({x["type"].text(), x["status"].text(), x["reason"].text(), x["message"].text(),
                   x["lastTransitionTime"].time(), x["observedGeneration"].integer()});
  });
  return out;
}

base::resources read_amounts(const cursor& list, amounts_of what) {
  base::resources out;
  list.members([&](std::string_view name, const cursor& x) {
    auto amount = x.amount();
    if (amount.is_negative())
      x.mistake("must be greater than or equal to 0");
    if (!counts_for_scheduling(name))
      return;
    if (name == "cpu")
      out.cpu_milli = amount.milli_value();
    else if (name == "memory")
      out.memory_bytes = amount.value();
    else if (name == "ephemeral-storage")
      out.ephemeral_bytes = amount.value();
    else if (name != "pods")
      out.set(base::symbol{name}, amount.value());
    else if (what == amounts_of::allocatable)
      out.pods = amount.value();
  });
  return out;
}

std::optional<label_requirement> read_requirement(const cursor& x) {
  label_requirement out;
  out.key = x["key"].text();
  x["values"].each([&](const cursor& v) { out.values.push_back(v.text()); });
  auto how = operation_of(x["operator"].text());
  if (!how)
    return std::nullopt;
  out.how = *how;
  return out;
}

base::result<object_meta> decode_meta(const boost::json::object& object) {
  return decode_whole(object, read_meta);
}

base::result<node> decode_node(const boost::json::object& object) {
  return decode_whole(object, [](const cursor& root) {
    node out;
    out.meta = read_meta(root);
    out.unschedulable = root["spec"]["unschedulable"].flag();
    root["spec"]["taints"].each([&](const cursor& x) {
      auto word = x["effect"].text();
      auto effect = effect_of(word);
      if (!effect)
        x["effect"].mistake("unknown effect \"" + word + "\"");
      out.taints.push_back(
          {x["key"].text(), x["value"].text(), effect.value_or(taint_effect::no_schedule)});
    });
    auto status = root["status"];
    out.allocatable = read_amounts(status["allocatable"], amounts_of::allocatable);
    out.conditions = read_conditions(status["conditions"]);
    return out;
  });
}

base::result<priority_class> decode_priority_class(const boost::json::object& object) {
  return decode_whole(object, [](const cursor& root) {
    return priority_class{read_meta(root), root["value"].integer32(), root["globalDefault"].flag(),
                          root["preemptionPolicy"].text() == "Never"};
  });
}

} // namespace tutti::api
