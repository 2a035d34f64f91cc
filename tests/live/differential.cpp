#include "tests/live/differential.hpp"

#include <map>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/core.h>

namespace tutti::live::differential {

namespace json = boost::json;
using commands::api_answer;

std::string pod(const std::string& name, const std::string& more) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name
         + R"("},"spec":{"schedulerName":"tutti")" + more
         + R"(,"containers":[{"name":"main","image":"work",)"
           R"("resources":{"requests":{"cpu":"500m"}}}]}})";
}

namespace {

std::string meta_of(const commands::api_client& on, const std::string& name, const char* field) {
  const auto x = on.get(space + ("/" + name)).object();
  return x.contains("metadata") ? std::string{x.at("metadata").as_object().at(field).as_string()}
                                : std::string{};
}

std::string node(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Node","metadata":{"name":")" + name
         + R"("},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}})";
}

std::string group(const std::string& name, const std::string& policy) {
  return R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":")"
         + name + R"("},"spec":{"schedulingPolicy":)" + policy + "}}";
}

std::string binding(const std::string& of, const std::string& to, const std::string& meta) {
  return R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" + of + R"(")" + meta
         + R"(},"target":{"apiVersion":"v1","kind":"Node","name":")" + to + R"("}})";
}

std::vector<asked> what_is_made() {
  const std::string nodes = "/api/v1/nodes", pods = space;
  const auto gang = [](int n) { return R"({"gang":{"minCount":)" + std::to_string(n) + "}}"; };
  return {
      {"a node", "POST", nodes, node("n1")},
      {"the node again", "POST", nodes, node("n1")},
      {"a node of no name", "POST", nodes, node("")},
      {"a node of a bad name", "POST", nodes, node("N 1")},
      {"a group", "POST", groups, group("ring", gang(2))},
      {"the group again", "POST", groups, group("ring", gang(2))},
      {"a group of nobody", "POST", groups, group("none", gang(0))},
      {"a group of fewer", "POST", groups, group("less", gang(-1))},
      {"a group of both policies", "POST", groups,
       group("both", R"({"basic":{},"gang":{"minCount":2}})")},
      {"a group of no policy", "POST", groups, group("no", "{}")},
      {"a basic group", "POST", groups, group("plain", R"({"basic":{}})")},
      {"a member", "POST", pods, pod("p0", R"(,"schedulingGroup":{"podGroupName":"ring"})")},
      {"another", "POST", pods, pod("p1", R"(,"schedulingGroup":{"podGroupName":"ring"})")},
      {"a gated pod", "POST", pods, pod("gated", R"(,"schedulingGates":[{"name":"quota"}])")},
      {"a pod of no containers", "POST", pods,
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"empty"},"spec":{}})"},
      {"a pod of a class that is not there", "POST", pods,
       pod("classy", R"(,"priorityClassName":"none")")},
      {"a pod of a group of no name", "POST", pods,
       pod("nameless", R"(,"schedulingGroup":{"podGroupName":""})")},
      {"a pod in no namespace", "POST", "/api/v1/namespaces/nowhere/pods", pod("lost")},
      {"a pod of a bad quantity", "POST", pods,
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"much"},"spec":{"containers":[)"
       R"({"name":"m","image":"w","resources":{"requests":{"cpu":"much"}}}]}})"},
      {"no JSON", "POST", pods, "{"},
      {"another kind", "POST", pods, node("n2")},
  };
}

std::vector<asked> what_becomes_of_it() {
  const std::string pods = space;
  return {
      {"what is there", "GET", pods + "/p0"},
      {"what is not", "GET", pods + "/nobody"},
      {"a kind that is not", "GET", "/api/v1/namespaces/default/nothings"},
      {"a label", "PATCH", pods + "/p0", R"({"metadata":{"labels":{"a":"b"}}})"},
      {"a label on a version of before", "PATCH", pods + "/p0",
       R"({"metadata":{"resourceVersion":"1","labels":{"a":"c"}}})"},
      {"a node by a patch", "PATCH", pods + "/p0", R"({"spec":{"nodeName":"n1"}})"},
      {"another uid by a patch", "PATCH", pods + "/p0", R"({"metadata":{"uid":"x"}})"},
      {"a Binding of another uid", "POST", pods + "/p0/binding",
       binding("p0", "n1", R"(,"uid":"of-somebody-else")")},
      {"a Binding of an old version", "POST", pods + "/p0/binding",
       binding("p0", "n1", R"(,"uid":"UID[p0]","resourceVersion":"1")")},
      {"a Binding of nobody", "POST", pods + "/nobody/binding", binding("nobody", "n1", "")},
      {"a Binding of one that is gated", "POST", pods + "/gated/binding",
       binding("gated", "n1", "")},
      {"a Binding", "POST", pods + "/p0/binding",
       binding("p0", "n1", R"(,"uid":"UID[p0]","resourceVersion":"VERSION[p0]")")},
      {"the Binding again", "POST", pods + "/p0/binding", binding("p0", "n1", "")},
      {"another Binding", "POST", pods + "/p0/binding", binding("p0", "n2", "")},
      {"a larger minimum", "PATCH", std::string{groups} + "/ring",
       R"({"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})"},
      {"another policy", "PATCH", std::string{groups} + "/ring",
       R"({"spec":{"schedulingPolicy":{"gang":null,"basic":{}}}})"},
      {"a condition of the group", "PATCH", std::string{groups} + "/ring/status",
       R"({"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","status":"True",)"
       R"("reason":"Scheduled","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})"},
      {"a condition that says no status", "PATCH", std::string{groups} + "/ring/status",
       R"({"status":{"conditions":[{"type":"PodGroupInitiallyScheduled","reason":"Scheduled"}]}})"},
      {"a list", "GET", pods + "?limit=1"},
      {"a list that goes on from nonsense", "GET", pods + "?limit=1&continue=nonsense"},
      {"a list of labels", "GET", pods + "?labelSelector=a%3Db"},
      {"a list of no selector", "GET", pods + "?labelSelector=%3D%3D"},
      {"the end of another uid", "DELETE", pods + "/p1", R"({"preconditions":{"uid":"x"}})"},
      {"the end of one that is not bound", "DELETE", pods + "/p1"},
      {"of one that is gone", "GET", pods + "/p1"},
      {"the end of one that is bound", "DELETE", pods + "/p0"},
      {"of one that is ending", "GET", pods + "/p0"},
      {"the end at once", "DELETE", pods + "/p0?gracePeriodSeconds=0"},
      {"of one that has ended", "GET", pods + "/p0"},
      {"a class", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
       R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},)"
       R"("value":1000})"},
      {"a class of too much", "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
       R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"huge"},)"
       R"("value":2000000000})"},
      {"a pod of that class", "POST", pods, pod("classy", R"(,"priorityClassName":"high")")},
      {"a Lease", "POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},)"
       R"("spec":{"holderIdentity":"a","leaseDurationSeconds":15}})"},
      {"a Lease of no time", "POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"m"},)"
       R"("spec":{"leaseDurationSeconds":0}})"},
      {"an end of nobody", "DELETE", pods + "/nobody"},
      {"another method", "PUT", pods, "{}"},
  };
}

