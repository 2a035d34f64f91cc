// May this gang be tried at all: quorum, scheduling gates, one scheduler and one priority.
#pragma once

#include <string>

#include "base/explanation.hpp"
#include "queue/options.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// What the facts of this moment say about a gang.
struct gate_verdict {
  enum class kind {
    open,   ///< may be tried now
    closed, ///< waits for members, gates or an object: `why` says for which; nothing is written
    broken, ///< cannot be scheduled as it is: written to the API server as SchedulerError (O-7)
    nothing ///< no pending member: bound, finished, or not ours
  };
  kind what = kind::nothing;
  base::reason_code reason = base::reason_code::none;
  std::string detail;
};

/// O-7, with the departures of the design: gated members neither count nor gate, unless
/// they join a gang that waits for room; members of another scheduler are refused visibly. Basic
/// groups have a minimum of one (C-24).
gate_verdict judge(const gang_entry& g, const options& how);

} // namespace tutti::queue
