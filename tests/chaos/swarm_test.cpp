// Whole runs: drawn ones, saved ones, and that a run is a function of its schedule.
#include "chaos/swarm.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "chaos/rest_watch.hpp"
#include "chaos/run.hpp"

namespace tutti::chaos {
namespace {

/// Seeds of every change; more are run by `tutti chaos run` (docs/operate/chaos.md).
constexpr std::uint64_t seeds = 300;
constexpr std::uint64_t parts = 4;

schedule without_faults(schedule x) {
  std::erase_if(x.actions, [](const auto& a) { return is_fault(*find_kind(a.what)); });
  return x;
}

class Swarm : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Swarm, breaks_no_promise) {
  for (std::uint64_t seed = GetParam() + 1; seed <= seeds; seed += parts) {
    const auto r = run(draw_schedule(seed, {}), {.lines = 0});
    EXPECT_FALSE(r.broken) << to_text(*r.broken) << "\n  tutti chaos replay " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Swarm, ::testing::Range<std::uint64_t>(0, parts));

TEST(Swarm, of_three_replicas_breaks_no_promise) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const auto r = run(draw_schedule(seed, {.replicas = 3}), {.lines = 0});
    EXPECT_FALSE(r.broken) << to_text(*r.broken) << "\n  tutti chaos replay " << seed
                           << " --replicas 3";
  }
}

TEST(Run, takes_the_same_steps_every_time) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto what = draw_schedule(seed, {});
    EXPECT_EQ(run(what, {.lines = 0}).trace_hash, run(what, {.lines = 0}).trace_hash) << seed;
  }
}

TEST(Run, takes_the_same_steps_whether_it_is_judged_or_not) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto what = draw_schedule(seed, {});
    EXPECT_EQ(run(what, {.lines = 0}).trace_hash,
              run(what, {.is_judged = false, .lines = 0}).trace_hash)
        << seed;
  }
}

TEST(Run, one_fault_less_leaves_the_others_where_they_were) {
  swarm_options fewer;
  for (const auto& k : action_kinds())
    if (k.what != "crash")
      fewer.faults.insert(std::string{k.what});
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    auto all = draw_schedule(seed, {});
    std::erase_if(all.actions, [](const auto& a) { return a.what == "crash"; });
    EXPECT_EQ(all, draw_schedule(seed, fewer)) << seed;
  }
}

TEST(Swarm, draws_answers_that_come_late_and_those_that_say_when_to_ask_again) {
  std::size_t late = 0;
  std::size_t say_when = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    for (const auto& a : draw_schedule(seed, {}).actions)
      if (a.what == "api") {
        late += a.with.contains("delay");
        say_when += a.with.contains("retry");
        EXPECT_TRUE(!a.with.contains("retry") || text(a, "becomes") == "429") << seed;
      }
  EXPECT_GT(late, 10u);
  EXPECT_GT(say_when, 5u);
}

TEST(Run, looks_at_every_promise) {
  std::map<std::string, std::uint64_t, std::less<>> looks;
  std::uint64_t cancels = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto r = run(draw_schedule(seed, {}), {.lines = 0});
    for (const auto& [id, n] : r.looks)
      looks[id] += n;
    if (const auto pos = r.actions.find("cancel"); pos != r.actions.end())
      cancels += pos->second;
  }
  EXPECT_GT(cancels, 10u) << "an operator's word is one of the things that happen";
  for (const auto& [id, n] : run(without_faults(draw_schedule(1, {})), {.lines = 0}).looks)
    looks[id] += n;
  // Shards hardly ever refuse one gang because of another: the topology marks room before.
  for (std::uint64_t seed = 61; looks["L3"] == 0 && seed <= 1000; ++seed)
    for (const auto& [id, n] : run(draw_schedule(seed, {}), {.lines = 0}).looks)
      looks[id] += n;
  // E2 is a process that has ended (chaos/hunt.cpp), E3 is watched by `run` itself.
  const std::set<std::string_view> seen_by_others{"E2", "E3"};
  for (const auto& promise : invariants())
    if (!seen_by_others.contains(promise.id)) {
      EXPECT_GT(looks[std::string{promise.id}], 0u) << promise.id << " " << promise.sentence;
    }
}

TEST(RestWatch, E3_speaks_of_steps_without_end_at_one_instant_and_of_nothing_else) {
  using namespace std::chrono_literals;
  rest_watch watch;
  const base::time_point now{5s};
  std::uint64_t steps = 7;
  EXPECT_FALSE(watch.goes_in_a_circle(now, steps));
  EXPECT_FALSE(watch.goes_in_a_circle(now, steps + rest_watch::steps_at_once_most));
  EXPECT_TRUE(watch.goes_in_a_circle(now, steps + rest_watch::steps_at_once_most + 1));
  EXPECT_EQ(watch.broken().id, "E3");
  EXPECT_EQ(watch.broken().at, now);
  for (int i = 1; i <= 5; ++i) // many steps, and time passes
    EXPECT_FALSE(watch.goes_in_a_circle(now + i * 1ns, steps += rest_watch::steps_at_once_most));
}

/// Upholds E1: users and the cluster may do what they like, and no role calls that an error.
TEST(Swarm, in_which_nothing_fails_notes_no_error) {
  for (const std::uint32_t replicas : {1u, 3u})
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      const auto r = run(without_faults(draw_schedule(seed, {.replicas = replicas})), {.lines = 0});
      EXPECT_FALSE(r.broken) << to_text(*r.broken) << " in seed " << seed << " of " << replicas;
      EXPECT_GT(r.looks.at("E1"), 0u);
    }
}

TEST(Run, F12_a_process_with_a_damaged_record_does_not_begin_and_goes_on_without_its_disk) {
  for (const char* nth : {"0", "3", "11", "40"}) {
    auto what = without_faults(draw_schedule(7, {}));
    what.log_is_objects = false;
    const action damage{
        std::chrono::seconds{15}, "corrupt", "scheduler-0", {{"nth", nth}, {"down", "1s"}}};
    what.actions.push_back(damage);
    const auto r = run(what, {.lines = 0});
    EXPECT_FALSE(r.broken) << to_text(*r.broken);
    EXPECT_EQ(r.actions.at("corrupt"), 1u);
  }
}

TEST(Run, F26_frames_of_a_later_version_change_nothing) {
  auto what = without_faults(draw_schedule(7, {.replicas = 3}));
  const auto before = run(what, {.lines = 0});
  what.actions.push_back({std::chrono::seconds{15}, "alien", "scheduler-1", {}});
  const auto after = run(what, {.lines = 0});
  EXPECT_FALSE(after.broken);
  EXPECT_EQ(after.actions.at("alien"), 1u);
  EXPECT_EQ(after.trace_hash, before.trace_hash);
}

/// Every schedule that once broke something holds for ever.
TEST(Saved, schedules_break_nothing_any_more) {
  const std::filesystem::path folder{TUTTI_SOURCE_DIR "/tests/schedules"};
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    if (entry.path().extension() != ".schedule")
      continue;
    ++found;
    std::ifstream file{entry.path()};
    std::ostringstream bytes;
    bytes << file.rdbuf();
    const auto what = read_schedule(bytes.str(), entry.path().filename().string());
    ASSERT_TRUE(what) << what.error().message();
    const auto r = run(*what, {});
    EXPECT_FALSE(r.broken) << entry.path().filename() << ": " << to_text(*r.broken);
  }
  EXPECT_GT(found, 0u);
}

} // namespace
} // namespace tutti::chaos
