// Rests that double up to a cap, and whole-second windows in which they end.
#include "queue/backoff.hpp"

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "base/limits.hpp"

namespace tutti::queue {

namespace {

/// first * 2^(n - 1), at most `cap`, without overflow.
base::duration doubled(base::duration first, std::uint32_t n, base::duration cap) {
  auto rest = first;
  for (std::uint32_t i = 1; i < n && rest < cap; ++i)
    rest *= 2;
  return std::min(rest, cap);
}

} // namespace

base::duration backoff_of(const refusal& x) {
  if (x.failures == 0)
    return {};
  base::duration cap = base::limits::backoff_cap;
  if (!x.is_lone_pod) {
    const auto factor = std::sqrt(static_cast<double>(std::max<std::size_t>(x.size, 1)));
    cap =
        base::duration{static_cast<base::duration::rep>(static_cast<double>(cap.count()) * factor)};
  }
  return doubled(base::limits::backoff_first, x.failures, cap);
}

base::time_point window_of(base::time_point now, base::duration rest) {
  if (rest <= base::duration{})
    return now;
  return std::max(now, std::chrono::floor<std::chrono::seconds>(now + rest)
                           + base::duration{}); // back to nanoseconds
}

base::duration conflict_backoff_of(std::uint64_t seed, const base::gang_uid& gang,
                                   std::uint32_t conflicts) {
  if (conflicts == 0)
    return {};
  const auto whole = doubled(conflict_backoff_first, conflicts, conflict_backoff_cap);
  const auto half = static_cast<std::uint64_t>(whole.count() / 2);
  const auto draw =
      base::hash_combine(base::hash_combine(seed, base::hash_of(gang.value)), conflicts);
  return base::duration{static_cast<base::duration::rep>(half + draw % (half + 1))};
}

} // namespace tutti::queue
