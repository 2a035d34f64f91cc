// What the admin address serves: health for probes, JSON for the command line, metrics for
// Prometheus.
#pragma once

#include <functional>
#include <string>

#include "actors/http_listener.hpp"
#include "actors/scheduler.hpp"

namespace tutti::actors {

/// What the scheduler itself cannot know of its process.
struct process_view {
  std::string version;
  /// Nothing is left to do anywhere; false if nobody watches for that.
  std::function<bool()> is_settled;
};

/// Answers one request; never blocks longer than a few seconds. 404 names what there is. All but
/// the last two only read; by `retry` a gang is freed if it was quarantined, and tried at once.
///
///     /livez /readyz[/CHECK][?verbose] /metrics
///     /api/gangs  /api/gangs/NAMESPACE/NAME  /api/trace/NAMESPACE/NAME
///     /api/nodes  /api/racks  /api/shards  /api/reservations  /api/status  /api/settled
///     /api/version  /api/replicas
///     POST /api/gangs/NAMESPACE/NAME/retry
///     POST /api/gangs/NAMESPACE/NAME/cancel?reason=TEXT[&member=POD…]   409: nothing was done
http_reply answer_admin(scheduler& who, const process_view& around, const std::string& method,
                        const std::string& target);

/// The same while there is no scheduler yet: the process lives and is not ready, all else is 503.
http_reply answer_starting(const std::string& target);

/// True once nothing is runnable: no gang is active or under way, and every back-off belongs to an
/// attempt that was refused on the present view.
bool is_quiet(scheduler& who);

} // namespace tutti::actors
