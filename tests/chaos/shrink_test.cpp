// Shrinking keeps the failure and little else.
#include "chaos/shrink.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "chaos/swarm.hpp"

namespace tutti::chaos {
namespace {

bool has(const schedule& x, const std::string& what) {
  return std::any_of(x.actions.begin(), x.actions.end(),
                     [&](const auto& a) { return a.what == what; });
}

TEST(Shrink, leaves_only_what_the_failure_needs) {
  schedule failing = draw_schedule(3, {});
  failing.actions.push_back({std::chrono::seconds{1}, "crash", "scheduler-0", {}});
  failing.actions.push_back({std::chrono::seconds{2}, "gang", "g77", {{"members", "6"}}});
  const auto breaks = [](const schedule& x) {
    return has(x, "crash") && std::any_of(x.actions.begin(), x.actions.end(), [](const auto& a) {
             return a.target == "g77" && number(a, "members") >= 3;
           });
  };
  ASSERT_TRUE(breaks(failing));
  const auto found = shrink(failing, breaks);
  EXPECT_EQ(found.least.actions.size(), 2u);
  EXPECT_EQ(found.least.shards, 1u);
  EXPECT_EQ(number(found.least.actions.back(), "members"), 3);
  EXPECT_GT(found.runs, 0u);
}

TEST(Shrink, ends_after_the_runs_it_was_given) {
  std::size_t runs = 0;
  const auto found = shrink(
      draw_schedule(3, {}),
      [&](const schedule&) {
        ++runs;
        return false;
      },
      5);
  EXPECT_EQ(runs, 5u);
  EXPECT_EQ(found.runs, 5u);
}

} // namespace
} // namespace tutti::chaos
