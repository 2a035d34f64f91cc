// Runs of the whole: production actors, an API server and users on virtual time.
#include "sim/workload/simulation.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "sim/workload/generator.hpp"

namespace tutti::sim::workload {
namespace {

using namespace std::chrono_literals;
using api_server::kind_id;

arrival gang(base::duration at, std::uint32_t members, std::int64_t gpus, base::duration runs_for) {
  return {.at = at, .members = members, .each = {gpus, 0}, .runs_for = runs_for};
}

simulation::options small(std::uint32_t nodes) {
  simulation::options out;
  out.shape.nodes = nodes;
  out.shape.levels = {{"rack", 4}};
  out.shards = 2;
  return out;
}

double wait_s(const simulation& run, std::size_t n) {
  const auto& x = run.book().gangs().at(n);
  return std::chrono::duration<double>(*x.bound_at - run.zero() - x.what.at).count();
}

void play(simulation& run) {
  run.begin({});
  while (run.advance()) {
  }
}

TEST(Simulation, a_gang_starts_whole_runs_as_long_as_it_says_and_leaves_nothing) {
  simulation run{small(4), {gang(10s, 3, 8, 300s)}};
  play(run);
  const auto& x = run.book().gangs().at(0);
  ASSERT_EQ(x.state(), gang_state::over);
  EXPECT_LT(wait_s(run, 0), 0.1);
  EXPECT_NEAR(std::chrono::duration<double>(*x.ended_at - *x.bound_at).count(), 300, 0.1);
  EXPECT_EQ(run.book().room().units_used(), 0);
  EXPECT_EQ(run.book().room().empty_nodes(), 4u);
  EXPECT_EQ(run.users().refusals(), 0u) << run.users().first_refusal();
  const auto& objects = run.where().api().plane().objects();
  EXPECT_TRUE(objects.all(kind_id::pods).empty());
  EXPECT_TRUE(objects.all(kind_id::pod_groups).empty());
}

TEST(Simulation, a_gang_waits_until_another_is_over) {
  simulation run{small(4), {gang(0s, 4, 8, 600s), gang(60s, 2, 8, 60s), gang(61s, 1, 1, 60s)}};
  play(run);
  EXPECT_NEAR(wait_s(run, 1), 540, 10);
  EXPECT_EQ(run.book().in(gang_state::over).gangs, 3u);
}

TEST(Simulation, stops_at_its_time_with_what_is_there) {
  auto how = small(4);
  how.until = 30min;
  simulation run{how, {gang(0s, 4, 8, 2h), gang(60s, 2, 8, 60s), gang(1h, 1, 1, 60s)}};
  play(run);
  EXPECT_EQ(run.elapsed(), 30min);
  EXPECT_EQ(run.book().in(gang_state::running).gangs, 1u);
  EXPECT_EQ(run.book().in(gang_state::waiting).members, 2u);
  EXPECT_EQ(run.book().in(gang_state::coming).gangs, 1u);
  EXPECT_EQ(run.book().room().units_used(), 32);
}

TEST(Simulation, gangs_stay_in_one_rack_if_they_must_and_can) {
  auto how = small(8);
  how.together = "rack";
  // One node of each rack is taken: four whole nodes are free, not in one rack.
  simulation run{
      how,
      {gang(0s, 3, 8, 600s), gang(0s, 3, 8, 900s), gang(60s, 2, 8, 60s), gang(1500s, 8, 8, 60s)}};
  play(run);
  EXPECT_GT(wait_s(run, 2), 500) << "one node is free in each rack";
  EXPECT_LT(wait_s(run, 3), 1) << "fits into no rack: it may go anywhere";
}

/// Room that the world sees taken, and room that the scheduler's own view has, after a busy hour.
TEST(Simulation, fragmentation_and_racks_are_counted_from_the_objects) {
  auto how = small(8);
  how.until = 10min;
  simulation run{how, {gang(0s, 1, 3, 1h), gang(1s, 2, 8, 1h)}};
  play(run);
  const auto& room = run.book().room();
  EXPECT_EQ(room.units_used(), 19);
  EXPECT_EQ(room.empty_nodes(), 5u);
  EXPECT_NEAR(room.fragmentation(), 100.0 * 5 / 45, 1e-9);
  std::uint32_t empty = 0;
  std::int64_t free = 0;
  for (const auto& rack : room.racks()) {
    empty += rack.empty_nodes;
    free += rack.units_free;
  }
  EXPECT_EQ(empty, 5u);
  EXPECT_EQ(free, 45);
}

/// A thousand of them come and go, and what is kept does not grow.
TEST(Simulation, a_busy_day_ends_whole) {
  auto how = small(40);
  how.until = 24h;
  auto all = generate_philly({.seed = 3, .until = 24h, .load = 60}, how.shape);
  ASSERT_GT(all.arrivals.size(), 200u);
  simulation run{how, std::move(all.arrivals)};
  play(run);
  std::uint64_t members = 0;
  for (const auto& x : run.book().gangs()) {
    EXPECT_TRUE(x.bound == 0 || x.bound == x.what.members) << "gangs start whole or not at all";
    if (x.state() == gang_state::running)
      members += x.what.members;
  }
  const auto& pods = run.where().api().plane().objects().all(kind_id::pods);
  EXPECT_EQ(std::count_if(pods.begin(), pods.end(),
                          [](const auto& x) { return !x.second->node_name.empty(); }),
            static_cast<std::ptrdiff_t>(members));
  EXPECT_EQ(run.users().refusals(), 0u) << run.users().first_refusal();
}

} // namespace
} // namespace tutti::sim::workload
