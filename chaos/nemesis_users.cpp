// What users and the cluster do in a schedule: nodes, gangs and pods come, change and go.
#include "chaos/nemesis.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::chaos {

namespace {

constexpr std::string_view nodes_path = "/api/v1/nodes/";
constexpr std::string_view pods_path = "/api/v1/namespaces/default/pods/";
constexpr std::string_view groups_path =
    "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/";

std::string pod_json(const std::string& name, std::string_view spec) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"default"}},"spec":{{{}}}}})",
      name, spec);
}

std::string container(std::int64_t cpu) {
  return fmt::format(
      R"("containers":[{{"name":"main","image":"i","resources":{{"requests":{{"cpu":"{}"}}}}}}])",
      cpu);
}

} // namespace

bool nemesis::apply(const std::string& json) {
  const auto done = on_.api().plane().apply({boost::json::parse(json).as_object()});
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
  const auto rack = text(x, "rack");
  return apply(fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{0}","labels":{{{3}"kubernetes.io/hostname":"{0}"}}}},)"
      R"("status":{{"capacity":{{"cpu":"{1}","memory":"{2}","pods":"110"}},"allocatable":{{"cpu":"{1}","memory":"{2}","pods":"110"}},)"
      R"("conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      x.target, number(x, "cpu"), "64Gi",
      rack.empty() ? std::string{} : fmt::format(R"("example.com/rack":"{}",)", rack)));
}

/// As the node's controllers do in the end: its pods are gone with it.
bool nemesis::node_gone(const action& x) {
  const auto& store = on_.api().plane().objects();
  std::vector<std::string> there;
  for (const auto& [key, pod] : store.all(sim::api_server::kind_id::pods))
    if (pod->node_name == x.target)
      there.emplace_back(pod->name());
  const bool did = ask("DELETE", std::string{nodes_path} + x.target, {});
  for (const auto& name : there)
    ask("DELETE", std::string{pods_path} + name + "?gracePeriodSeconds=0", {});
  return did;
}

bool nemesis::cordon(const action& x) {
  return ask("PATCH", std::string{nodes_path} + x.target,
             number(x, "off") == 1 ? R"({"spec":{"unschedulable":null}})"
                                   : R"({"spec":{"unschedulable":true}})");
}

void nemesis::make_pod(const std::string& name, const std::string& gang, std::int64_t cpu) {
  apply(pod_json(
      name, fmt::format(R"("schedulerName":"tutti","schedulingGroup":{{"podGroupName":"{}"}},{})",
                        gang, container(cpu))));
}

bool nemesis::gang(const action& x) {
  const auto members = number(x, "members");
  const auto key = text(x, "key");
  cpus_of_gang_[x.target] = number(x, "cpu");
  const auto constraint =
      key.empty() ? std::string{}
                  : fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", key);
  const bool did = apply(fmt::format(
      R"({{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{{"name":"{}","namespace":"default"}},)"
      R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}{}}}}})",
      x.target, std::max<std::int64_t>(number(x, "min"), 1), constraint));
  for (std::int64_t n = 0; n < members; ++n)
    make_pod(fmt::format("{}-{}", x.target, n), x.target, number(x, "cpu"));
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

bool nemesis::pod_gone(const action& x) {
  const auto pod =
      on_.api().plane().objects().find(sim::api_server::kind_id::pods, "default/" + x.target);
  const auto gang = pod ? pod->group : std::string{};
  if (!ask("DELETE", std::string{pods_path} + x.target + "?gracePeriodSeconds=0", {}))
    return false;
  if (number(x, "again") == 1)
    make_pod(x.target, gang, cpus_of_gang_[gang]);
  return true;
}

bool nemesis::pod_done(const action& x) {
  const auto pod =
      on_.api().plane().objects().find(sim::api_server::kind_id::pods, "default/" + x.target);
  return pod && !pod->node_name.empty()
         && ask("PATCH", std::string{pods_path} + x.target + "/status",
                R"({"status":{"phase":"Succeeded"}})");
}

bool nemesis::min(const action& x) {
  return ask("PATCH", std::string{groups_path} + x.target,
             fmt::format(R"({{"spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
                         std::max<std::int64_t>(number(x, "to"), 1)));
}

bool nemesis::foreign(const action& x) {
  return apply(pod_json(x.target, fmt::format(R"("schedulerName":"other","nodeName":"{}",{})",
                                              text(x, "node"), container(number(x, "cpu")))));
}

} // namespace tutti::chaos
