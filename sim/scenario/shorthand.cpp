#include "sim/scenario/shorthand.hpp"

#include <fmt/format.h>

#include "sim/scenario/shorthand_parts.hpp"

namespace tutti::sim::scenario {

namespace {

/// When the story begins, as conditions that were there before write it.
constexpr std::string_view before_all = "2030-01-01T00:00:00Z";

/// "key=value:Effect", "key:Effect" or "key".
json::object taint_of(const tree& x) {
  const auto& text = text_of(x);
  const auto colon = text.rfind(':');
  if (colon == std::string::npos)
    fail(x, fmt::format("\"{}\" is no taint; allowed: key=value:Effect", text));
  const auto head = text.substr(0, colon);
  const auto equals = head.find('=');
  json::object out{{"key", head.substr(0, equals)}, {"effect", text.substr(colon + 1)}};
  if (equals != std::string::npos)
    out["value"] = head.substr(equals + 1);
  return out;
}

json::object node_status(json::object amounts) {
  json::object conditions_entry{{"type", "Ready"},
                                {"status", "True"},
                                {"reason", "KubeletReady"},
                                {"lastHeartbeatTime", before_all},
                                {"lastTransitionTime", before_all}};
  return {{"capacity", amounts},
          {"allocatable", std::move(amounts)},
          {"conditions", json::array{std::move(conditions_entry)}}};
}

json::object node_of(const std::string& name, const tree& x) {
  auto out = object_of("v1", "Node", {"", name});
  json::object labels{{"kubernetes.io/hostname", full_name{"", name}.api_name()}};
  json::object spec;
  json::object amounts{{"cpu", "64"}, {"memory", "64Gi"}, {"pods", "110"}};
  mapping fields{x, "field of a node"};
  if (const auto* more = fields.take("labels"))
    for (const auto& f : map_of(*more).fields)
      labels[f.name] = text_of(f.value);
  for (const auto* word : {"rack", "block", "zone"})
    if (const auto* value = fields.take(word))
      labels[label_key(word)] = text_of(*value);
  if (const auto* list = fields.take("taints")) {
    json::array taints;
    for (const auto& taint : list_of(*list).items)
      taints.push_back(taint_of(taint));
    spec["taints"] = std::move(taints);
  }
  if (const auto* cordoned = fields.take("unschedulable"))
    spec["unschedulable"] = flag_of(*cordoned);
  for (const auto* word : {"cpu", "memory", "pods", "gpu"})
    if (const auto* amount = fields.take(word))
      amounts[resource_name(word)] = amount_of(*amount);
  fields.end([&](const field& f) {
    if (!is_resource(f.name))
      return false;
    amounts[resource_name(f.name)] = amount_of(f.value);
    return true;
  });
  out["metadata"].as_object()["labels"] = std::move(labels);
  if (!spec.empty())
    out["spec"] = std::move(spec);
  out["status"] = node_status(std::move(amounts));
  return out;
}

} // namespace

// ---------------------------------------------------------------- shared parts

void for_each_name(const tree& x, const std::function<void(const std::string&, const tree&)>& use) {
  for (const auto& f : map_of(x).fields) {
    auto key = f.value;
    key.line = f.line;
    const auto names = expand(f.name, key);
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto value = with_dealt(f.value, i, names.size());
      if (value.is == tree::kind::nothing)
        value.line = f.line;
      use(names[i], value);
    }
  }
}

json::object metadata_of(const full_name& name) {
  json::object out{{"name", name.api_name()}};
  if (!name.space.empty())
    out["namespace"] = name.space;
  return out;
}

json::object object_of(std::string_view api_version, std::string_view kind, const full_name& name) {
  return {{"apiVersion", api_version}, {"kind", kind}, {"metadata", metadata_of(name)}};
}

bool is_resource(const std::string& word) {
  return word == "cpu" || word == "memory" || word == "gpu" || word == "ephemeral-storage"
         || word.starts_with("hugepages-") || word.find('/') != std::string::npos;
}

json::value amount_of(const tree& x) {
  return json::value(text_of(x));
}

void prerequisites::add_space(const full_name& name) {
  if (name.space != "default" && known_.insert("ns/" + name.space).second)
    list_.push_back({object_of("v1", "Namespace", {"", name.space})});
}

