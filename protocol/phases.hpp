// The words for where a gang is, the same in protocol, command line and scenarios.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::protocol {

/// The queue owns the first three, the pod group actor the others.
///
///     gated ─▶ queued ─▶ planning ─▶ preparing ─▶ decided ─▶ (evicting) ─▶ binding ─▶ bound
///                ▲          │            │           │                        │
///                │          ▼            ▼           ▼                        ▼
///                └───── backing_off ◀────┴────── withdrawing              degraded
enum class phase : std::uint8_t {
  gated,
  queued,
  backing_off,
  planning,
  preparing,
  decided,
  evicting,
  binding,
  bound,
  withdrawing,
  degraded
};
inline constexpr int phase_count = 11;

/// "Gated", "BackingOff", …
std::string_view name_of(phase x);

} // namespace tutti::protocol
