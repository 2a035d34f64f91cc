// Reasons and shortages as people read them: one sentence, numbers first.
#include "base/explanation.hpp"

#include <fmt/core.h>

#include "base/resources.hpp"

namespace tutti::base {

std::string_view name_of(reason_code c) {
  switch (c) {
  case reason_code::none:
    return "<none>";
  case reason_code::waiting_for_members:
    return "WaitingForMembers";
  case reason_code::gated:
    return "Gated";
  case reason_code::queued_behind:
    return "QueuedBehind";
  case reason_code::quota_exceeded:
    return "QuotaExceeded";
  case reason_code::insufficient_resources:
    return "InsufficientResources";
  case reason_code::topology_too_fragmented:
    return "TopologyTooFragmented";
  case reason_code::node_constraints_unmet:
    return "NodeConstraintsUnmet";
  case reason_code::never_fits:
    return "NeverFits";
  case reason_code::reserving:
    return "Reserving";
  case reason_code::reservation_conflict:
    return "ReservationConflict";
  case reason_code::shard_unavailable:
    return "ShardUnavailable";
  case reason_code::view_stale:
    return "ViewStale";
  case reason_code::waiting_for_victims:
    return "WaitingForVictims";
  case reason_code::preemption_not_allowed:
    return "PreemptionNotAllowed";
  case reason_code::preemption_would_not_help:
    return "PreemptionWouldNotHelp";
  case reason_code::backing_off:
    return "BackingOff";
  case reason_code::binding:
    return "Binding";
  case reason_code::bind_refused:
    return "BindRefused";
  case reason_code::degraded:
    return "Degraded";
  case reason_code::api_unavailable:
    return "ApiUnavailable";
  case reason_code::api_forbidden:
    return "ApiForbidden";
  case reason_code::undecided:
    return "Undecided";
  case reason_code::paused:
    return "Paused";
  case reason_code::scheduler_error:
    return "SchedulerError";
  }
  return "?";
}

std::string to_text(const explanation& x) {
  auto out = std::string{name_of(x.primary)};
  if (x.wanted > 0)
    out += fmt::format(": {} of {} members can be placed", x.placed, x.wanted);
  if (!x.closest.empty() && !x.closest.front().level.empty()) {
    const auto& best = x.closest.front();
    out += fmt::format(", best {} {} takes {} of {}", best.level,
                       best.domain.empty() ? "\"\"" : best.domain, best.placed, best.wanted);
  }
  if (x.dimension == "pods" && x.short_by > 0)
    out += fmt::format(", too many pods, by {}", x.short_by);
  else if (!x.dimension.empty() && x.short_by > 0)
    out += fmt::format(", {} short by {}", x.dimension, amount_text(x.dimension, x.short_by));
  if (!x.detail.empty())
    out += fmt::format(": {}", x.detail);
  if (x.nodes_seen > 0 || !x.rejected.empty()) {
    out += fmt::format("; {}/{} nodes are available", x.nodes_fit, x.nodes_seen);
    const char* separator = ": ";
    for (const auto& r : x.rejected) {
      out += fmt::format("{}{} {}", separator, r.nodes, r.cause);
      separator = ", ";
    }
  }
  return out;
}

} // namespace tutti::base