std::string prerequisites::class_of(std::int64_t priority, bool never_preempts) {
  auto name =
      priority < 0 ? fmt::format("prio-minus-{}", -priority) : fmt::format("prio-{}", priority);
  if (never_preempts)
    name += "-never";
  if (known_.insert("class/" + name).second) {
    auto out = object_of("scheduling.k8s.io/v1", "PriorityClass", {"", name});
    out["value"] = priority;
    out["preemptionPolicy"] = never_preempts ? "Never" : "PreemptLowerPriority";
    list_.push_back({std::move(out)});
  }
  return name;
}

wanted_objects prerequisites::before(wanted_objects rest) {
  for (auto& x : rest)
    list_.push_back(std::move(x));
  return std::move(list_);
}

// ---------------------------------------------------------------- nodes, devices, budgets

wanted_objects read_nodes(const tree& x) {
  wanted_objects out;
  for_each_name(x, [&](const std::string& name, const tree& value) {
    out.push_back({node_of(name, value)});
  });
  return out;
}

wanted_objects read_devices(const tree& x) {
  wanted_objects out;
  std::set<std::string> classes;
  for_each_name(x, [&](const std::string& name, const tree& value) {
    mapping fields{value, "field of a pool of devices"};
    const auto pool = full_name{"", name}.api_name();
    const auto* given = fields.take("class");
    const auto class_name = given ? full_name{"", text_of(*given)}.api_name() : pool;
    const auto* count = fields.take("count");
    json::array devices;
    for (std::int64_t n = 0; n < (count ? number_of(*count) : 1); ++n)
      devices.push_back(json::object{{"name", fmt::format("d{}", n)}});
    json::object spec{{"driver", class_name + ".example.com"},
                      {"pool", {{"name", pool}, {"generation", 1}, {"resourceSliceCount", 1}}},
                      {"devices", std::move(devices)}};
    if (const auto* nodes = fields.take("nodes")) {
      word_of(*nodes, "place of devices", {"all"});
      spec["allNodes"] = true;
    } else {
      spec["nodeName"] = text_of(fields.need("node"));
    }
    fields.end();
    if (classes.insert(class_name).second) {
      auto made = object_of("resource.k8s.io/v1", "DeviceClass", {"", class_name});
      const auto rule = fmt::format("device.driver == '{}.example.com'", class_name);
      json::object selector{{"cel", {{"expression", rule}}}};
      made["spec"] = {{"selectors", json::array{std::move(selector)}}};
      out.push_back({std::move(made)});
    }
    auto slice = object_of("resource.k8s.io/v1", "ResourceSlice", {"", name});
    slice["spec"] = std::move(spec);
    out.push_back({std::move(slice)});
  });
  return out;
}

wanted_objects read_claims(const tree& x) {
  wanted_objects out;
  prerequisites needed;
  for_each_name(x, [&](const std::string& text, const tree& value) {
    mapping fields{value, "field of a claim"};
    const auto name = split_name(text);
    needed.add_space(name);
    json::object exactly{
        {"deviceClassName", full_name{"", text_of(fields.need("class"))}.api_name()}};
    if (const auto* count = fields.take("count"))
      exactly["count"] = number_of(*count);
    fields.end();
    auto claim = object_of("resource.k8s.io/v1", "ResourceClaim", name);
    json::object asked{{"name", "devices"}, {"exactly", std::move(exactly)}};
    claim["spec"] = {{"devices", {{"requests", json::array{std::move(asked)}}}}};
    out.push_back({std::move(claim)});
  });
  return needed.before(std::move(out));
}

wanted_objects read_budgets(const tree& x) {
  wanted_objects out;
  for_each_name(x, [&](const std::string& text, const tree& value) {
    mapping fields{value, "field of a budget"};
    const auto name = split_name(text);
    json::array names;
    for (const auto& pod : expand_all(fields.need("pods")))
      names.push_back(json::value(split_name(pod).api_name()));
    const auto* allows = fields.take("allows");
    fields.end();
    const auto pods = static_cast<std::int64_t>(names.size());
    const auto allowed = allows ? number_of(*allows) : 0;
    auto budget = object_of("policy/v1", "PodDisruptionBudget", name);
    json::object of_names{{"key", "name"}, {"operator", "In"}, {"values", std::move(names)}};
    budget["spec"] = {{"maxUnavailable", allowed},
                      {"selector", {{"matchExpressions", json::array{std::move(of_names)}}}}};
    budget["status"] = {{"disruptionsAllowed", allowed},
                        {"currentHealthy", pods},
                        {"desiredHealthy", pods - allowed},
                        {"expectedPods", pods},
                        {"observedGeneration", 1}};
    out.push_back({std::move(budget)});
  });
  return out;
}

} // namespace tutti::sim::scenario
