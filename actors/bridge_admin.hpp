// What the admin address of a bridge serves: health for probes, metrics, and what it is doing.
#pragma once

#include <optional>
#include <string>

#include "actors/bridge_port.hpp"
#include "actors/http_listener.hpp"

namespace tutti::actors {

/// What a bridge knows of itself at this moment.
struct bridge_health {
  bool has_server = false;         ///< the API server has said which cluster it is
  std::optional<bridge_view> view; ///< nothing if the bridge's thread does not answer
  std::shared_ptr<api_calls> calls;
  std::string version;
};

/// Answers one request; 404 names what there is.
///
///     /livez /readyz[/CHECK][?verbose] /metrics /api/bridge
///
/// Ready: the server has answered, every kind that is watched is fresh, and the server refuses
/// nothing for want of a right. A bridge that nobody has asked anything of is ready, too.
http_reply answer_bridge_admin(const bridge_health& how, const std::string& method,
                               const std::string& target);

/// All metrics of a bridge, in docs/reference/metrics.md.
std::string bridge_metrics_text(const bridge_health& how);

} // namespace tutti::actors
