// What tests of the small model ask of a search.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "chaos/small/exhaust.hpp"

namespace tutti::chaos::small {

/// What broke, and the path to it.
inline std::string told(const exhaust_result& r) {
  if (!r.broken)
    return "nothing broke";
  return fmt::format("{}: {}\n  {}", r.broken->id, r.broken->what, fmt::join(r.path, "\n  "));
}

/// Nothing breaks in any order: of so many states with the reduction, of so many without; and both
/// end in the same number of states.
inline void expect_every_order(exhaust_options how, std::uint64_t states_reduced,
                               std::uint64_t states_of_all) {
  how.is_reduced = true;
  const auto reduced = exhaust(how);
  EXPECT_TRUE(reduced.is_complete && !reduced.broken) << told(reduced);
  EXPECT_EQ(reduced.states, states_reduced);
  how.is_reduced = false;
  const auto all = exhaust(how);
  EXPECT_TRUE(all.is_complete && !all.broken) << told(all);
  EXPECT_EQ(all.states, states_of_all);
  EXPECT_EQ(reduced.ends, all.ends);
}

} // namespace tutti::chaos::small
