// What kube-scheduler does by default: NodeResourcesFit with LeastAllocated, and
// NodeResourcesBalancedAllocation, of CPU and memory, with equal weights. Pods without requests
// count as nothing here, there as 100m and 200 MB.
#include <algorithm>
#include <cmath>

#include "placement/engine/policy.hpp"

namespace tutti::placement::engine {
namespace {

double used(std::int64_t left, std::int64_t all) {
  return all > 0 ? std::clamp(1 - static_cast<double>(left) / static_cast<double>(all), 0.0, 1.0)
                 : 1;
}

std::int64_t score(const seat_view& x) {
  const auto part = [](std::int64_t left, std::int64_t all) {
    return all > 0 ? static_cast<std::int64_t>(100.0 * static_cast<double>(left)
                                               / static_cast<double>(all))
                   : 0;
  };
  const auto least_allocated = (part(x.after.cpu_milli, x.after.cpu_milli_all)
                                + part(x.after.memory_bytes, x.after.memory_bytes_all))
                               / 2;
  const auto apart = std::abs(used(x.after.cpu_milli, x.after.cpu_milli_all)
                              - used(x.after.memory_bytes, x.after.memory_bytes_all));
  const auto balanced = static_cast<std::int64_t>((1 - apart / 2) * 100);
  return least_allocated + balanced;
}

} // namespace

extern const policy upstream;
const policy upstream{"upstream",
                      "as kube-scheduler by default: least allocated and balanced, CPU and memory",
                      score};

} // namespace tutti::placement::engine
