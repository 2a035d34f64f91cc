// Two marks and some slack, so that a disk that stands at a mark does not flutter.
#include "persistence/disk_space.hpp"

#include <fmt/core.h>

namespace tutti::persistence {

namespace {

constexpr std::uint64_t parts_for_the_database = 4;

std::uint64_t with_slack(std::uint64_t mark) {
  return mark + mark / disk_slack_divisor;
}

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1u << 20));
}

} // namespace

std::string_view name_of(space_level x) {
  switch (x) {
  case space_level::plenty:
    return "plenty";
  case space_level::scarce:
    return "scarce";
  case space_level::none:
    return "none";
  }
  return "";
}

disk_space space_gauge::look(std::uint64_t free_bytes) {
  const std::lock_guard lock{mutex_};
  const auto floor = reserve_ / parts_for_the_database;
  const auto below = [free_bytes](std::uint64_t mark, bool was_below) {
    return free_bytes < (was_below ? with_slack(mark) : mark);
  };
  if (below(floor, last_ == space_level::none))
    last_ = space_level::none;
  else if (below(reserve_, last_ != space_level::plenty))
    last_ = space_level::scarce;
  else
    last_ = space_level::plenty;
  return {last_, free_bytes, reserve_};
}

base::error full_error(const disk_space& x) {
  const auto why = x.has_none()
                       ? fmt::format("the disk is full: {} are free, and nothing is written until "
                                     "{} are",
                                     mebibytes(x.free),
                                     mebibytes(with_slack(x.reserve / parts_for_the_database)))
                       : fmt::format("the disk is nearly full: {} are free, and nothing new is "
                                     "begun until {} are",
                                     mebibytes(x.free), mebibytes(with_slack(x.reserve)));
  return {base::code::io, why, "free space on the volume of --data-dir"};
}

} // namespace tutti::persistence
