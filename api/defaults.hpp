// Fills in what a manifest leaves out, as an API server does before it looks at an object.
#pragma once

#include <string>

#include <boost/json/fwd.hpp>

#include "api/release.hpp"

namespace tutti::api {

struct default_options {
  release kubernetes = release::v1_37;
  /// Who schedules a Pod that does not say. An API server knows only this one.
  std::string scheduler_name = "default-scheduler";
};

/// Defaults of Namespace, Node, Pod, PriorityClass, PodGroup and CompositePodGroup; all other kinds
/// are left as they are (templates in a Workload have no defaults, Lease and Event neither).
/// Amounts are rewritten in the server's spelling ("1000m" is "1"). What has a wrong type is left
/// alone. Applied twice, the second time changes nothing.
///
/// What depends on other objects (priority, finalizers) is in api/admission.hpp.
void apply_defaults(boost::json::object& object, const default_options& options = {});

} // namespace tutti::api
