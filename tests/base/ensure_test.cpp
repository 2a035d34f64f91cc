// The last words of a process that has found a bug of its own.
#include "base/ensure.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Ensure, what_holds_is_looked_at_once_and_forgotten) {
  int looked = 0;
  ensure(++looked == 1, looked);
  EXPECT_EQ(looked, 1);
}

TEST(EnsureDeathTest, says_where_what_and_with_which_operands) {
  const int held = 3;
  EXPECT_DEATH(ensure(held < 2, held, "seats"),
               "ensure_test.cpp:[0-9]+: ensure\\(held < 2\\) failed \\[3\\] \\[seats\\]");
}

TEST(EnsureDeathTest, works_without_operands) {
  EXPECT_DEATH(ensure(1 > 2), "ensure\\(1 > 2\\) failed");
}

TEST(EnsureDeathTest, the_hook_hears_the_line_before_the_end) {
  EXPECT_DEATH(
      {
        set_failure_hook([](const char* line) noexcept { std::fprintf(stderr, "<%s>", line); });
        ensure(false, 42);
      },
      "<.*ensure\\(false\\) failed \\[42\\]>");
}

} // namespace
} // namespace tutti::base
