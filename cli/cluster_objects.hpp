// What a live cluster has at this moment, read once: for plans on it.
#pragma once

#include <vector>

#include <boost/json/object.hpp>

#include "api/release.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/api_access.hpp"

namespace tutti::cli {

struct cluster_objects {
  api::release kubernetes = api::releases.front(); ///< the newest that we know, up to the server's
  /// Namespaces, nodes, priority classes, groups and pods, in this order.
  std::vector<boost::json::object> all;
};

/// Lists them in pages; nothing is written. `bad_input`, `forbidden` or `unavailable` with a hint;
/// `bad_input` also where groups are of our own kind, which plans do not know.
base::result<cluster_objects> read_cluster(const api_flags& flags, const base::clock& clock);

} // namespace tutti::cli
