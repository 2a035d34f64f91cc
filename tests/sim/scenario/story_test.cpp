// Scenario files that are wrong are refused with their line and what is allowed; right ones run.
#include "sim/scenario/story.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/scenario/report.hpp"
#include "sim/scenario/runner.hpp"

namespace tutti::sim::scenario {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string with_steps(const std::string& steps, const std::string& head = {}) {
  return "scenario: A story\nid: T-01\n" + head + "steps:\n" + steps;
}

std::string error_of(const std::string& text) {
  const auto read = read_story_text(text, "f.yaml");
  return read ? std::string{"no error"} : read.error().message();
}

TEST(ScenarioFile, an_unknown_step_is_refused_with_its_line) {
  EXPECT_THAT(
      error_of(with_steps("- nodes: {n1: {cpu: 4}}\n- setle: {}\n")),
      AllOf(StartsWith("f.yaml:5: "), HasSubstr("\"setle\" is no step"), HasSubstr("settle")));
}

TEST(ScenarioFile, an_unknown_fact_is_refused_with_its_line) {
  EXPECT_THAT(
      error_of(with_steps("- expect: {bond: {A: 1}}\n")),
      AllOf(StartsWith("f.yaml:4: "), HasSubstr("\"bond\" is no fact"), HasSubstr("bound")));
}

TEST(ScenarioFile, an_unknown_target_is_refused_with_its_line) {
  EXPECT_THAT(error_of(with_steps("- patch: {gruop/x/y: {spec: {}}}\n")),
              AllOf(StartsWith("f.yaml:4: "), HasSubstr("\"gruop\" is no kind of object"),
                    HasSubstr("podgroup")));
}

TEST(ScenarioFile, a_duration_that_is_none_is_refused_with_its_line) {
  EXPECT_THAT(
      error_of(with_steps("- advance: soon\n")),
      AllOf(StartsWith("f.yaml:4: "), HasSubstr("\"soon\" is no duration"), HasSubstr("30s")));
}

TEST(ScenarioFile, unknown_fields_are_refused_wherever_they_stand) {
  EXPECT_THAT(error_of(with_steps("- settle: {}\n", "kind: x\n")),
              AllOf(StartsWith("f.yaml:3: "), HasSubstr("\"kind\" is no field of a scenario")));
  EXPECT_THAT(error_of(with_steps("- group: {A: {minimum: 3}}\n")),
              HasSubstr("\"minimum\" is no field of a group; allowed: min"));
  EXPECT_THAT(error_of(with_steps("- pods: {a: {cpus: 3}}\n")),
              HasSubstr("\"cpus\" is no field of a pod"));
  EXPECT_THAT(error_of(with_steps("- hold: {group: A, at: somewhere}\n")),
              HasSubstr("\"somewhere\" is no point to hold at; allowed: planning"));
  EXPECT_THAT(error_of(with_steps("- crash: {process: scheduler-0, at: X9}\n")),
              HasSubstr("\"X9\" is no row of the crash table"));
  EXPECT_THAT(error_of(with_steps("- settle: {}\n", "needs: [magic]\n")),
              HasSubstr("\"magic\" is no need; allowed: preemption"));
}

TEST(ScenarioFile, what_is_wrong_in_a_repeated_step_is_found_before_anything_runs) {
  EXPECT_THAT(error_of(with_steps("- repeat: {times: 3, steps: [{avance: 1s}]}\n")),
              HasSubstr("\"avance\" is no step"));
}

TEST(ScenarioFile, keys_and_ids_are_there_once) {
  EXPECT_THAT(error_of(with_steps("- nodes: {n1: {cpu: 4, cpu: 5}}\n")),
              AllOf(StartsWith("f.yaml:4: "), HasSubstr("\"cpu\" is there twice")));
  const auto one = with_steps("- settle: {}\n");
  EXPECT_THAT(error_of(one + "---\n" + one), HasSubstr("id T-01 is there twice"));
}

story_result run(const std::string& text, const expected_failures& known = {},
                 std::uint64_t seeds = 2) {
  const auto read = read_story_text(text, "f.yaml");
  EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message());
  return run_story(read->front(), {.seeds = seeds, .seed = {}, .plans = {}}, known);
}

