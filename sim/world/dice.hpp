// All chance of one run, one stream per concern: switching one fault off leaves the others where
// they were.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/time.hpp"

namespace tutti::sim {

struct dice {
  explicit dice(std::uint64_t seed)
      : order(seed, "order"), network(seed, "network"), links(seed, "links"), disk(seed, "disk"),
        api(seed, "api"), workload(seed, "workload") {}

  base::random_stream order;    ///< which of several runnable actors goes first
  base::random_stream network;  ///< how long bytes to and from the API server take
  base::random_stream links;    ///< how long frames between replicas take
  base::random_stream disk;     ///< how long a sync takes, what a crash leaves
  base::random_stream api;      ///< faults of the API server
  base::random_stream workload; ///< what users do
};

/// Any duration from `least` to `most`, in microseconds.
inline base::duration draw(base::random_stream& from, base::duration least, base::duration most) {
  constexpr base::duration step = std::chrono::microseconds{1};
  const auto steps = static_cast<std::uint64_t>((most - least) / step);
  return least + step * static_cast<std::int64_t>(from.between(0, steps));
}

} // namespace tutti::sim
