// Names in scenario files: ranges, dealing, fragments.
#include "sim/scenario/names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/fragment.hpp"

namespace tutti::sim::scenario {
namespace {

using testing::ElementsAre;

tree text(const std::string& x) {
  tree out;
  out.is = tree::kind::text;
  out.line = 1;
  out.text = x;
  return out;
}

std::vector<std::string> expanded(const std::string& x) {
  return expand(x, text(x));
}

TEST(ScenarioNames, a_range_stands_for_all_names_in_it) {
  EXPECT_THAT(expanded("a0..a3"), ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_THAT(expanded("a9..a11"), ElementsAre("a9", "a10", "a11"));
  EXPECT_THAT(expanded("n08..n10"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(expanded("b/x1..x2"), ElementsAre("b/x1", "b/x2"));
  EXPECT_THAT(expanded("b/x1..b/x2"), ElementsAre("b/x1", "b/x2"));
  EXPECT_THAT(expanded("lonely"), ElementsAre("lonely"));
}

TEST(ScenarioNames, a_range_that_is_none_is_refused) {
  for (const auto* wrong : {"a3..a0", "a..b", "a0..b3", "..", "a0..", "a0..a9999999"})
    EXPECT_THROW(expanded(wrong), bad_story) << wrong;
}

TEST(ScenarioNames, values_are_dealt_in_runs_as_equal_as_possible) {
  std::vector<std::string> racks;
  for (std::size_t i = 0; i < 10; ++i)
    racks.push_back(with_dealt(text("r1..r5"), i, 10).text);
  EXPECT_THAT(racks, ElementsAre("r1", "r1", "r2", "r2", "r3", "r3", "r4", "r4", "r5", "r5"));
  EXPECT_EQ(with_dealt(text("r1..r2"), 0, 3).text, "r1");
  EXPECT_EQ(with_dealt(text("r1..r2"), 2, 3).text, "r2");
  EXPECT_THROW(with_dealt(text("r1..r5"), 0, 3), bad_story);
}

TEST(ScenarioNames, capitals_reach_the_api_as_small_letters) {
  EXPECT_EQ(split_name("A").key(), "default/a");
  EXPECT_EQ(split_name("b/Train").key(), "b/train");
  EXPECT_NE(split_name("A"), split_name("a"));
}

TEST(ScenarioFragment, letters_are_alike_and_numbers_are_whole) {
  const fragment four{{"4"}};
  EXPECT_TRUE(four.is_in("only 4 of 10"));
  EXPECT_FALSE(four.is_in("only 14 of 40"));
  EXPECT_TRUE((fragment{{"CPU"}}.is_in("Insufficient cpu")));
  EXPECT_TRUE((fragment{{"gone", "2 of 4"}}.is_in("placed 2 of 4 members")));
  EXPECT_FALSE((fragment{{"2 of 4"}}.is_in("placed 12 of 4 members")));
}

TEST(ScenarioText, durations_are_read_and_others_refused) {
  using namespace std::chrono_literals;
  EXPECT_EQ(duration_of(text("200ms")), base::duration{200ms});
  EXPECT_EQ(duration_of(text("1m30s")), base::duration{90s});
  EXPECT_EQ(duration_of(text("2h")), base::duration{2h});
  for (const auto* wrong : {"", "30", "s", "1x", "-3s", "1.5s"})
    EXPECT_THROW(duration_of(text(wrong)), bad_story) << wrong;
}

} // namespace
} // namespace tutti::sim::scenario
