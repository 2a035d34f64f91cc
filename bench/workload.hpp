// Clusters and gangs of any size, as the objects that a user would apply.
#pragma once

#include <string>
#include <vector>

#include <boost/json.hpp>

namespace tutti::bench {

using objects = std::vector<boost::json::object>;

constexpr int nodes_per_rack = 250;
constexpr const char* rack_label = "example.com/rack";
constexpr std::int64_t cpus_per_node = 32;
constexpr std::int64_t pods_per_node = 110;

/// The nodes with these numbers, the last excluded, of 32 CPUs, 128 GiB and 110 pods.
objects make_nodes(int from, int until, int to_a_rack = nodes_per_rack);

/// A PodGroup that needs all of its `members`, and then its pods.
struct gang_wish {
  std::string name;
  int members = 3;
  std::int64_t cpus = 1; ///< of each
  std::string scheduler; ///< empty = the server's default
  bool in_one_rack = false;
};
void add_gang(objects& to, const gang_wish& x);

/// A pod of another scheduler that is bound already.
boost::json::object make_bound_pod(const std::string& name, const std::string& node);

std::string node_name(int i);

} // namespace tutti::bench
