// Sees a world that goes in a circle: steps without end at one instant of virtual time.
#pragma once

#include <cstdint>

#include <fmt/format.h>

#include "base/time.hpp"
#include "chaos/invariant.hpp"

namespace tutti::chaos {

/// Upholds E3. A whole world takes some ten thousand steps, W0 a hundred thousand.
class rest_watch {
public:
  static constexpr std::uint64_t steps_at_once_most = 100'000;

  /// Asked before each step: the world's time, and its steps up to now.
  bool goes_in_a_circle(base::time_point now, std::uint64_t steps) {
    if (now != since_) {
      since_ = now;
      first_ = steps;
    }
    return steps - first_ > steps_at_once_most;
  }
  violation broken() const {
    return {"E3", since_, fmt::format("more than {} steps at one instant", steps_at_once_most)};
  }

private:
  base::time_point since_{};
  std::uint64_t first_ = 0;
};

} // namespace tutti::chaos
