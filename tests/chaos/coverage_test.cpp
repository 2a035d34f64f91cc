// Every fault meets every state that it can meet; what it cannot meet is named, and why.
#include "chaos/coverage.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "chaos/action.hpp"
#include "chaos/run.hpp"
#include "chaos/swarm.hpp"

namespace tutti::chaos {
namespace {

/// Worlds in which no kind of fault is off: of one process and of three, half of which evict.
constexpr std::uint64_t worlds_of_each = 120;
/// A cell that they have not hit is aimed at in so many more.
constexpr std::uint64_t aimed_of_each = 300;

void add_world(coverage_matrix& to, std::uint64_t seed, swarm_options how) {
  how.takes_every_kind = true;
  how.aimed_percent = 40;
  for (const auto& [cell, hits] :
       run(draw_schedule(seed, how), {.is_judged = false, .lines = 0}).coverage)
    to[cell] += hits;
}

TEST(Coverage, every_fault_meets_every_state_that_it_can_meet) {
  coverage_matrix hits;
  for (std::uint64_t seed = 1; seed <= worlds_of_each; ++seed)
    for (const std::uint32_t replicas : {1u, 3u})
      for (const bool evicts : {false, true})
        add_world(hits, seed, {.replicas = replicas, .evicts_degraded = evicts});
  const auto rare = empty_cells(hits);
  EXPECT_LT(rare.size(), 100u) << "the swarm has become blind";
  for (const auto& cell : rare)
    for (std::uint64_t n = 1;
         n <= aimed_of_each && !hits.contains({std::string{cell.first}, std::string{cell.second}});
         ++n)
      for (const std::uint32_t replicas : {1u, 3u})
        for (const bool evicts : {false, true})
          add_world(hits, 1000 + n,
                    {.replicas = replicas, .evicts_degraded = evicts, .aims_at = cell});
  for (const auto& [fault, state] : empty_cells(hits))
    ADD_FAILURE() << "no world lets " << fault << " happen in state " << state
                  << ": let the swarm go there, or say in chaos/coverage_cells.cpp why it cannot";
  for (const auto& [fault, state] : wrongly_impossible(hits))
    ADD_FAILURE() << fault << " has met state " << state
                  << ", of which is said that it cannot: " << find_impossible(fault, state)->why;
}

TEST(Coverage, a_cell_without_a_hit_is_empty_unless_it_is_named_as_impossible) {
  coverage_matrix hits;
  for (const auto fault : covered_faults())
    for (const auto& group : covered_states())
      for (const auto state : group.states)
        if (find_impossible(fault, state) == nullptr)
          hits[{std::string{fault}, std::string{state}}] = 1;
  EXPECT_TRUE(empty_cells(hits).empty());
  EXPECT_TRUE(wrongly_impossible(hits).empty());
  hits.erase({"crash", "binding"});
  ASSERT_EQ(empty_cells(hits).size(), 1u);
  EXPECT_EQ(empty_cells(hits).front().first, "crash");
  EXPECT_EQ(empty_cells(hits).front().second, "binding");
}

TEST(Coverage, what_is_called_impossible_is_a_cell_of_the_matrix_and_has_a_reason) {
  std::set<std::string_view> faults{"*"};
  std::set<std::string_view> states{"*"};
  for (const auto fault : covered_faults())
    faults.insert(fault);
  for (const auto& group : covered_states())
    states.insert(group.states.begin(), group.states.end());
  for (const auto& x : impossible_cells()) {
    EXPECT_TRUE(faults.contains(x.fault)) << x.fault;
    EXPECT_TRUE(states.contains(x.state)) << x.state;
    EXPECT_GT(x.why.size(), 20u) << x.fault << " x " << x.state;
  }
}

TEST(Coverage, an_action_that_waits_for_a_state_happens_in_it) {
  using namespace std::chrono_literals;
  for (const char* state : {"planning", "preparing", "looking", "deciding", "committing", "binding",
                            "finishing", "in-doubt", "committed", "consumed", "bind"}) {
    schedule what;
    what.seed = 3; // in which the watch tells of the pods before the end does
    what.fast_path = false;
    what.faults_until = 20s;
    what.until = 30s;
    what.actions = {{0s, "node", "n0", {{"cpu", "4"}, {"rack", "r0"}}},
                    {1s, "crash", "scheduler-0", {{"when", state}, {"down", "1s"}}},
                    {2s, "gang", "g0", {{"members", "2"}, {"min", "2"}, {"cpu", "1"}}}};
    const auto r = run(what, {.lines = 0});
    EXPECT_FALSE(r.broken) << state;
    EXPECT_EQ(r.coverage.count({"crash", state}), 1u) << state;
    EXPECT_EQ(r.coverage.count({"crash", "idle"}), 0u) << state;
  }
}

TEST(Coverage, a_fault_that_waits_for_its_place_counts_when_it_strikes) {
  schedule what;
  what.faults_until = std::chrono::seconds{20};
  what.until = std::chrono::seconds{30};
  using namespace std::chrono_literals;
  what.actions = {{0s, "node", "n0", {{"cpu", "4"}, {"rack", "r0"}}},
                  {1s, "crash_at", "scheduler-0", {{"row", "C7"}, {"pass", "1"}}},
                  {1s, "kill_at", "scheduler-0", {{"row", "C13"}, {"pass", "1"}}},
                  {2s, "gang", "g0", {{"members", "2"}, {"min", "2"}, {"cpu", "1"}}}};
  const auto hits = run(what, {.is_judged = false, .lines = 0}).coverage;
  EXPECT_EQ(hits.count({"crash_at", "idle"}), 0u) << "it was armed then";
  EXPECT_EQ(hits.count({"crash_at", "binding"}), 1u);
  EXPECT_EQ(hits.count({"kill_at", "idle"}), 0u) << "nobody came there";
}

/// Whoever is in a state when something begins that lasts has met it once, and does not enter it.
TEST(Coverage, a_fault_that_lasts_counts_once_whoever_it_finds_in_a_state) {
  using namespace std::chrono_literals;
  for (const char* state : {"preparing", "committing", "binding"}) {
    schedule what;
    what.fast_path = false;
    what.faults_until = 20s;
    what.until = 30s;
    what.actions = {
        {0s, "node", "n0", {{"cpu", "4"}, {"rack", "r0"}}},
        {1s, "slow_disk", "scheduler-0", {{"when", state}, {"for", "5s"}, {"sync", "20ms"}}},
        {2s, "gang", "g0", {{"members", "3"}, {"min", "3"}, {"cpu", "1"}}}};
    const auto hits = run(what, {.is_judged = false, .lines = 0}).coverage;
    ASSERT_EQ(hits.count({"slow_disk", state}), 1u) << state;
    EXPECT_EQ(hits.at({"slow_disk", state}), 1u) << state;
  }
}

TEST(Coverage, rows_are_those_that_can_be_drawn) {
  const auto has = [](const swarm_options& of, std::string_view what) {
    const auto rows = covered_faults(of);
    return std::find(rows.begin(), rows.end(), what) != rows.end();
  };
  EXPECT_EQ(covered_faults({.replicas = 3}), covered_faults());
  for (const char* frames : {"link", "link_cut", "alien"})
    EXPECT_FALSE(has({}, frames)) << frames;
  EXPECT_TRUE(has({.faults = {"crash"}}, "crash"));
  EXPECT_FALSE(has({.faults = {"crash"}}, "pause"));
  EXPECT_TRUE(has({.faults = {"crash"}}, "pod_gone")) << "users are always there";
  for (const auto& [fault, state] : empty_cells({}, covered_faults({.faults = {"crash"}})))
    EXPECT_NE(fault, "pause");
  // What is left out is what no world has.
  for (const swarm_options& of : {swarm_options{}, swarm_options{.faults = {"late", "api_down"}}}) {
    const auto rows = covered_faults(of);
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
      for (const auto& a : draw_schedule(seed, of).actions)
        EXPECT_TRUE(a.what == "node" || a.what == "gang"
                    || std::find(rows.begin(), rows.end(), a.what) != rows.end())
            << a.what << " in seed " << seed;
  }
}

} // namespace
} // namespace tutti::chaos
