// Reads what API servers send into plain values, leniently.
//
// Unknown fields are ignored; null, missing and empty are the same. What cannot be read (a string
// where a number belongs) is `bad_input` with the JSON path in front: "spec.priority: expected …".
// Objects are not validated: a server did that. Union members that we do not know are no error
// here, they make the group `refused`.
#pragma once

#include <boost/json/fwd.hpp>

#include "api/objects.hpp"
#include "base/result.hpp"

namespace tutti::api {

base::result<object_meta> decode_meta(const boost::json::object& object);
base::result<node> decode_node(const boost::json::object& object);
base::result<pod> decode_pod(const boost::json::object& object);
base::result<priority_class> decode_priority_class(const boost::json::object& object);
/// `v1alpha1` has no PodGroup: `bad_input`.
base::result<pod_group> decode_pod_group(const boost::json::object& object, dialect spoken);
/// Spoken in v1alpha3 only.
base::result<pod_group> decode_composite_pod_group(const boost::json::object& object);
base::result<workload> decode_workload(const boost::json::object& object, dialect spoken);

} // namespace tutti::api
