// How far a long run is: a line on a terminal, or a line every ten seconds where there is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/terminal_line.hpp"

namespace tutti::cli {

class sim_progress {
public:
  explicit sim_progress(bool is_quiet);

  /// A part of the run begins: its name, its unit, and how much there is to do; 0 = nobody knows.
  void begin(std::string part, std::string unit, double all);
  /// `done` of it are done; `more` is shown behind it.
  void at(double done, const std::string& more);
  /// The part is over; the terminal's line is cleared.
  void end();
  double seconds() const;

private:
  using clock = std::chrono::steady_clock;
  void show(const std::string& line);

  const bool is_on_;
  terminal_line line_;
  const clock::time_point start_ = clock::now();
  clock::time_point part_start_ = clock::now();
  clock::time_point last_ = clock::now();
  std::string part_;
  std::string unit_;
  double all_ = 0;
};

} // namespace tutti::cli
