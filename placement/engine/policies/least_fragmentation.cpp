// Fragmentation gradient descent (Weng et al., USENIX ATC 2023): a GPU that a pod which may come
// cannot use is fragmented for that pod. The best seat adds least to what is fragmented for the
// pods that usually come.
#include <cmath>

#include "placement/engine/policies/fragmentation.hpp"

namespace tutti::placement::engine {
namespace {

/// From 0 to 100; whole numbers, for differences too small to matter must not scatter pods.
std::int64_t score(const seat_view& x) {
  const auto gain = fragmented_gpus(x.before, x.usual) - fragmented_gpus(x.after, x.usual);
  return static_cast<std::int64_t>(100 / (1 + std::exp(-gain)));
}

} // namespace

extern const policy least_fragmentation;
const policy least_fragmentation{
    "least-fragmentation", "adds least to the GPUs that pods which usually come cannot use", score};

} // namespace tutti::placement::engine
