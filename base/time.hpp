// Time as roles see it: a monotonic instant that is handed in, and durations. Nobody in a role asks
// a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace tutti::base {

using duration = std::chrono::nanoseconds;

/// The tag of our monotonic time line. Its zero is the start of the process or of the simulated
/// world; it never jumps. It has no `now()` on purpose.
struct monotonic {
  using rep = std::chrono::nanoseconds::rep;
  using period = std::chrono::nanoseconds::period;
  using duration = std::chrono::nanoseconds;
  static constexpr bool is_steady = true;
};

using time_point = std::chrono::time_point<monotonic, duration>;

/// Wall time, for display and for the API server's fields only: milliseconds since 1970, UTC.
struct wall_time {
  std::int64_t unix_ms = 0;

  friend auto operator<=>(const wall_time&, const wall_time&) = default;
};

/// The one seam through which real time enters a process.
class clock {
public:
  virtual ~clock() = default;
  virtual time_point now() const = 0;
  virtual wall_time wall_now() const = 0;
};

/// Steady and system clock of the machine. One per process, owned by `main`.
class system_clock final : public clock {
public:
  system_clock() : start_(std::chrono::steady_clock::now()) {}
  time_point now() const override {
    return time_point{
        std::chrono::duration_cast<duration>(std::chrono::steady_clock::now() - start_)};
  }
  wall_time wall_now() const override {
    using namespace std::chrono;
    auto since = std::chrono::system_clock::now().time_since_epoch();
    return {duration_cast<milliseconds>(since).count()};
  }

private:
  std::chrono::steady_clock::time_point start_;
};

} // namespace tutti::base
