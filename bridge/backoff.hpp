// How long to wait before trying again: doubling, with jitter that is a function of a seed.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/hash.hpp"
#include "base/time.hpp"
#include "bridge/limits.hpp"

namespace tutti::bridge {

struct backoff_range {
  base::duration first{};
  base::duration longest{};
};

/// `first` doubled `tries` times, at most `longest`, of which the last half is drawn by hash of
/// (`seed`, `who`, `tries`).
inline base::duration backoff(const backoff_range& range, std::uint32_t tries, std::uint64_t seed,
                              std::uint64_t who) {
  auto wait = range.first;
  for (std::uint32_t i = 0; i < tries && wait < range.longest; ++i)
    wait *= 2;
  wait = std::min(wait, range.longest);
  const auto half = std::max<std::int64_t>(wait.count() / 2, 1);
  const auto drawn = base::hash_combine(base::hash_combine(seed, who), tries);
  const auto spread = static_cast<std::uint64_t>(half);
  return base::duration{half + static_cast<std::int64_t>(drawn % spread)};
}

/// What a Retry-After header asks for, bounded; zero if there was none.
inline base::duration asked_wait(std::int64_t retry_after_ms) {
  return std::clamp<base::duration>(std::chrono::milliseconds{retry_after_ms},
                                    base::duration::zero(), limits::retry_after_longest);
}

} // namespace tutti::bridge
