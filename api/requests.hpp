// What a pod takes from the node it runs on.
#pragma once

#include "api/objects.hpp"

namespace tutti::api {

/// Per resource: the larger of what the containers and sidecars take together and what the
/// greediest init container takes beside the sidecars started before it; replaced by the pod-level
/// request where there is one; plus overhead. `pods` is 1. All amounts saturate at
/// `limits::amount_max` (F-1). Ports are those of containers and sidecars (F-7), ascending.
/// A pod that is being resized takes the largest of what it asks for, was granted and has; what it
/// asks for does not count once its resize is infeasible.
base::footprint footprint_of(const pod& p);

} // namespace tutti::api
