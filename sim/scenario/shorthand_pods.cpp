// Pods in short words: requests by resource name, everything else by a word of its own.
#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/shorthand_parts.hpp"

namespace tutti::sim::scenario {

namespace {

/// Requests, and limits where the API demands them (everything but the native resources).
json::object resources_of(const json::object& requests) {
  json::object limits;
  for (const auto& [name, amount] : requests)
    if (name.find('/') != json::string::npos || name.starts_with("hugepages-"))
      limits[name] = amount;
  json::object out;
  if (!requests.empty())
    out["requests"] = requests;
  if (!limits.empty())
    out["limits"] = std::move(limits);
  return out;
}

json::object toleration_of(const tree& x) {
  std::string_view text = text_of(x);
  json::object out;
  if (const auto colon = text.rfind(':'); colon != std::string_view::npos) {
    out["effect"] = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  const auto equals = text.find('=');
  out["key"] = text.substr(0, equals);
  out["operator"] = equals == std::string_view::npos ? "Exists" : "Equal";
  if (equals != std::string_view::npos)
    out["value"] = text.substr(equals + 1);
  return out;
}

/// 8080 or "10.0.0.1:8080/UDP".
json::object port_of(const tree& x) {
  auto part = x;
  json::object out;
  if (const auto slash = part.text.find('/'); slash != std::string::npos) {
    out["protocol"] = part.text.substr(slash + 1);
    part.text.resize(slash);
  }
  if (const auto colon = part.text.rfind(':'); colon != std::string::npos) {
    out["hostIP"] = part.text.substr(0, colon);
    part.text.erase(0, colon + 1);
  }
  const auto port = number_of(part);
  out["hostPort"] = port;
  out["containerPort"] = port;
  return out;
}

class pod_reader {
public:
  pod_reader(const std::string& text, const tree& x, const spoken_api& how, prerequisites& needed)
      : name_(split_name(text)), fields_(x, "field of a pod"), how_(how), needed_(needed) {}

  wanted_objects read() {
    needed_.add_space(name_);
    read_group();
    read_priority();
    read_scheduling();
    read_affinity();
    read_claims();
    read_life();
    read_containers();
    wanted_object pod{object_of("v1", "Pod", name_), is_recreated_, {}};
    pod.object["metadata"].as_object()["labels"] = labels_;
    pod.object["spec"] = std::move(spec_);
    if (!phase_.empty())
      pod.object["status"] = {{"phase", phase_}};
    extra_.push_back(std::move(pod));
    return std::move(extra_);
  }

private:
  void read_group() {
    labels_["name"] = name_.api_name();
    if (const auto* group = fields_.take("group")) {
      const auto api_name = split_name(text_of(*group)).api_name();
      labels_["group"] = api_name;
      if (how_.kubernetes == api::release::v1_35)
        spec_["workloadRef"] = {{"name", api_name}, {"podGroup", api_name}};
      else
        spec_["schedulingGroup"] = {{"podGroupName", api_name}};
    }
    if (const auto* more = fields_.take("labels"))
      for (const auto& f : map_of(*more).fields) {
        labels_[f.name] = text_of(f.value);
        own_labels_[f.name] = text_of(f.value);
      }
  }

  void read_priority() {
    const auto* priority = fields_.take("prio");
    const auto* never = fields_.take("preemption");
    if (never)
      word_of(*never, "preemption policy", {"Never"});
    if (priority || never)
      spec_["priorityClassName"] =
          needed_.class_of(priority ? number_of(*priority) : 0, never != nullptr);
  }

  void read_scheduling() {
    const auto* scheduler = fields_.take("scheduler");
    spec_["schedulerName"] = scheduler ? text_of(*scheduler) : how_.scheduler;
    if (const auto* selector = fields_.take("selector")) {
      json::object labels;
      for (const auto& f : map_of(*selector).fields)
        labels[label_key(f.name)] = text_of(f.value);
      spec_["nodeSelector"] = std::move(labels);
    }
    if (const auto* list = fields_.take("tolerations")) {
      json::array out;
      for (const auto& x : list_of(*list).items)
        out.push_back(toleration_of(x));
      spec_["tolerations"] = std::move(out);
    }
    if (const auto* gates = fields_.take("gates")) {
      json::array out;
      for (const auto& gate : texts_of(*gates))
        out.push_back(json::object{{"name", gate}});
      spec_["schedulingGates"] = std::move(out);
    }
  }

  /// Those whom affinity and spread are about: the members of the group; without one, pods that
  /// carry the labels given to this pod.
  json::object companions() const {
    if (const auto* group = labels_.if_contains("group"))
      return {{"matchLabels", {{"group", *group}}}};
    if (!own_labels_.empty())
      return {{"matchLabels", own_labels_}};
    return {{"matchLabels", {{"name", name_.api_name()}}}};
  }

  json::object required_pods(const tree& key) const {
    json::object term{{"labelSelector", companions()}, {"topologyKey", label_key(text_of(key))}};
    return {{"requiredDuringSchedulingIgnoredDuringExecution", json::array{std::move(term)}}};
  }

  void read_affinity() {
    if (const auto* x = fields_.take("affinity")) {
      mapping kinds{*x, "kind of affinity"};
      json::object out;
      if (const auto* key = kinds.take("together"))
        out["podAffinity"] = required_pods(*key);
      if (const auto* key = kinds.take("apart"))
        out["podAntiAffinity"] = required_pods(*key);
      if (const auto* nodes = kinds.take("node")) {
        json::array rules;
        for (const auto& f : map_of(*nodes).fields) {
          json::array values;
          for (const auto& value : expand_all(f.value))
            values.push_back(json::value(value));
          rules.push_back(json::object{
              {"key", label_key(f.name)}, {"operator", "In"}, {"values", std::move(values)}});
        }
        json::object term{{"matchExpressions", std::move(rules)}};
        out["nodeAffinity"] = {{"requiredDuringSchedulingIgnoredDuringExecution",
                                {{"nodeSelectorTerms", json::array{std::move(term)}}}}};
      }
      kinds.end();
      spec_["affinity"] = std::move(out);
    }
    if (const auto* x = fields_.take("spread")) {
      mapping spread{*x, "field of a spread"};
      const auto* skew = spread.take("skew");
      json::object rule{{"maxSkew", skew ? number_of(*skew) : 1},
                        {"topologyKey", label_key(text_of(spread.need("key")))},
                        {"whenUnsatisfiable", "DoNotSchedule"},
                        {"labelSelector", companions()}};
      spread.end();
      spec_["topologySpreadConstraints"] = json::array{std::move(rule)};
    }
  }

  void read_claims() {
    const auto* list = fields_.take("claims");
    if (!list)
      return;
    json::array of_pod;
    for (const auto& x : list_of(*list).items) {
      std::string claim;
      if (x.is == tree::kind::map) {
        mapping own{x, "field of a claim"};
        const auto of_class = full_name{"", text_of(own.need("class"))}.api_name();
        own.end();
        claim = fmt::format("{}-{}", name_.api_name(), of_class);
        auto made = object_of("resource.k8s.io/v1", "ResourceClaim", {name_.space, claim});
        json::object asked{{"name", "devices"}, {"exactly", {{"deviceClassName", of_class}}}};
        made["spec"] = {{"devices", {{"requests", json::array{std::move(asked)}}}}};
        extra_.push_back({std::move(made)});
      } else {
        claim = split_name(text_of(x)).api_name();
      }
      of_pod.push_back(json::object{{"name", claim}, {"resourceClaimName", claim}});
      claim_names_.push_back(json::object{{"name", claim}});
    }
    spec_["resourceClaims"] = std::move(of_pod);
  }

  void read_life() {
    if (const auto* node = fields_.take("node")) {
      spec_["nodeName"] = full_name{"", text_of(*node)}.api_name();
      phase_ = "Running";
    }
    if (const auto* phase = fields_.take("phase"))
      phase_ = word_of(*phase, "phase of a pod",
                       {"Pending", "Running", "Succeeded", "Failed", "Unknown"});
    std::int64_t grace_s = 0;
    if (const auto* grace = fields_.take("grace"))
      grace_s = text_of(*grace) == "never"
                    ? grace_of_never_s
                    : std::chrono::duration_cast<std::chrono::seconds>(duration_of(*grace)).count();
    spec_["terminationGracePeriodSeconds"] = grace_s;
    if (const auto* recreate = fields_.take("recreate"))
      is_recreated_ = flag_of(*recreate);
    if (const auto* overhead = fields_.take("overhead")) {
      json::object amounts;
      for (const auto& f : map_of(*overhead).fields)
        amounts[resource_name(f.name)] = amount_of(f.value);
      spec_["overhead"] = std::move(amounts);
      spec_["runtimeClassName"] = "with-overhead";
    }
  }

  json::object container(const std::string& name, const json::object& requests) const {
    json::object out{{"name", name}, {"image", "work"}};
    if (auto amounts = resources_of(requests); !amounts.empty())
      out["resources"] = std::move(amounts);
    return out;
  }

  void read_init(const tree& list) {
    json::array out;
    for (const auto& x : list_of(list).items) {
      mapping fields{x, "field of an init container"};
      const auto* always = fields.take("always");
      const auto* ports = fields.take("ports");
      json::object requests;
      fields.end([&](const field& f) {
        if (!is_resource(f.name))
          return false;
        requests[resource_name(f.name)] = amount_of(f.value);
        return true;
      });
      auto one = container(fmt::format("init-{}", out.size()), requests);
      if (always && flag_of(*always))
        one["restartPolicy"] = "Always";
      if (ports)
        one["ports"] = ports_of(*ports);
      out.push_back(std::move(one));
    }
    spec_["initContainers"] = std::move(out);
  }

  static json::array ports_of(const tree& list) {
    json::array out;
    for (const auto& x : list_of(list).items)
      out.push_back(port_of(x));
    return out;
  }

  void read_containers() {
    if (const auto* list = fields_.take("init"))
      read_init(*list);
    const auto* ports = fields_.take("ports");
    json::object requests;
    for (const auto* word : {"cpu", "memory", "gpu"})
      if (const auto* amount = fields_.take(word))
        requests[resource_name(word)] = amount_of(*amount);
    fields_.end([&](const field& f) {
      if (!is_resource(f.name))
        return false;
      requests[resource_name(f.name)] = amount_of(f.value);
      return true;
    });
    auto main = container("main", requests);
    if (ports)
      main["ports"] = ports_of(*ports);
    if (!claim_names_.empty()) {
      if (!main.contains("resources"))
        main["resources"] = json::object{};
      main["resources"].as_object()["claims"] = claim_names_;
    }
    spec_["containers"] = json::array{std::move(main)};
  }

  const full_name name_;
  mapping fields_;
  const spoken_api& how_;
  prerequisites& needed_;
  json::object labels_, own_labels_, spec_;
  json::array claim_names_;
  std::string phase_;
  bool is_recreated_ = false;
  wanted_objects extra_;
};

std::vector<wanted_objects> read_each(const tree& x, const spoken_api& how, prerequisites& needed) {
  std::vector<wanted_objects> out;
  for_each_name(x, [&](const std::string& name, const tree& value) {
    out.push_back(pod_reader{name, value, how, needed}.read());
  });
  return out;
}

} // namespace

wanted_objects read_pods(const tree& x, const spoken_api& how) {
  prerequisites needed;
  wanted_objects out;
  const auto add = [&](wanted_objects& some) {
    std::move(some.begin(), some.end(), std::back_inserter(out));
  };
  mapping fields{x, "step with pods"};
  const auto* lists = fields.take("interleave");
  if (!lists) {
    for (auto& some : read_each(x, how, needed))
      add(some);
    return needed.before(std::move(out));
  }
  fields.end();
  std::vector<std::vector<wanted_objects>> columns;
  std::size_t longest = 0;
  for (const auto& list : list_of(*lists).items) {
    columns.push_back(read_each(list, how, needed));
    longest = std::max(longest, columns.back().size());
  }
  for (std::size_t i = 0; i < longest; ++i)
    for (auto& column : columns)
      if (i < column.size())
        add(column[i]);
  return needed.before(std::move(out));
}

} // namespace tutti::sim::scenario
