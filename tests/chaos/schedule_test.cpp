// Schedules as files: what is written is read again, and what is wrong is named with its line.
#include "chaos/schedule.hpp"

#include <gtest/gtest.h>

#include "chaos/swarm.hpp"

namespace tutti::chaos {
namespace {

constexpr const char* good = "tutti schedule 1\n"
                             "seed 17   # orders\n"
                             "world shards=2 path=long faults_until=2s until=60s\n"
                             "at 900ms crash_at scheduler-0 row=C4 pass=2\n"
                             "at 0s node n0 cpu=4 rack=r0\n";

TEST(Schedule, is_read_in_the_order_of_time) {
  const auto x = read_schedule(good, "f").value();
  EXPECT_EQ(x.seed, 17u);
  EXPECT_FALSE(x.fast_path);
  ASSERT_EQ(x.actions.size(), 2u);
  EXPECT_EQ(x.actions[0].what, "node");
  EXPECT_EQ(x.actions[1].with.at("row"), "C4");
}

TEST(Schedule, every_drawn_one_is_written_and_read_again_as_it_was) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    auto x = draw_schedule(seed, {});
    x.breaks = "S6";
    const auto again = read_schedule(write_schedule(x), "drawn");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(*again, x) << write_schedule(x);
  }
}

struct bad_line {
  const char* line;
  const char* says;
};

TEST(Schedule, what_is_wrong_is_named_with_its_line_and_what_is_allowed) {
  const bad_line all[] = {
      {"at 1s explode scheduler-0", "\"explode\" is no action"},
      {"at 1x crash scheduler-0", "\"1x\" is no duration"},
      {"at 1s crash", "an action has a time, a word and a target"},
      {"at 1s crash scheduler-0 keep=1", "\"keep=1\" is not known here"},
      {"at 1s crash scheduler-0 kept=one", "\"one\" is no number"},
      {"at 1s pause scheduler-0 for=soon", "\"soon\" is no duration"},
      {"world shards=0", "shards is out of range"},
      {"world path=short", "path=short is not known"},
      {"world policy=keep", "policy=keep is not known"},
      {"seed x", "\"x\" is no number"},
      {"breaks S99", "no such invariant"},
      {"frobnicate", "\"frobnicate\" is not known"},
      {"at -1s crash scheduler-0", "-1s is before the beginning"},
      {"at 1s crash shcheduler-0", "\"shcheduler-0\" is not known"},
      {"at 1s crash scheduler-x", "\"scheduler-x\" is not known"},
      {"at 1s api bnd nth=1 becomes=lost", "\"bnd\" is not known"},
      {"at 1s api bind nth=1 becomes=maybe", "\"maybe\" is not known"},
      {"at 1s crash scheduler-0 when=somewhen", "\"somewhen\" is not known"},
      {"at 1s crash scheduler-0 when=idle", "\"idle\" is not known"},
      {"at 1s api bind nth=1 becomes=200", "\"200\" is not known"},
      {"at 1s watch_cut pod", "\"pod\" is not known"},
      {"at 1s crash scheduler-0 disk=los", "\"los\" is not known"},
      {"at 1s crash_at scheduler-0 row=Z1", "\"Z1\" is not known"},
      {"at 1s pause scheduler-0 for=-2s", "-2s is less than nothing"},
      {"at 1s crash scheduler-0 kept=1 kept=2", "kept stands twice"},
  };
  for (const auto& bad : all) {
    const auto x = read_schedule(std::string{good} + bad.line + "\n", "bad.schedule");
    ASSERT_FALSE(x) << bad.line;
    EXPECT_NE(x.error().message().find("bad.schedule:6: "), std::string::npos)
        << x.error().message();
    EXPECT_NE(x.error().message().find(bad.says), std::string::npos) << x.error().message();
    EXPECT_FALSE(x.error().hint().empty()) << bad.line;
  }
}

TEST(Schedule, of_another_format_is_refused_with_both_numbers) {
  const auto x = read_schedule("tutti schedule 9\nseed 1\n", "f");
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().what(), base::code::newer_format);
  EXPECT_NE(x.error().message().find("format 9; this program reads format 1"), std::string::npos);
}

TEST(Schedule, without_its_first_line_is_none) {
  EXPECT_FALSE(read_schedule("seed 1\n", "f"));
  EXPECT_FALSE(read_schedule("", "f"));
  EXPECT_FALSE(read_schedule("\n# nothing\n", "f"));
}

TEST(Schedule, ends_after_its_faults) {
  EXPECT_FALSE(read_schedule("tutti schedule 1\nworld faults_until=20s until=10s\n", "f"));
}

} // namespace
} // namespace tutti::chaos
