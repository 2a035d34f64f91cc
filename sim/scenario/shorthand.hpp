// The short words for nodes, groups and pods, turned into the objects that a user would write.
#pragma once

#include <string>
#include <vector>

#include <boost/json/object.hpp>

#include "api/release.hpp"
#include "base/time.hpp"
#include "sim/scenario/text.hpp"

namespace tutti::sim::scenario {

/// A Kubernetes object, ready to be applied, and what no field of it says.
struct wanted_object {
  boost::json::object object;
  bool is_recreated = false; ///< pods: a controller replaces it once it is deleted
  std::string home;          ///< groups: the process where its coordinator lives; empty = anywhere
};
using wanted_objects = std::vector<wanted_object>;

/// Which API the world serves: it decides how groups are written.
struct spoken_api {
  api::release kubernetes = api::release::v1_37;
  std::string scheduler = "tutti"; ///< of pods that name none
};

// Each turns the value of one step into objects, in the order in which they are to be created;
// what they need (namespaces, priority classes) goes first. Throws `bad_story`.
wanted_objects read_nodes(const tree& x);
wanted_objects read_groups(const tree& x, const spoken_api& how);
wanted_objects read_composites(const tree& x);
wanted_objects read_pods(const tree& x, const spoken_api& how);
wanted_objects read_devices(const tree& x);
wanted_objects read_claims(const tree& x);
wanted_objects read_budgets(const tree& x);

/// "PodGroupInitiallyScheduled" or what the release calls it.
std::string group_condition_of(api::release kubernetes);
/// A pod with this grace stays after its deletion: longer than any story takes.
inline constexpr std::int64_t grace_of_never_s = 10LL * 365 * 24 * 3600;

} // namespace tutti::sim::scenario
