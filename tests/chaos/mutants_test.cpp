// Tests of the tests: every planted bug is found, and a schedule that finds it is kept.
#include "chaos/mutants.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "chaos/hunt.hpp"

namespace tutti::chaos {
namespace {

const std::filesystem::path folder{TUTTI_SOURCE_DIR "/tests/schedules/mutants"};

std::string test_name(const ::testing::TestParamInfo<planted_bug>& info) {
  std::string out{info.param.name};
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

class Mutant : public ::testing::TestWithParam<planted_bug> {};

TEST_P(Mutant, is_found_by_the_swarm) {
  const auto& bug = GetParam();
  const auto found = hunt(bug, 1, bug.within, {});
  EXPECT_TRUE(found.seed) << bug.name << " has survived " << bug.within << " worlds: " << bug.what
                          << ". The swarm or its judge is blind for it";
}

TEST_P(Mutant, breaks_its_saved_schedule_which_holds_without_it) {
  const auto& bug = GetParam();
  std::ifstream file{folder / (std::string{bug.name} + ".schedule")};
  ASSERT_TRUE(file) << "make it: tutti chaos mutants " << bug.name
                    << " --save tests/schedules/mutants";
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const auto what = read_schedule(bytes.str(), std::string{bug.name});
  ASSERT_TRUE(what) << what.error().message();
  const auto with = run_apart(*what, &bug);
  EXPECT_EQ(with.breaks, what->breaks) << with.what;
  const auto without = run_apart(*what, nullptr);
  EXPECT_EQ(without.breaks, "") << without.what;
}

INSTANTIATE_TEST_SUITE_P(All, Mutant, ::testing::ValuesIn(planted_bugs()), test_name);

TEST(Mutants, are_there_in_this_build_and_have_names_of_their_own) {
  EXPECT_GT(planted_bugs().size(), 25u);
  std::set<std::string_view> names;
  for (const auto& x : planted_bugs())
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
  for (const auto& x : exhausted_bugs())
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
  for (const auto& x : hidden_bugs())
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
}

TEST(Mutants, that_need_a_takeover_are_found_by_the_small_model) {
  EXPECT_FALSE(exhausted_bugs().empty());
  for (const auto& bug : exhausted_bugs())
    EXPECT_EQ(exhaust_with(bug).breaks, bug.breaks) << bug.name << " has survived: " << bug.what;
}

TEST(Mutants, have_no_schedule_that_is_not_run) {
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    EXPECT_NE(find_bug(entry.path().stem().string()), nullptr) << entry.path();
}

TEST(RunApart, holds_without_a_bug) {
  const auto found = run_apart(draw_schedule(1, {}), nullptr);
  EXPECT_EQ(found.breaks, "") << found.what;
}

} // namespace
} // namespace tutti::chaos
