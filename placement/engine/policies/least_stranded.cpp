// Least fragmentation looks at one pod more; but in the long run a node's GPUs are idle because
// others have taken its CPU. This policy counts these, too: pods that take much CPU for a GPU, or
// no GPU, go where CPU is left over, and those that take little go where it is scarce.
#include <cmath>

#include "placement/engine/policies/fragmentation.hpp"

namespace tutti::placement::engine {
namespace {

/// Differences below half a GPU do not count: they would scatter pods.
constexpr double steps_per_gpu = 2;

double lost(const node_room& on, std::span<const usual_pod> usual) {
  return fragmented_gpus(on, usual) + stranded_gpus(on, usual);
}

std::int64_t score(const seat_view& x) {
  return static_cast<std::int64_t>(
      std::floor(steps_per_gpu * (lost(x.before, x.usual) - lost(x.after, x.usual))));
}

} // namespace

extern const policy least_stranded;
const policy least_stranded{
    "least-stranded", "least fragmentation, and leaves no GPUs without the CPU that pods need",
    score};

} // namespace tutti::placement::engine
