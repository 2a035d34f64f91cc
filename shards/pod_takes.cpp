// One copy of equal footprints: found by looking through the node's pods, which are few.
#include "shards/pod_takes.hpp"

#include <algorithm>

namespace tutti::shards {

const base::footprint* pod_takes::find(const base::packed_uid& pod) const {
  const auto pos = entries_.find(pod);
  return pos == entries_.end() ? nullptr : pos->second.get();
}

void pod_takes::put(const base::packed_uid& pod, const base::footprint& takes) {
  const auto equal = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const auto& e) { return *e.second == takes; });
  auto kept = equal == entries_.end() ? std::make_shared<const base::footprint>(takes)
                                      : footprint_ptr{equal->second};
  entries_.insert_or_assign(pod, std::move(kept));
}

} // namespace tutti::shards
