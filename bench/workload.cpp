// JSON by hand: what is applied must not depend on what is measured.
#include "bench/workload.hpp"

#include <fmt/core.h>

namespace tutti::bench {

namespace {

namespace json = boost::json;

json::array containers(std::int64_t cpus) {
  return {{{"name", "main"},
           {"image", "work"},
           {"resources", {{"requests", {{"cpu", std::to_string(cpus)}, {"memory", "1Gi"}}}}}}};
}

} // namespace

std::string node_name(int i) {
  return fmt::format("n{:05}", i);
}

objects make_nodes(int from, int until, int to_a_rack) {
  objects out;
  for (int i = from; i < until; ++i) {
    const auto name = node_name(i);
    const json::object room{{"cpu", std::to_string(cpus_per_node)},
                            {"memory", "128Gi"},
                            {"pods", std::to_string(pods_per_node)}};
    out.push_back({{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"metadata",
                    {{"name", name},
                     {"labels",
                      {{"kubernetes.io/hostname", name},
                       {rack_label, fmt::format("r{:04}", i / to_a_rack)}}}}},
                   {"status", {{"allocatable", room}, {"capacity", room}}}});
  }
  return out;
}

void add_gang(objects& to, const gang_wish& x) {
  json::object rules{{"schedulingPolicy", {{"gang", {{"minCount", x.members}}}}}};
  if (x.in_one_rack)
    rules["schedulingConstraints"] = {{"topology", {{{"key", rack_label}}}}};
  to.push_back({{"apiVersion", "scheduling.k8s.io/v1beta1"},
                {"kind", "PodGroup"},
                {"metadata", {{"name", x.name}, {"namespace", "default"}}},
                {"spec", std::move(rules)}});
  for (int i = 0; i < x.members; ++i) {
    json::object spec{{"schedulingGroup", {{"podGroupName", x.name}}},
                      {"containers", containers(x.cpus)}};
    if (!x.scheduler.empty())
      spec["schedulerName"] = x.scheduler;
    to.push_back(
        {{"apiVersion", "v1"},
         {"kind", "Pod"},
         {"metadata", {{"name", fmt::format("{}-{}", x.name, i)}, {"namespace", "default"}}},
         {"spec", std::move(spec)}});
  }
}

json::object make_bound_pod(const std::string& name, const std::string& node) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "default"}}},
          {"spec",
           {{"schedulerName", "default-scheduler"},
            {"nodeName", node},
            {"containers", containers(1)}}}};
}

} // namespace tutti::bench
