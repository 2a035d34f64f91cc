// What users and the cluster do in a schedule: nodes, gangs and pods come, change and go.
#include "chaos/nemesis.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "actors/replica.hpp"
#include "protocol/sharding.hpp"

namespace tutti::chaos {

namespace json = boost::json;

namespace {

constexpr std::string_view nodes_path = "/api/v1/nodes/";
constexpr std::string_view pods_path = "/api/v1/namespaces/default/pods/";
constexpr std::string_view groups_path =
    "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/";

json::object pod(const std::string& name, std::int64_t cpu) {
  json::object main{{"name", "main"},
                    {"image", "i"},
                    {"resources", {{"requests", {{"cpu", std::to_string(cpu)}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec", {{"containers", json::array{std::move(main)}}}}};
}

json::object selector(std::string_view app) {
  return {{"matchLabels", {{"app", std::string{app}}}}};
}

/// "a@example.com/rack": pods labelled app=a, in one rack.
json::object term(std::string_view text) {
  const auto at = text.find('@');
  return {{"labelSelector", selector(text.substr(0, at))},
          {"topologyKey", std::string{text.substr(at + 1)}}};
}

/// The label of a gang's pods, and what they ask of others.
void tie(json::object& pod, const action& gang) {
  if (const auto app = text(gang, "app"); !app.empty())
    pod["metadata"].as_object()["labels"] = {{"app", app}};
  auto& spec = pod["spec"].as_object();
  constexpr const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  json::object affinity;
  if (const auto apart = text(gang, "apart"); !apart.empty())
    affinity["podAntiAffinity"] = {{required, json::array{term(apart)}}};
  if (const auto near = text(gang, "near"); !near.empty())
    affinity["podAffinity"] = {{required, json::array{term(near)}}};
  if (!affinity.empty())
    spec["affinity"] = std::move(affinity);
  if (const auto even = text(gang, "even"); !even.empty()) {
    auto constraint = term(even);
    constraint["maxSkew"] = 1;
    constraint["whenUnsatisfiable"] = "DoNotSchedule";
    spec["topologySpreadConstraints"] = json::array{std::move(constraint)};
  }
}

} // namespace

bool nemesis::apply(boost::json::object object) {
  const auto done = on_.api().plane().apply({std::move(object)});
  on_.api().turn();
  return done.has_value();
}

bool nemesis::ask(std::string_view method, const std::string& target, const std::string& body) {
  protocol::http_request r;
  r.method = method;
  r.target = target;
  r.body = body;
  r.content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json";
  return on_.api().ask(r).status < 400;
}

bool nemesis::node(const action& x) {
  json::object labels{{"kubernetes.io/hostname", x.target}};
  if (const auto rack = text(x, "rack"); !rack.empty())
    labels["example.com/rack"] = rack;
  const json::object amounts{
      {"cpu", std::to_string(number(x, "cpu"))}, {"memory", "64Gi"}, {"pods", "110"}};
  return apply({{"apiVersion", "v1"},
                {"kind", "Node"},
                {"metadata", {{"name", x.target}, {"labels", std::move(labels)}}},
                {"status",
                 {{"capacity", amounts},
                  {"allocatable", amounts},
                  {"conditions", json::array{{{"type", "Ready"}, {"status", "True"}}}}}}});
}

/// As the node's controllers do: its pods are gone with it, and those that come to it all the same,
/// because their Binding was on its way, are collected later.
bool nemesis::node_gone(const action& x) {
  constexpr auto until_collected = std::chrono::seconds{20};
  const bool did = ask("DELETE", std::string{nodes_path} + x.target, {});
  collect_pods();
  on_.time().after(until_collected, [this] { collect_pods(); });
  return did;
}

void nemesis::collect_pods() {
  const auto& store = on_.api().plane().objects();
  std::vector<std::string> lost;
  for (const auto& [key, pod] : store.all(sim::api_server::kind_id::pods))
    if (!pod->node_name.empty() && !store.find(sim::api_server::kind_id::nodes, pod->node_name))
      lost.emplace_back(pod->name());
  for (const auto& name : lost)
    ask("DELETE", std::string{pods_path} + name + "?gracePeriodSeconds=0", {});
}

bool nemesis::cordon(const action& x) {
  return ask("PATCH", std::string{nodes_path} + x.target,
             number(x, "off") == 1 ? R"({"spec":{"unschedulable":null}})"
                                   : R"({"spec":{"unschedulable":true}})");
}

void nemesis::make_pod(const std::string& name, const std::string& gang) {
  const auto pos = gangs_.find(gang);
  const auto* as = pos == gangs_.end() ? nullptr : pos->second;
  auto made = pod(name, as == nullptr ? 0 : number(*as, "cpu"));
  auto& spec = made["spec"].as_object();
  if (as != nullptr)
    tie(made, *as);
  spec["schedulerName"] = "tutti";
  spec["schedulingGroup"] = {{"podGroupName", gang}};
  if (as != nullptr && !text(*as, "prio").empty()) {
    spec["priorityClassName"] = class_of(*as);
    spec["terminationGracePeriodSeconds"] = 1; // evictions are to end within the run
  }
  apply(std::move(made));
}

/// The name of the PriorityClass, which is there then.
std::string nemesis::class_of(const action& gang) {
  auto name = "prio-" + text(gang, "prio");
  const auto& store = on_.api().plane().objects();
  if (!store.find(sim::api_server::kind_id::priority_classes, name))
    apply({{"apiVersion", "scheduling.k8s.io/v1"},
           {"kind", "PriorityClass"},
           {"metadata", {{"name", name}}},
           {"value", number(gang, "prio")}});
  return name;
}

bool nemesis::make_group(const action& x) {
  json::object spec{{"schedulingPolicy",
                     {{"gang", {{"minCount", std::max<std::int64_t>(number(x, "min"), 1)}}}}}};
  if (const auto key = text(x, "key"); !key.empty())
    spec["schedulingConstraints"] = {{"topology", json::array{{{"key", key}}}}};
  if (!text(x, "prio").empty())
    spec["priorityClassName"] = class_of(x);
  if (const auto mode = text(x, "mode"); !mode.empty())
    spec["disruptionMode"] = json::object{{mode, json::object{}}};
  return apply({{"apiVersion", "scheduling.k8s.io/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", {{"name", x.target}, {"namespace", "default"}}},
                {"spec", std::move(spec)}});
}

bool nemesis::gang(const action& x) {
  gangs_[x.target] = &x;
  const bool did = make_group(x);
  for (std::int64_t n = 0; n < number(x, "members"); ++n)
    make_pod(fmt::format("{}-{}", x.target, n), x.target);
  return did;
}

bool nemesis::gang_gone(const action& x) {
  const auto& store = on_.api().plane().objects();
  std::vector<std::string> members;
  for (const auto& [key, pod] : store.all(sim::api_server::kind_id::pods))
    if (pod->group == x.target)
      members.emplace_back(pod->name());
  for (const auto& name : members)
    ask("DELETE", std::string{pods_path} + name + "?gracePeriodSeconds=0", {});
  return ask("DELETE", std::string{groups_path} + x.target, {});
}

bool nemesis::group_gone(const action& x) {
  return ask("DELETE", std::string{groups_path} + x.target, {});
}

bool nemesis::group_again(const action& x) {
  const auto pos = gangs_.find(x.target);
  const auto there =
      on_.api().plane().objects().find(sim::api_server::kind_id::pod_groups, "default/" + x.target);
  return pos != gangs_.end() && !there && make_group(*pos->second);
}

bool nemesis::pod_gone(const action& x) {
  const auto there =
      on_.api().plane().objects().find(sim::api_server::kind_id::pods, "default/" + x.target);
  const auto gang = there ? there->group : std::string{};
  if (!ask("DELETE", std::string{pods_path} + x.target + "?gracePeriodSeconds=0", {}))
    return false;
  if (number(x, "again") == 1)
    make_pod(x.target, gang);
  return true;
}

bool nemesis::pod_done(const action& x) {
  const auto there =
      on_.api().plane().objects().find(sim::api_server::kind_id::pods, "default/" + x.target);
  return there && !there->node_name.empty()
         && ask("PATCH", std::string{pods_path} + x.target + "/status",
                R"({"status":{"phase":"Succeeded"}})");
}

bool nemesis::min(const action& x) {
  return ask("PATCH", std::string{groups_path} + x.target,
             fmt::format(R"({{"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
                         std::max<std::int64_t>(number(x, "to"), 1)));
}

/// By way of the first process that is up: its routes know the owner of the gang's partition.
bool nemesis::cancel(const action& x) {
  const auto there =
      on_.api().plane().objects().find(sim::api_server::kind_id::pod_groups, "default/" + x.target);
  if (!there)
    return false;
  protocol::cancel_gang what{.id = ++last_cancel_,
                             .gang = {there->uid},
                             .name = {"default", x.target},
                             .is_lone_pod = false,
                             .pods = {},
                             .reason = "chaos"};
  if (const auto pod = text(x, "pod"); !pod.empty())
    what.pods.push_back(pod);
  for (std::size_t n = 0; n < on_.processes(); ++n)
    if (auto& p = on_.at(n); p.is_up() && !p.is_paused()) {
      p.replica()->routes().send(protocol::to(protocol::role_kind::admin),
                                 protocol::to_partition(protocol::partition_of(what.gang)), what);
      return true;
    }
  return false;
}

bool nemesis::foreign(const action& x) {
  auto made = pod(x.target, number(x, "cpu"));
  auto& spec = made["spec"].as_object();
  spec["schedulerName"] = "other";
  spec["nodeName"] = text(x, "node");
  return apply(std::move(made));
}

} // namespace tutti::chaos
