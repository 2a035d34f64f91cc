// The numbers of Q-21 and the jitter of conflicts.
#include "queue/backoff.hpp"

#include <gtest/gtest.h>

namespace tutti::queue {
namespace {

using namespace std::chrono_literals;
using base::duration;
using base::time_point;

duration lone(std::uint32_t failures) {
  return backoff_of({.failures = failures, .size = 1, .is_lone_pod = true});
}

TEST(Backoff, q21_doubles_from_one_second_to_ten_for_a_lone_pod) {
  EXPECT_EQ(lone(0), 0s);
  EXPECT_EQ(lone(1), 1s);
  EXPECT_EQ(lone(2), 2s);
  EXPECT_EQ(lone(3), 4s);
  EXPECT_EQ(lone(4), 8s);
  EXPECT_EQ(lone(5), 10s);
  EXPECT_EQ(lone(4'000'000'000u), 10s);
}

TEST(Backoff, q21_the_cap_of_a_group_grows_with_the_root_of_its_size) {
  EXPECT_EQ(backoff_of({.failures = 30, .size = 4}), 20s);
  EXPECT_EQ(backoff_of({.failures = 30, .size = 100}), 100s);
  EXPECT_EQ(backoff_of({.failures = 5, .size = 100}), 16s);
  EXPECT_EQ(backoff_of({.failures = 30, .size = 0}), 10s);
}

TEST(Backoff, q21_a_rest_ends_with_its_second_so_that_a_second_leaves_together) {
  EXPECT_EQ(window_of(time_point{5300ms}, 1s), time_point{6s});
  EXPECT_EQ(window_of(time_point{5900ms}, 2s), time_point{7s});
  EXPECT_EQ(window_of(time_point{5300ms}, 0s), time_point{5300ms});
  EXPECT_EQ(window_of(time_point{5300ms}, 1ms), time_point{5300ms}) << "never before now";
}

TEST(Backoff, conflicts_rest_between_half_and_all_of_a_doubling_twenty_milliseconds) {
  for (std::uint32_t n = 1; n < 40; ++n) {
    const duration whole = std::min<duration>(20ms * (1ll << std::min(n - 1, 6u)), 1280ms);
    const auto rest = conflict_backoff_of(7, {"g"}, n);
    EXPECT_GE(rest, whole / 2) << n;
    EXPECT_LE(rest, whole) << n;
  }
  EXPECT_EQ(conflict_backoff_of(7, {"g"}, 0), 0ms);
}

TEST(Backoff, two_rivals_and_two_seeds_draw_different_rests) {
  EXPECT_NE(conflict_backoff_of(7, {"g"}, 3), conflict_backoff_of(7, {"h"}, 3));
  EXPECT_NE(conflict_backoff_of(7, {"g"}, 3), conflict_backoff_of(8, {"g"}, 3));
  EXPECT_EQ(conflict_backoff_of(7, {"g"}, 3), conflict_backoff_of(7, {"g"}, 3));
}

} // namespace
} // namespace tutti::queue
