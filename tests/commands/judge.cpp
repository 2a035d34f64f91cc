// Looks at a cluster through its API and says what is wrong with it.
#include "judge.hpp"

#include <string_view>

#include <boost/json/value.hpp>
#include <gtest/gtest.h>

namespace tutti::commands {

namespace {

namespace json = boost::json;

/// The value at a path like "spec.nodeName"; null if there is none.
const json::value& at(const json::value& from, std::string_view path) {
  static const json::value nothing;
  const json::value* now = &from;
  while (!path.empty()) {
    const auto dot = path.find('.');
    const auto* o = now->if_object();
    now = o == nullptr ? nullptr : o->if_contains(path.substr(0, dot));
    if (now == nullptr)
      return nothing;
    path = dot == path.npos ? std::string_view{} : path.substr(dot + 1);
  }
  return *now;
}

std::string text_at(const json::value& from, std::string_view path) {
  const auto& v = at(from, path);
  return v.is_string() ? std::string{v.get_string()} : std::string{};
}

/// "2" or "500m", a second opinion on what our manifests use.
std::int64_t milli(const std::string& text) {
  if (text.empty())
    return 0;
  return text.back() == 'm' ? std::stoll(text) : std::stoll(text) * 1000;
}

/// Nothing if the answer is not 200.
std::optional<json::array> items_of(const api_client& api, const std::string& path) {
  const auto said = api.get(path);
  if (said.status != 200)
    return std::nullopt;
  const json::value list = said.object();
  const auto& items = at(list, "items");
  return items.is_array() ? items.get_array() : json::array{};
}

} // namespace

std::int64_t cluster_seen::bound_of(const std::string& group) const {
  std::int64_t n = 0;
  for (const auto& [name, pod] : pods)
    n += pod.group == group && !pod.node.empty() ? 1 : 0;
  return n;
}

cluster_seen look_at(const api_client& api) {
  auto seen = try_to_look_at(api);
  EXPECT_TRUE(seen) << "the API server does not answer";
  return seen.value_or(cluster_seen{});
}

std::optional<cluster_seen> try_to_look_at(const api_client& api) {
  const auto pods = items_of(api, "/api/v1/pods");
  const auto nodes = items_of(api, "/api/v1/nodes");
  const auto groups = items_of(api, "/apis/scheduling.k8s.io/v1beta1/podgroups");
  if (!pods || !nodes || !groups)
    return std::nullopt;
  cluster_seen seen;
  for (const auto& x : *pods) {
    pod_seen pod{text_at(x, "metadata.uid"), text_at(x, "spec.nodeName"),
                 text_at(x, "spec.schedulingGroup.podGroupName")};
    for (const auto& c : at(x, "spec.containers").as_array())
      pod.cpu_milli += milli(text_at(c, "resources.requests.cpu"));
    seen.pods[text_at(x, "metadata.name")] = std::move(pod);
  }
  for (const auto& x : *nodes)
    seen.nodes[text_at(x, "metadata.name")] = milli(text_at(x, "status.allocatable.cpu"));
  for (const auto& x : *groups)
    if (const auto& min = at(x, "spec.schedulingPolicy.gang.minCount"); min.is_number())
      seen.groups[text_at(x, "metadata.name")] = min.to_number<std::int64_t>();
  return seen;
}

void expect_sound(const cluster_seen& x) {
  for (const auto& [name, min] : x.groups) {
    const auto bound = x.bound_of(name);
    EXPECT_TRUE(bound == 0 || bound >= min)
        << "gang " << name << " is torn: " << bound << " bound, minimum " << min;
  }
  expect_no_node_over_committed(x);
}

void expect_no_node_over_committed(const cluster_seen& x) {
  std::map<std::string, std::int64_t> used;
  for (const auto& [name, pod] : x.pods)
    if (!pod.node.empty())
      used[pod.node] += pod.cpu_milli;
  for (const auto& [node, milli_used] : used) {
    const auto pos = x.nodes.find(node);
    ASSERT_NE(pos, x.nodes.end()) << "pods on a node that is not there: " << node;
    EXPECT_LE(milli_used, pos->second) << "node " << node << " is over-committed";
  }
}

void expect_nobody_moved(const cluster_seen& before, const cluster_seen& after) {
  for (const auto& [name, pod] : before.pods) {
    if (pod.node.empty())
      continue;
    const auto pos = after.pods.find(name);
    ASSERT_NE(pos, after.pods.end()) << "pod " << name << " was bound and is gone";
    EXPECT_EQ(pos->second.uid, pod.uid) << name;
    EXPECT_EQ(pos->second.node, pod.node) << name;
  }
}

} // namespace tutti::commands
