// What the topology says of itself to people: nodes and racks as JSON.
#pragma once

#include <string>

#include "placement/view_feed.hpp"

namespace tutti::placement {

/// JSON array of nodes by name: name, uid, shard, domains, labels' and taints' verdict as
/// `schedulable`, taints, allocatable, free, taken by marks, number of pods. With `name` one
/// object, or an empty text if there is no such node.
std::string describe_nodes(view_feed& feed, const std::string& name);

/// JSON array of the domains of the last level by path: level, name, path, nodes, and allocatable
/// and used cpu, memory and extended resources, summed. With `name` one object, or an empty text.
std::string describe_racks(view_feed& feed, const std::string& name);

} // namespace tutti::placement
