// How long a replica's Lease counts, and how often it is renewed.
#pragma once

#include "base/time.hpp"
#include "bridge/limits.hpp"

namespace tutti::bridge {

/// The same for all replicas of a cluster: who counts with a shorter `duration` than the others
/// takes over from the living. No safety depends on it.
struct lease_times {
  base::duration duration = limits::lease_duration; ///< unchanged for so long: its holder is dead
  base::duration given_up = limits::lease_given_up; ///< not renewed for so long: its holder stops
  base::duration renewal = limits::lease_renewal;

  /// Renewals may be lost, and a holder stops before others take over.
  bool are_sound() const {
    return renewal > base::duration{0} && renewal < given_up && given_up < duration;
  }
  friend bool operator==(const lease_times&, const lease_times&) = default;
};

/// The same proportions for another `duration`, a second at least: two thirds until it is given up,
/// five renewals in those.
inline lease_times lease_times_of(base::duration duration) {
  return {.duration = duration, .given_up = duration * 2 / 3, .renewal = duration * 2 / 15};
}

} // namespace tutti::bridge
