#include "cli/sim_progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace tutti::cli {

namespace {

constexpr auto terminal_pause = std::chrono::milliseconds{200};
constexpr auto line_pause = std::chrono::seconds{10};

std::string span_text(double seconds) {
  const auto s = static_cast<std::int64_t>(seconds);
  if (s < 60)
    return fmt::format("{} s", s);
  if (s < 3'600)
    return fmt::format("{} min {:02} s", s / 60, s % 60);
  return fmt::format("{} h {:02} min", s / 3'600, s / 60 % 60);
}

} // namespace

sim_progress::sim_progress(bool is_quiet) : is_on_(!is_quiet) {}

void sim_progress::begin(std::string part, std::string unit, double all) {
  part_ = std::move(part);
  unit_ = std::move(unit);
  all_ = all;
  part_start_ = clock::now();
}

void sim_progress::at(double done, const std::string& more) {
  const auto now = clock::now();
  if (!is_on_ || now - last_ < (line_.is_seen() ? clock::duration{terminal_pause} : line_pause))
    return;
  last_ = now;
  const auto passed = std::max(std::chrono::duration<double>(now - part_start_).count(), 0.001);
  const auto rate = done / passed;
  auto line = fmt::format("{}: {:.0f}", part_, done);
  if (all_ > 0)
    line += fmt::format(" of {:.0f}", all_);
  line += fmt::format(" {}, {:.1f}/s", unit_, rate);
  if (all_ > 0 && rate > 0)
    line += fmt::format(", {} left", span_text((all_ - done) / rate));
  if (!more.empty())
    line += ", " + more;
  show(line);
}

void sim_progress::show(const std::string& line) {
  line_.show(line);
  if (!line_.is_seen())
    fmt::print(stderr, "{}\n", line);
}

void sim_progress::end() {
  line_.clear();
}

double sim_progress::seconds() const {
  return std::chrono::duration<double>(clock::now() - start_).count();
}

} // namespace tutti::cli
