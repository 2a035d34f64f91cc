// `tutti chaos`: what each verb prints and ends with, and that a seed is a run wherever the program
// lies in memory.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <gtest/gtest.h>

#include "tutti.hpp"

namespace tutti::commands {
namespace {

constexpr const char* bug = "release-without-touch";

arguments chaos(arguments more) {
  more.insert(more.begin(), "chaos");
  return more;
}

std::string schedule_of(const std::string& mutant) {
  return std::string{TUTTI_SOURCE_DIR} + "/tests/schedules/mutants/" + mutant + ".schedule";
}

std::string content(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool matches(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex{pattern});
}

/// Only some builds can show a failure without a real one.
bool has_planted_bugs() {
  static const bool out =
      run(chaos({"replay", "1", "--mutant", bug})).err.find("no planted bugs") == std::string::npos;
  return out;
}

TEST(Chaos, run_ends_with_0_if_nothing_broke) {
  const auto said = run(chaos({"run", "--seeds", "3", "--first-seed", "20", "-q"}));
  EXPECT_EQ(said.code(), 0) << said.out;
  EXPECT_EQ(said.err, "");
  EXPECT_TRUE(matches(said.out, "^3 seeds from 20, [0-9]+ deliveries, .* s: nothing broke\n$"))
      << said.out;
}

TEST(Chaos, run_tells_the_first_failure_of_each_kind_whole) {
  if (!has_planted_bugs())
    GTEST_SKIP() << "this build has no planted bugs";
  const auto said = run(chaos({"run", "--seeds", "2", "-q", "--mutant", "bind-before-decision"}));
  EXPECT_EQ(said.code(), 1) << said.out << said.err;
  EXPECT_TRUE(matches(said.out, "\nreplay:  tutti chaos replay [12] --mutant bind-before-decision\n"
                                "shrink:  tutti chaos shrink [12] --mutant bind-before-decision\n"))
      << said.out;
  EXPECT_TRUE(matches(said.out, "\n[A-Z][0-9]+[ab]?: [12] of 2 seeds: [12]")) << said.out;
  EXPECT_NE(said.out.find("promises were broken\n"), std::string::npos) << said.out;
}

TEST(Chaos, a_failure_names_promise_and_entities_forty_events_and_two_commands) {
  if (!has_planted_bugs())
    GTEST_SKIP() << "this build has no planted bugs";
  const auto file = schedule_of(bug);
  const auto said = run(chaos({"replay", file, "--mutant", bug}));
  EXPECT_EQ(said.code(), 1) << said.err;
  EXPECT_EQ(said.out.rfind("R7 at ", 0), 0u) << said.out;
  const auto first = said.out.substr(0, said.out.find('\n'));
  EXPECT_NE(first.find("s: Room of a decided member is given back only once"), std::string::npos);
  EXPECT_NE(first.find("pod default/g4-0 "), std::string::npos) << first;
  EXPECT_TRUE(matches(said.out, "\nthe last 40 events of trace [0-9a-f]{16}:\n")) << said.out;
  const std::regex event{"\n  [0-9]+\\.[0-9]{6}s "};
  EXPECT_EQ(std::distance(std::sregex_iterator{said.out.begin(), said.out.end(), event}, {}), 40);
  const auto with = file + " --mutant " + bug;
  EXPECT_NE(said.out.find("\nreplay:  tutti chaos replay " + with + "\nshrink:  tutti chaos shrink "
                          + with + "\n"),
            std::string::npos)
      << said.out;
}

TEST(Chaos, replay_of_a_schedule_that_holds_ends_with_0_and_the_hash_of_its_trace) {
  const auto said = run(chaos({"replay", schedule_of(bug)}));
  EXPECT_EQ(said.code(), 0) << said.out;
  EXPECT_TRUE(matches(said.out, "^nothing broke in [0-9]+us of virtual time, [0-9]+ deliveries, "
                                "trace [0-9a-f]{16}\n$"))
      << said.out;
  const auto all = run(chaos({"replay", schedule_of(bug), "--long"}));
  EXPECT_EQ(all.code(), 0);
  EXPECT_NE(all.out.find("*** node_gone n5\n"), std::string::npos);
  EXPECT_TRUE(all.out.ends_with(said.out)) << "the same run, with its events before";
}

TEST(Chaos, shrink_leaves_out_what_a_failure_does_not_need) {
  if (!has_planted_bugs())
    GTEST_SKIP() << "this build has no planted bugs";
  temp_dir home;
  const auto large = home.file("large.schedule", content(schedule_of(bug))
                                                     + "at 8s watch_cut nodes\nat 8500ms clock "
                                                       "scheduler-0 by=3h\n");
  const auto small = home.sub("small.schedule");
  const auto said = run(chaos({"shrink", large, "--save", small, "--mutant", bug}));
  EXPECT_EQ(said.code(), 1) << said.err;
  EXPECT_TRUE(matches(said.out, "^# [0-9]+ of 6 actions are left after [0-9]+ runs\n")) << said.out;
  const auto saved = content(small);
  EXPECT_NE(saved.find("breaks R7  # Room of a decided member"), std::string::npos) << saved;
  EXPECT_EQ(saved.find("watch_cut"), std::string::npos) << saved;
  EXPECT_EQ(saved.find("clock"), std::string::npos) << saved;
  EXPECT_EQ(run(chaos({"replay", small, "--mutant", bug})).code(), 1);
  const auto nowhere =
      run(chaos({"shrink", large, "--save", home.sub("none/x.schedule"), "--mutant", bug}));
  EXPECT_EQ(nowhere.code(), 3);
  EXPECT_NE(nowhere.err.find("hint: choose another place with --save"), std::string::npos);
}

TEST(Chaos, shrink_of_what_holds_says_so) {
  const auto said = run(chaos({"shrink", schedule_of(bug)}));
  EXPECT_EQ(said.code(), 0);
  EXPECT_EQ(said.out, "nothing broke: there is nothing to shrink\n");
}

TEST(Chaos, diff_trace_shows_the_first_event_that_differs) {
  temp_dir home;
  auto text = content(schedule_of(bug));
  const auto same = run(chaos({"diff-trace", schedule_of(bug), home.file("a.schedule", text)}));
  EXPECT_EQ(same.code(), 0);
  EXPECT_TRUE(matches(same.out, "^[0-9]+ events, the same in both\n$")) << same.out;
  const std::string cut = "at 7553219us node_gone";
  text.replace(text.find(cut), cut.size(), "at 7553220us node_gone");
  const auto other = run(chaos({"diff-trace", schedule_of(bug), home.file("b.schedule", text)}));
  EXPECT_EQ(other.code(), 1);
  EXPECT_TRUE(matches(other.out, "^event [0-9]+ is the first that differs:\n"
                                 "< 7\\.553219s \\*\\*\\* node_gone n5\n> "))
      << other.out;
}

TEST(Chaos, coverage_counts_faults_by_the_state_of_the_gang_that_they_met) {
  const auto said = run(chaos({"coverage", "--seeds", "4", "-q"}));
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_NE(said.out.substr(0, said.out.find('\n')).find(" idle"), std::string::npos) << said.out;
  EXPECT_TRUE(matches(said.out, "\ncrash  +[0-9]+ ")) << said.out;
  EXPECT_TRUE(matches(said.out, "\nparticipant +in-doubt ")) << said.out;
  EXPECT_TRUE(matches(said.out, "\n[0-9]+ cells could have been hit and were not: ")) << said.out;
}

TEST(Chaos, list_names_every_promise_and_every_action_with_its_fault) {
  const auto said = run(chaos({"list"}));
  EXPECT_EQ(said.code(), 0);
  for (const char* id : {"S1a", "S1b", "S2", "S14", "R7", "P1", "L1", "L6", "E2"})
    EXPECT_NE(said.out.find(std::string{"\n  "} + id + " "), std::string::npos) << id;
  for (int n = 1; n <= 27; ++n)
    EXPECT_TRUE(matches(said.out, ("[ (]F" + std::to_string(n) + "[ )\n]").c_str())) << "F" << n;
  EXPECT_TRUE(matches(said.out, "\n  pause +PROCESS +F8 F25 ")) << said.out;
}

TEST(Chaos, wrong_usage_is_exit_code_2) {
  for (const arguments& what : {arguments{},
                                {"replay"},
                                {"diff-trace", "1"},
                                {"run", "--seeds", "0"},
                                {"explode"},
                                {"run", "--replicas", "0"},
                                {"run", "--faults", "earthquake"},
                                {"replay", "1", "--mutant", "no-such-bug"}}) {
    const auto said = run(chaos(what));
    EXPECT_EQ(said.code(), 2) << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err, "");
  }
}

TEST(Chaos, a_file_that_is_wrong_is_exit_code_3_and_says_where) {
  temp_dir home;
  const auto bad =
      home.file("bad.schedule", "tutti schedule 1\nseed 1\nat 1s explode scheduler-0\n");
  const auto newer = home.file("newer.schedule", "tutti schedule 2\n");
  for (const char* verb : {"replay", "shrink"}) {
    const auto said = run(chaos({verb, bad}));
    EXPECT_EQ(said.code(), 3);
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(said.err.rfind("error: " + bad + ":3: \"explode\" is no action\nhint: ", 0), 0u)
        << said.err;
    EXPECT_EQ(run(chaos({verb, home.sub("none")})).code(), 3);
  }
  EXPECT_NE(
      run(chaos({"replay", newer})).err.find("written in format 2; this program reads format 1"),
      std::string::npos);
  EXPECT_EQ(run(chaos({"diff-trace", "1", bad})).code(), 3);
}

/// What is drawn from addresses would differ: of hashes by pointer, of what is sorted by it.
TEST(Chaos, a_seed_takes_the_same_steps_wherever_the_program_lies_in_memory) {
  if (content("/proc/sys/kernel/randomize_va_space") == "0\n")
    GTEST_SKIP() << "this machine puts every program at the same addresses";
  if (run_in_shell("setarch -R true").code() != 0)
    GTEST_SKIP() << "setarch -R is missing or refused here";
  for (const std::string what :
       {"1", "2", "3", "4", "5", "6", "1 --replicas 3", "2 --replicas 3"}) {
    const auto fixed = run_in_shell("exec setarch -R \"$TUTTI\" chaos replay " + what);
    EXPECT_EQ(fixed.code(), 0) << fixed.out << fixed.err;
    EXPECT_TRUE(matches(fixed.out, ", trace [0-9a-f]{16}\n$")) << fixed.out;
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(run_in_shell("exec \"$TUTTI\" chaos replay " + what).out, fixed.out) << what;
  }
}

} // namespace
} // namespace tutti::commands