/// With its members in the order of their names.
json::value sorted(const json::value& x) {
  if (const auto* list = x.if_array()) {
    json::array out;
    for (const auto& item : *list)
      out.push_back(sorted(item));
    return out;
  }
  const auto* object = x.if_object();
  if (object == nullptr)
    return x;
  std::map<std::string, json::value> by_name;
  for (const auto& [key, value] : *object)
    by_name.emplace(key, sorted(value));
  json::object out;
  for (auto& [key, value] : by_name)
    out[key] = std::move(value);
  return out;
}

/// Takes out what is known to differ, and why.
json::object comparable(json::object x) {
  const auto kind = x.contains("kind") ? std::string{x.at("kind").as_string()} : std::string{};
  auto* status = x.if_contains("status");
  if (kind == "Node" && status != nullptr)
    for (const char* of_the_kubelet :
         {"nodeInfo", "daemonEndpoints", "conditions"}) // nobody here reads them
      status->as_object().erase(of_the_kubelet);
  if (kind != "Pod")
    return x;
  // The embedded server plays the kubelet, and says of a gated pod nothing before its scheduler
  // does. What both say is whether the pod was bound.
  json::array bound;
  if (const auto* all = status->as_object().if_contains("conditions"))
    for (const auto& c : all->as_array())
      if (c.at("type") == "PodScheduled" && c.at("status") == "True")
        bound.push_back("PodScheduled");
  x["status"] = json::object{{"conditions", std::move(bound)}};
  // An admission plugin that evicts pods from nodes that are gone; schedulers see no difference.
  auto& spec = x.at("spec").as_object();
  if (auto* all = spec.if_contains("tolerations")) {
    json::array kept;
    for (const auto& t : all->as_array())
      if (t.at("effect") != "NoExecute" || !t.as_object().contains("tolerationSeconds"))
        kept.push_back(t);
    spec.erase("tolerations");
    if (!kept.empty())
      spec["tolerations"] = std::move(kept);
  }
  return x;
}

} // namespace

std::string filled(std::string text, const commands::api_client& on) {
  for (const auto& [word, field] : {std::pair{"UID[", "uid"}, {"VERSION[", "resourceVersion"}})
    for (auto at = text.find(word); at != text.npos; at = text.find(word)) {
      const auto from = at + std::string_view{word}.size(), end = text.find(']', from);
      text.replace(at, end + 1 - at, meta_of(on, text.substr(from, end - from), field));
    }
  return text;
}

std::vector<asked> everything_asked() {
  auto all = what_is_made();
  for (auto& x : what_becomes_of_it())
    all.push_back(std::move(x));
  return all;
}

std::string essence_of(const json::object& x) {
  const auto object = comparable(x);
  std::string text;
  for (const char* part : {"spec", "status"})
    if (const auto* found = object.if_contains(part); found && found->is_object())
      text += fmt::format("\n{} {}", part, json::serialize(sorted(*found)));
  if (object.contains("metadata"))
    for (const char* field : {"labels", "annotations", "generation", "finalizers"})
      if (const auto* found = object.at("metadata").as_object().if_contains(field))
        text += fmt::format("\n{} {}", field, json::serialize(*found));
  const bool is_ending = object.contains("metadata")
                         && object.at("metadata").as_object().contains("deletionTimestamp");
  return text + (is_ending ? "\nending" : "");
}

std::string essence(const api_answer& x) {
  const auto object = x.object();
  auto text = std::to_string(x.status);
  if (x.status >= 400)
    return text + " " + (object.contains("reason") ? json::serialize(object.at("reason")) : "");
  if (const auto* items = object.if_contains("items"))
    return text
           + fmt::format(" {} items{}", items->as_array().size(),
                         object.at("metadata").as_object().contains("continue") ? " and more" : "");
  return text + essence_of(object);
}

} // namespace tutti::live::differential
