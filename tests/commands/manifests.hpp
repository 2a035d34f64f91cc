// Clusters and gangs of any size, as text to apply.
#pragma once

#include <string>

#include <fmt/core.h>

namespace tutti::commands {

struct node_text {
  std::string name;
  std::string rack;
  int cpu = 4;
};

inline std::string manifest(const node_text& x) {
  return fmt::format("---\napiVersion: v1\nkind: Node\n"
                     "metadata: {{name: {0}, labels: {{example.com/rack: {1}}}}}\n"
                     "status: {{allocatable: {{cpu: \"{2}\", memory: 32Gi, pods: \"110\"}}}}\n",
                     x.name, x.rack, x.cpu);
}

struct gang_text {
  std::string name;
  int members = 2;
  int min = 2;
  int cpu = 1;            ///< of each member
  std::string priority{}; ///< the name of a class, for the group and its members
  std::string topology{}; ///< a key that all members must share
  std::string more{};     ///< more fields of each member's spec: ", nodeName: n1"
};

inline std::string manifest_of_member(const gang_text& x, int index) {
  return fmt::format("---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {0}-{1}}}\n"
                     "spec: {{schedulingGroup: {{podGroupName: {0}}}{3}{4}, containers: [{{name: "
                     "main, image: work, resources: {{requests: {{cpu: \"{2}\"}}}}}}]}}\n",
                     x.name, index, x.cpu,
                     x.priority.empty() ? "" : ", priorityClassName: " + x.priority, x.more);
}

inline std::string manifest(const gang_text& x) {
  std::string more;
  if (!x.priority.empty())
    more += ", priorityClassName: " + x.priority;
  if (!x.topology.empty())
    more += ", schedulingConstraints: {topology: [{key: " + x.topology + "}]}";
  auto text = fmt::format("---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
                          "metadata: {{name: {}}}\n"
                          "spec: {{schedulingPolicy: {{gang: {{minCount: {}}}}}{}}}\n",
                          x.name, x.min, more);
  for (int i = 0; i < x.members; ++i)
    text += manifest_of_member(x, i);
  return text;
}

struct priority_text {
  std::string name;
  int value = 0;
};

inline std::string manifest(const priority_text& x) {
  return fmt::format("---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
                     "metadata: {{name: {}}}\nvalue: {}\n",
                     x.name, x.value);
}

/// `n` nodes, each in a rack of its own, so that they fall into different shards.
inline std::string nodes_in_racks(int n, int cpu = 4) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += manifest(node_text{fmt::format("node-{}", i), fmt::format("rack-{}", i), cpu});
  return text;
}

} // namespace tutti::commands
