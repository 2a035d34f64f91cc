// Long work that a person may watch, and stop.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.hpp"

namespace tutti::base {

/// Told after each step how many are done; false = do no more. Empty: nobody looks, go on. It is
/// called by whoever works, on any thread, and returns at once.
using step_watch = std::function<bool(std::size_t done)>;

inline bool goes_on(const step_watch& watch, std::size_t done) {
  return !watch || watch(done);
}

/// What a work says that was told to stop; what it had done by then stays done.
inline error stopped() {
  return {code::unavailable, "stopped before the end"};
}

} // namespace tutti::base
