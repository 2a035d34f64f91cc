// Which gangs this replica places, where there are others.
#pragma once

#include <set>

#include "base/ids.hpp"
#include "protocol/sharding.hpp"
#include "queue/options.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// True if the gang's partition is among those that are `here`, or there are no other replicas. A
/// gang without a uid has no partition: nobody tries it, and everybody may say why.
inline bool is_placed_here(const gang_entry& g, const options& how,
                           const std::set<base::partition_id>& here) {
  return !how.has_others || g.uid().value.empty() || here.contains(protocol::partition_of(g.uid()));
}

} // namespace tutti::queue
