// How many writes may leave for the API server per second.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace tutti::bridge {

/// A bucket of `burst` writes that fills with `per_second`; 0 = no limit. Starts full. Pure.
class write_budget {
public:
  struct options {
    double per_second = 0;
    double burst = 1; ///< at least 1
  };
  explicit write_budget(options how) : how_(how), left_(how.burst) {}

  bool has_limit() const { return how_.per_second > 0; }
  /// How long until one may leave; zero: now.
  base::duration wait(base::time_point now) {
    fill(now);
    if (!has_limit() || left_ >= 1)
      return base::duration::zero();
    const std::chrono::duration<double> missing{(1 - left_) / how_.per_second};
    return std::chrono::ceil<std::chrono::milliseconds>(missing);
  }
  /// One leaves. After `wait` has said that it may.
  void spend() { left_ -= has_limit() ? 1 : 0; }

private:
  void fill(base::time_point now) {
    const std::chrono::duration<double> passed = now - at_;
    if (passed.count() > 0 && at_ != base::time_point{})
      left_ = std::min(how_.burst, left_ + passed.count() * how_.per_second);
    at_ = std::max(at_, now);
  }

  options how_;
  double left_;
  base::time_point at_{};
};

} // namespace tutti::bridge
