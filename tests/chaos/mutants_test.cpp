// Tests of the tests: every planted bug is found, and a schedule that finds it is kept.
#include "chaos/mutants.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "base/mutant.hpp"
#include "chaos/hunt.hpp"

namespace tutti::chaos {

void PrintTo(const planted_bug& x, std::ostream* out) {
  *out << x.name;
}
void PrintTo(const exhausted_bug& x, std::ostream* out) {
  *out << x.name;
}
void PrintTo(const role_bug& x, std::ostream* out) {
  *out << x.name;
}

namespace {

const std::filesystem::path folder{TUTTI_SOURCE_DIR "/tests/schedules/mutants"};

/// Of a bug of any list.
constexpr auto test_name = [](const auto& info) {
  std::string out{info.param.name};
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
};

/// Those that worlds come upon by themselves; of the others the saved schedule is run.
std::vector<planted_bug> bugs_of_the_swarm() {
  auto out = planted_bugs();
  std::erase_if(out, [](const auto& bug) { return bug.within == 0; });
  return out;
}

class Mutant : public ::testing::TestWithParam<planted_bug> {};
class MutantOfTheSwarm : public ::testing::TestWithParam<planted_bug> {};

TEST_P(MutantOfTheSwarm, is_found) {
  const auto& bug = GetParam();
  const auto found = hunt(bug, 1, bug.within);
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
INSTANTIATE_TEST_SUITE_P(All, MutantOfTheSwarm, ::testing::ValuesIn(bugs_of_the_swarm()),
                         test_name);

TEST(Mutants, are_there_in_this_build_and_have_names_of_their_own) {
  EXPECT_GT(planted_bugs().size(), 25u);
  std::set<std::string_view> names;
  for (const auto& x : planted_bugs())
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
  for (const auto& x : role_bugs())
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
}

TEST(Mutants, are_each_looked_for) {
  std::set<base::mutant> named;
  for (const auto& x : planted_bugs())
    named.insert(x.id);
  for (const auto& x : exhausted_bugs())
    named.insert(x.id);
  for (const auto& x : role_bugs())
    named.insert(x.id);
  for (int n = 1; n < static_cast<int>(base::mutant::end); ++n)
    EXPECT_TRUE(named.contains(static_cast<base::mutant>(n)))
        << "nothing looks for bug " << n << " of base/mutant.hpp";
}

/// That nothing breaks there without them is tested in small_model_test.cpp and
/// small_rivals_test.cpp.
class MutantOfTheSmallModel : public ::testing::TestWithParam<exhausted_bug> {};

TEST_P(MutantOfTheSmallModel, is_found) {
  const auto& bug = GetParam();
  const auto found = exhaust_with(bug);
  EXPECT_EQ(found.breaks, bug.breaks) << found.what << ": " << bug.what;
}

INSTANTIATE_TEST_SUITE_P(All, MutantOfTheSmallModel, ::testing::ValuesIn(exhausted_bugs()),
                         test_name);

// ---------------------------------------------------------------- tests of roles

/// What a test program has printed, and its end.
struct role_test {
  std::string said;
  int status = -1;
};

/// `bug`: its number, 0 for none.
role_test run_role_test(std::string_view name, std::string_view bug) {
  const auto dot = name.find('.');
  const std::string folder_of{name.substr(0, dot)};
  const std::map<std::string, std::string> programs{
      {"protocol", TUTTI_PROTOCOL_TESTS}, {"placement", TUTTI_PLACEMENT_TESTS},
      {"shards", TUTTI_SHARDS_TESTS},     {"bridge", TUTTI_BRIDGE_TESTS},
      {"queue", TUTTI_QUEUE_TESTS},       {"decisions", TUTTI_DECISIONS_TESTS}};
  const auto command = "TUTTI_MUTANT=" + std::string{bug} + " '" + programs.at(folder_of)
                       + "' --gtest_filter=" + std::string{name.substr(dot + 1)} + " 2>&1";
  role_test out;
  auto* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr)
    return out;
  char buffer[4096];
  for (std::size_t n = 0; (n = ::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.said.append(buffer, n);
  out.status = ::pclose(pipe);
  return out;
}

class RoleMutant : public ::testing::TestWithParam<role_bug> {};

TEST_P(RoleMutant, fails_a_test_of_its_role_which_passes_without_it) {
  const auto& bug = GetParam();
  const auto without = run_role_test(bug.test, "0");
  ASSERT_EQ(without.status, 0) << without.said;
  ASSERT_NE(without.said.find("[  PASSED  ] 1 test."), std::string::npos) << without.said;
  const auto with = run_role_test(bug.test, std::to_string(static_cast<int>(bug.id)));
  ASSERT_NE(with.said.find("[ RUN      ]"), std::string::npos) << "it has not run: " << with.said;
  EXPECT_NE(with.status, 0) << bug.name << " has survived: " << bug.what;
}

TEST(RoleMutants, that_are_no_number_of_the_list_end_a_test_program) {
  const auto end = std::to_string(static_cast<int>(base::mutant::end));
  for (const std::string& number : {std::string{"x"}, std::string{"7x"}, std::string{"-1"}, end}) {
    const auto r = run_role_test(role_bugs().front().test, number);
    EXPECT_NE(r.status, 0) << number;
    EXPECT_NE(r.said.find("TUTTI_MUTANT"), std::string::npos) << r.said;
    EXPECT_EQ(r.said.find("[ RUN      ]"), std::string::npos) << number;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RoleMutant, ::testing::ValuesIn(role_bugs()), test_name);

TEST(Mutants, have_no_schedule_that_is_not_run) {
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    EXPECT_NE(find_bug(entry.path().stem().string()), nullptr) << entry.path();
}

/// A process that is still down at the end, whoever is asked.
TEST(Hunt, does_not_find_a_bug_in_a_world_that_breaks_without_it) {
  using namespace std::chrono_literals;
  schedule what;
  what.faults_until = 1h; // nothing is healed before the end
  what.until = 20s;
  what.actions = {{1s, "crash", "scheduler-0", {{"down", "1h"}}}};
  const auto& bug = planted_bugs().front();
  ASSERT_EQ(run_apart(what, &bug).breaks, "L5");
  EXPECT_EQ(shown_by(what, bug).breaks, "");
}

TEST(RunApart, holds_without_a_bug) {
  const auto found = run_apart(draw_schedule(1, {}), nullptr);
  EXPECT_EQ(found.breaks, "") << found.what;
}

} // namespace
} // namespace tutti::chaos
