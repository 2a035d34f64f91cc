#include "actors/recorder.hpp"

#include <fmt/core.h>

namespace tutti::actors {

void recorder::record(const protocol::address& who, const protocol::note& what,
                      base::time_point now, base::wall_time wall) {
  recorded r{now, wall, protocol::to_text(who), std::string{what.what}, {}};
  for (const auto& [name, value] : what.fields)
    r.fields.emplace_back(name, value);
  std::lock_guard lock{mutex_};
  ++counts_[r.what];
  ring_.push_back(std::move(r));
  if (ring_.size() > capacity_)
    ring_.pop_front();
}

std::vector<recorded> recorder::with(std::string_view field, std::string_view value) const {
  std::vector<recorded> out;
  std::lock_guard lock{mutex_};
  for (const auto& r : ring_)
    for (const auto& [name, v] : r.fields)
      if (name == field && std::holds_alternative<std::string>(v)
          && std::get<std::string>(v) == value)
        out.push_back(r);
  return out;
}

std::vector<recorded> recorder::last(std::size_t n) const {
  std::lock_guard lock{mutex_};
  const auto from = ring_.size() > n ? ring_.size() - n : 0;
  return {ring_.begin() + static_cast<std::ptrdiff_t>(from), ring_.end()};
}

std::map<std::string, std::uint64_t> recorder::counts() const {
  std::lock_guard lock{mutex_};
  return {counts_.begin(), counts_.end()};
}

std::string to_text(const recorded& x) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(x.at.time_since_epoch());
  auto out = fmt::format("{:9.3f}s {} {}", static_cast<double>(ms.count()) / 1000.0, x.who, x.what);
  for (const auto& [name, value] : x.fields)
    out += std::holds_alternative<std::string>(value)
               ? fmt::format(" {}={}", name, std::get<std::string>(value))
               : fmt::format(" {}={}", name, std::get<std::int64_t>(value));
  return out;
}

} // namespace tutti::actors
