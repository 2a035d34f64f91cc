// The few objects that kubectl sends as protobuf whatever a server prefers: `create namespace`,
// `create priorityclass`, `create configmap`, `drain`'s evictions.
#pragma once

#include <optional>
#include <string_view>

#include <boost/json.hpp>

namespace tutti::sim::api_server {

/// Reads Kubernetes' envelope ("k8s\0", then a runtime.Unknown) around a Namespace, PriorityClass,
/// ConfigMap, Eviction or DeleteOptions as the JSON object that it stands for. Nothing if it is
/// malformed or of another kind. Fields of metadata that only servers set are left out.
std::optional<boost::json::object> decode_protobuf(std::string_view bytes);

} // namespace tutti::sim::api_server
