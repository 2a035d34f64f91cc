// Leaves every node as much room as possible: the best seat is where the scarcest of what the pod
// takes is least scarce afterwards.
#include <algorithm>

#include "placement/engine/policy.hpp"

namespace tutti::placement::engine {
namespace {

/// Thousandths of `all` that are left.
std::int64_t left_of(std::int64_t left, std::int64_t all) {
  return all > 0 ? static_cast<std::int64_t>(1000.0 * static_cast<double>(left)
                                             / static_cast<double>(all))
                 : 0;
}

std::int64_t score(const seat_view& x) {
  std::int64_t least = 1000;
  if (x.pod.cpu_milli > 0)
    least = std::min(least, left_of(x.after.cpu_milli, x.after.cpu_milli_all));
  if (x.pod.memory_bytes > 0)
    least = std::min(least, left_of(x.after.memory_bytes, x.after.memory_bytes_all));
  if (x.pod.gpus > 0)
    least = std::min(least, left_of(x.after.gpu_milli(), x.after.gpus_all * whole_gpu));
  return least;
}

} // namespace

extern const policy spread;
const policy spread{"spread", "puts pods where most is left, so that no node is crowded", score};

} // namespace tutti::placement::engine
