// What the operator decides about eviction for gangs.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace tutti::placement {

/// How victims are chosen.
enum class victim_policy : std::uint8_t {
  upstream,  ///< as kube-scheduler: place as if all lower ones were gone, then spare whom it can
  least_cost ///< placement and victims together, at least cost
};

struct preemption_options {
  bool is_allowed = true; ///< false: nobody is evicted for a gang, ever
  victim_policy policy = victim_policy::least_cost;
  /// Pods that have run for less are let alone; 0 = all may go.
  base::duration min_runtime{};
  /// Pods that may be evicted for gangs within any minute; 0 = as many as it takes. A set that is
  /// larger than that goes when nobody else went.
  std::uint32_t evictions_per_minute = 0;
};

} // namespace tutti::placement
