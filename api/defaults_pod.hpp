// The defaults of a Pod's spec, which are most of all defaults.
#pragma once

#include <string_view>

#include <boost/json/fwd.hpp>

namespace tutti::api {

/// Fills in `spec` of a Pod.
void default_pod_spec(boost::json::object& spec, std::string_view scheduler_name);

/// "Guaranteed", "Burstable" or "BestEffort", from the requests and limits of a defaulted spec.
std::string_view qos_class(const boost::json::object& spec);

/// Rewrites each amount of a resource list in the server's spelling; leaves alone what is no
/// amount.
void respell_amounts(boost::json::object& resources);

} // namespace tutti::api