constexpr auto two_on_one = R"(- nodes: {n1: {cpu: 4}}
- group: {A: {min: 2}}
- pods: {a0..a1: {group: A, cpu: 2}}
- settle: {}
)";

TEST(ScenarioRun, a_story_that_holds_passes_with_every_seed) {
  const auto got =
      run(with_steps(std::string{two_on_one} + "- expect: {bound: {A: 2, a0: n1}, reserved: 0}\n"));
  EXPECT_EQ(got.how, outcome::passed) << result_text(got);
  EXPECT_EQ(got.seeds, 2u);
}

TEST(ScenarioRun, a_fact_that_does_not_hold_fails_with_its_line_and_what_was_found) {
  const auto got = run(with_steps(std::string{two_on_one} + "- expect: {bound: {A: 1}}\n"));
  ASSERT_EQ(got.how, outcome::failed);
  EXPECT_EQ(got.why->line, 8);
  EXPECT_THAT(got.why->what, HasSubstr("bound: {A: 1}"));
  EXPECT_THAT(got.why->found, HasSubstr("2 bound"));
  EXPECT_FALSE(got.why->last_events.empty());
  EXPECT_THAT(result_text(got), HasSubstr("tutti scenario run f.yaml --id T-01 --seed 1"));
}

TEST(ScenarioRun, always_is_looked_at_while_the_next_steps_run) {
  const auto got = run(with_steps("- nodes: {n1: {cpu: 4}}\n- always: {bound: {a: none}}\n"
                                  "- pods: {a: {cpu: 1}}\n- settle: {}\n"));
  ASSERT_EQ(got.how, outcome::failed);
  EXPECT_THAT(got.why->what, HasSubstr("always bound: {a: none} (line 5)"));
}

TEST(ScenarioRun, the_safety_of_a_gang_needs_no_word_in_the_file) {
  const auto got = run(with_steps("- nodes: {n1: {cpu: 4}}\n- group: {A: {min: 2}}\n"
                                  "- pods: {a0: {group: A, cpu: 1}}\n- bind: {a0: n1}\n"
                                  "- settle: {}\n"));
  ASSERT_EQ(got.how, outcome::failed);
  EXPECT_THAT(got.why->found, HasSubstr("gang default/a has not started and 1 of 2"));
}

TEST(ScenarioRun, what_comes_after_until_goes_on_from_the_moment_at_which_the_facts_hold) {
  // The facts hold when the grace of a minute ends, long after `until` was begun.
  const auto got = run(with_steps("- nodes: {n1: {cpu: 4}}\n"
                                  "- pods: {o: {cpu: 4, node: n1, grace: 60s}}\n"
                                  "- group: {A: {min: 1}}\n- pods: {a: {group: A, cpu: 4}}\n"
                                  "- settle: {}\n- delete: [o]\n- until: {bound: {o: none}}\n"
                                  "- mark: gone\n- settle: {}\n"
                                  "- expect: {bound: {a: n1}, attempts: {A: 1}}\n"),
                       {}, 20);
  EXPECT_EQ(got.how, outcome::passed) << result_text(got);
  EXPECT_EQ(got.seeds, 20u);
}

TEST(ScenarioRun, a_step_that_is_to_be_refused_must_be) {
  const auto accepted =
      run(with_steps("- nodes: {n1: {cpu: 4}}\n  refused: [cpu]\n- settle: {}\n"));
  ASSERT_EQ(accepted.how, outcome::failed);
  EXPECT_EQ(accepted.why->found, "it was accepted");
  const auto refused = run(with_steps("- pods: {a: {cpu: \"-1\"}}\n"
                                      "  refused: [\"resources.requests\"]\n"
                                      "- expect: {count: {pods: 0}}\n"));
  EXPECT_EQ(refused.how, outcome::passed) << result_text(refused);
}

