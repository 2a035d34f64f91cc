#include "sim/world/timeline.hpp"

#include <algorithm>
#include <chrono>

#include "base/ensure.hpp"

namespace tutti::sim {

namespace {

/// 2030-01-01T00:00:00Z.
constexpr std::int64_t zero_unix_ms = 1'893'456'000'000;

} // namespace

base::wall_time timeline::wall_now() const {
  return {zero_unix_ms
          + std::chrono::duration_cast<std::chrono::milliseconds>(now_.time_since_epoch()).count()};
}

void timeline::at(base::time_point when, action what) {
  actions_.emplace(std::pair{std::max(when, now_), ++asked_}, std::move(what));
}

std::optional<base::time_point> timeline::next() const {
  if (actions_.empty())
    return std::nullopt;
  return actions_.begin()->first.first;
}

void timeline::advance(base::time_point to) {
  ensure(to >= now_, to.time_since_epoch().count(), now_.time_since_epoch().count());
  now_ = to;
}

bool timeline::run_one() {
  if (actions_.empty() || actions_.begin()->first.first > now_)
    return false;
  auto node = actions_.extract(actions_.begin());
  node.mapped()();
  return true;
}

} // namespace tutti::sim
