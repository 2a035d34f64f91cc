// The help of every verb, the version, and what wrong usage looks like.
#include <gtest/gtest.h>

#include "golden.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

class Help : public testing::TestWithParam<const char*> {};

TEST_P(Help, says_what_the_verb_does_and_what_its_exit_codes_mean) {
  const auto said = run({GetParam(), "--help"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.err, "");
  EXPECT_NE(said.out.find("Exit codes:"), std::string::npos);
  EXPECT_NE(said.out.find("Example"), std::string::npos);
  expect_golden(std::string{"help-"} + GetParam() + ".txt", said.out);
}

INSTANTIATE_TEST_SUITE_P(Of, Help,
                         testing::Values("plan", "local", "get", "describe", "explain", "trace",
                                         "status", "top", "wait"),
                         [](const auto& x) { return std::string{x.param}; });

TEST(Usage, help_lists_all_verbs) {
  const auto said = run({"--help"});
  EXPECT_EQ(said.code(), 0);
  expect_golden("help.txt", said.out);
}

TEST(Usage, version_is_one_line) {
  const auto said = run({"--version"});
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out.rfind("tutti ", 0), 0u) << said.out;
  EXPECT_EQ(said.out.find('\n'), said.out.size() - 1);
}

TEST(Usage, without_a_verb_or_with_an_unknown_one_is_wrong) {
  EXPECT_EQ(run({"--frob"}).code(), 2);
  EXPECT_EQ(run({"schedule"}).code(), 2);
  const auto said = run({"get"});
  EXPECT_EQ(said.code(), 2);
  EXPECT_EQ(said.out, "");
}

TEST(Usage, values_out_of_range_are_wrong) {
  EXPECT_EQ(run({"local", "--shards", "0"}).code(), 2);
  EXPECT_EQ(run({"local", "--kubernetes", "1.20"}).code(), 2);
  EXPECT_EQ(run({"local", "--until", "tomorrow"}).code(), 2);
  EXPECT_EQ(run({"wait", "gang/x", "--timeout", "-1"}).code(), 2);
}

} // namespace
} // namespace tutti::commands