TEST(ScenarioRun, what_is_listed_as_failing_must_fail) {
  const auto good = with_steps("- settle: {}\n");
  const auto bad = with_steps("- expect: {count: {nodes: 7}}\n");
  const expected_failures known{{"T-01", "a reason"}};
  EXPECT_EQ(run(good, known).how, outcome::passed_unexpectedly);
  EXPECT_EQ(run(bad, known).how, outcome::failed_as_expected);
  EXPECT_FALSE(is_good(outcome::passed_unexpectedly));
  EXPECT_TRUE(is_good(outcome::failed_as_expected));
}

TEST(ScenarioRun, what_the_build_lacks_is_counted_and_not_run) {
  const auto got = run(with_steps("- expect: {count: {nodes: 7}}\n", "needs: [claims]\n"));
  EXPECT_EQ(got.how, outcome::not_supported);
  EXPECT_THAT(summary_text({got}), HasSubstr("1 not supported"));
}

// ---------------------------------------------------------------- several replicas

const char* const two_replicas = "world: {replicas: 2, decision_log: api}\n";

TEST(ScenarioFile, several_replicas_need_decisions_that_all_can_read) {
  EXPECT_THAT(error_of(with_steps("- settle: {}\n", "world: {replicas: 2}\n")),
              AllOf(StartsWith("f.yaml:3: "), HasSubstr("decision_log: api")));
  EXPECT_THAT(error_of(with_steps("- settle: {}\n", "world: {replicas: 99, decision_log: api}\n")),
              HasSubstr("at most 9 replicas"));
}

TEST(ScenarioFile, times_of_a_lease_that_make_no_sense_are_refused_with_their_line) {
  EXPECT_THAT(
      error_of(with_steps("- settle: {}\n", "config: {leaderElection: {leaseDuration: 5s}}\n")),
      AllOf(StartsWith("f.yaml:3: "), HasSubstr("renewDeadline")));
  EXPECT_THAT(error_of(with_steps("- settle: {}\n", "config: {leaderElection: {leaseTime: 5s}}\n")),
              HasSubstr("\"leaseTime\" is no field of leaderElection"));
}

TEST(ScenarioRun, a_gang_lives_where_its_home_is) {
  for (const char* home : {"scheduler-0", "scheduler-1"}) {
    const auto steps = std::string{"- nodes: {n1..n4: {cpu: 4}}\n"
                                   "- pods: {a0..a1: {group: A, cpu: 1}}\n"
                                   "- group: {A: {min: 2, home: "}
                       + home
                       + "}}\n- eventually: {within: 5s, bound: {A: 2}}\n"
                         "- expect: {writes: {bindings: 2, by: "
                       + home + "}, reserved: 0}\n";
    const auto got = run(with_steps(steps, two_replicas));
    EXPECT_EQ(got.how, outcome::passed) << home << "\n" << summary_text({got});
  }
}

TEST(ScenarioRun, a_link_that_is_cut_is_a_fault_of_one_direction_or_of_both) {
  const auto steps = std::string{"- nodes: {n1..n4: {cpu: 4}}\n"
                                 "- settle: {}\n"
                                 "- network: {cut: [scheduler-0, scheduler-1], one_way: true}\n"
                                 "- pods: {a0..a3: {group: A, cpu: 3}}\n"
                                 "- group: {A: {min: 4}}\n"
                                 "- advance: 5s\n"
                                 "- expect: {bound: {A: 0}}\n"
                                 "- network: {heal: true}\n"
                                 "- eventually: {within: 60s, bound: {A: 4}}\n"};
  const auto got = run(with_steps(steps, two_replicas));
  EXPECT_EQ(got.how, outcome::passed) << summary_text({got});
}

} // namespace
} // namespace tutti::sim::scenario
