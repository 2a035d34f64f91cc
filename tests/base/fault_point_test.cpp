// A place at which a process can be made to die, and what arms none.
#include "base/fault_point.hpp"

#include <csignal>
#include <cstdio>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(FaultPoint, what_names_no_place_or_no_count_arms_nothing) {
  for (const auto* text : {":1", "C4:", "C4:0", "C4:-1", "C4:x", "C4:1x", "C4:99999999999"})
    EXPECT_FALSE(arm_fault(text)) << text;
  EXPECT_TRUE(arm_fault(""));
  pass_fault("C4"); // and lives
}

TEST(FaultPointDeathTest, the_process_dies_as_by_kill_9_the_first_time) {
  EXPECT_EXIT(
      {
        arm_fault("C4");
        pass_fault("C5");
        pass_fault("C4");
        std::fputs("alive\n", stderr);
      },
      ::testing::KilledBySignal(SIGKILL), "^$");
}

TEST(FaultPointDeathTest, or_the_n_th_time) {
  EXPECT_EXIT(
      {
        arm_fault("P2:3");
        for (int n = 1; n < 5; ++n) {
          std::fprintf(stderr, "%d", n);
          pass_fault("P2");
        }
      },
      ::testing::KilledBySignal(SIGKILL), "^123$");
}

TEST(FaultPointDeathTest, the_hook_hears_which_just_before) {
  EXPECT_EXIT(
      {
        set_fault_hook([](std::string_view id) {
          std::fprintf(stderr, "<%.*s>", static_cast<int>(id.size()), id.data());
        });
        arm_fault("B1");
        pass_fault("B1");
      },
      ::testing::KilledBySignal(SIGKILL), "^<B1>$");
}

} // namespace
} // namespace tutti::base
