// The annotation that says how long a pod runs on the embedded kubelet.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "sim/api_server/object.hpp"
#include "sim/api_server/refusal.hpp"

namespace tutti::sim::api_server {

inline constexpr std::string_view run_for_annotation = "tutti.dev/run-for";

/// "30s", "1m30s", "1.5h", "500ms"; nothing if it is none, not positive or above a century.
std::optional<base::duration> parse_duration(std::string_view text);

/// 422 for a pod whose annotation is no duration: the kubelet would have to ignore it in silence.
/// `before` is the pod that `now` replaces, or null; what stands there already is left alone.
std::optional<refusal> refuse_run_for(const json::object* before, const json::object& now,
                                      const subject& what);

} // namespace tutti::sim::api_server
