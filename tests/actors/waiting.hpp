// Waiting for other threads without sleeping blindly: look often, give up late.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tutti::actors::testing {

/// No test waits longer for anything; on an idle machine all of it takes milliseconds.
inline constexpr auto patience = std::chrono::seconds{30};

/// True as soon as `what` is; false if it is not in time.
inline bool eventually(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!what()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return true;
}

} // namespace tutti::actors::testing
