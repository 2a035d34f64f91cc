// What users ask of a simulated cluster: gangs by the time at which they come.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace tutti::sim::workload {

/// What one member asks for.
struct member_need {
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;

  friend bool operator==(const member_need&, const member_need&) = default;
};

/// A gang of equal members that all run equally long.
struct arrival {
  base::duration at{}; ///< since the beginning of the run
  std::uint32_t members = 1;
  member_need each;
  base::duration runs_for{};
  std::uint64_t line = 0; ///< of the trace; 0 = generated

  std::int64_t gpus() const { return each.gpus * members; }
};

/// A gang that is not submitted, and why; it is counted and shown.
struct rejected_gang {
  arrival what;
  std::string why;
};

/// Arrivals in the order of their times.
struct gangs {
  std::string origin; ///< for people: a file, or the name of a generated workload
  std::vector<arrival> arrivals;
  std::vector<rejected_gang> rejected;
};

} // namespace tutti::sim::workload
