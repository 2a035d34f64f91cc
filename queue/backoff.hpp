// How long a gang must rest after an attempt that came to nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/ids.hpp"
#include "base/time.hpp"

namespace tutti::queue {

/// First rest after a lost conflict: about one prepare round, so that the rival is through.
inline constexpr auto conflict_backoff_first = std::chrono::milliseconds{20};
/// Conflicts never rest longer than this: the room is there, only somebody was faster.
inline constexpr auto conflict_backoff_cap = std::chrono::milliseconds{1280};

/// `min(1 s * 2^(failures - 1), cap)`; the cap is 10 s for a lone pod and 10 s * sqrt(size)
/// for a group of `size` pending members. Zero failures: no rest.
struct refusal {
  std::uint32_t failures = 0;
  std::size_t size = 1;
  bool is_lone_pod = false;
};
base::duration backoff_of(const refusal& x);

/// The instant at which a rest of `rest` from `now` ends: whole seconds, rounded down, so that
/// gangs of one second leave together and in order. Never before `now`.
base::time_point window_of(base::time_point now, base::duration rest);

/// Between half and all of `20 ms * 2^(conflicts - 1)`, at most 1.28 s, by hash(seed, gang, try):
/// two rivals do not meet again at the same instant. Zero conflicts: no rest.
base::duration conflict_backoff_of(std::uint64_t seed, const base::gang_uid& gang,
                                   std::uint32_t conflicts);

} // namespace tutti::queue
