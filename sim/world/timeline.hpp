// Virtual time of one simulated world, and everything that is to happen in it at a known instant.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"

namespace tutti::sim {

/// A priority queue by (time, order of asking). Time moves only by `advance`. One thread.
class timeline final : public base::clock {
public:
  using action = std::function<void()>;

  base::time_point now() const override { return now_; }
  /// A day in 2030 plus what has passed: wall time is for display only.
  base::wall_time wall_now() const override;

  void at(base::time_point when, action what);
  void after(base::duration how_long, action what) { at(now_ + how_long, std::move(what)); }

  /// When the next action is due; nothing if none is left.
  std::optional<base::time_point> next() const;
  /// Moves the time; never back.
  void advance(base::time_point to);
  /// Performs the first action that is due. False if none is.
  bool run_one();
  std::size_t waiting() const { return actions_.size(); }

private:
  base::time_point now_{};
  std::uint64_t asked_ = 0;
  std::map<std::pair<base::time_point, std::uint64_t>, action> actions_;
};

} // namespace tutti::sim
