// Every order of events of the small world: no promise breaks, and every row of the crash table
// that it can reach is reached.
//
// The numbers are exact: the search is deterministic. A change of the protocol changes them; what
// must not change is that nothing breaks and that nothing is left out.
#include "tests/chaos/small_search.hpp"

#include <gtest/gtest.h>

namespace tutti::chaos::small {
namespace {

exhaust_options path(bool is_fast, std::uint32_t faults) {
  return {.of = {.fast_path = is_fast}, .faults = faults};
}

/// True: the fast path.
struct SmallModel : testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Path, SmallModel, testing::Bool(),
                         [](const auto& x) { return x.param ? "fast" : "long"; });

TEST_P(SmallModel, holds_in_every_order_without_a_fault_with_and_without_reduction) {
  expect_every_order(path(GetParam(), 0), 372, 545);
}

TEST_P(SmallModel, holds_in_every_order_with_one_fault_that_no_process_dies_of) {
  auto how = path(GetParam(), 1);
  how.kinds = {fault_kind::drop,       fault_kind::duplicate, fault_kind::answer,
               fault_kind::node_actor, fault_kind::hurry,     fault_kind::removal};
  const auto r = exhaust(how);
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam() ? 332348u : 567384u);
}

/// What follows a restart is millions of states: here the first of them behind every possible
/// crash; `tutti chaos exhaust --faults 1 --budget 600` takes all.
TEST_P(SmallModel, holds_behind_every_crash_as_far_as_the_budget_goes) {
  auto how = path(GetParam(), 1);
  how.kinds = {fault_kind::crash, fault_kind::snapshot, fault_kind::actor};
  how.states_per_fault = 200;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam() ? 36640u : 40063u);
}

TEST_P(SmallModel, holds_with_two_faults_of_every_pair_of_kinds_as_far_as_the_budget_goes) {
  auto how = path(GetParam(), 2);
  how.states_max = 2000;
  how.states_per_fault = 20;
  const auto r = exhaust_pairs(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam() ? 85259u : 86086u);
}

/// Every row is reached, or there is a reason why not.
void expect_rows(exhaust_result& r, const world::options& of) {
  const auto excuses = unreachable_rows(of);
  for (const auto& row : all_rows()) {
    const auto hits = r.passed[row] + r.crashed[row];
    const auto excuse = excuses.find(row);
    if (excuse == excuses.end())
      EXPECT_GT(hits, 0u) << row << " was not reached";
    else
      EXPECT_EQ(hits, 0u) << row << " was reached, though " << excuse->second;
  }
}

/// C14 needs a coordinator that dies and a member that is deleted; all other rows need one fault or
/// none.
TEST(SmallSearch, reaches_every_row_of_the_crash_table_but_those_with_a_reason) {
  auto one = path(false, 1);
  one.states_per_fault = 200;
  auto r = exhaust(one);
  auto two = path(false, 2);
  two.kinds = {fault_kind::actor, fault_kind::removal};
  two.states_per_fault = 400;
  two.states_max = 600'000;
  add(r, exhaust(two));
  EXPECT_FALSE(r.broken) << told(r);
  expect_rows(r, one.of);
}

exhaust_options beside_others(std::uint32_t faults, std::vector<fault_kind> kinds = {}) {
  return {.of = {.log = log_kind::objects}, .faults = faults, .kinds = std::move(kinds)};
}

TEST(SmallObjects, hold_in_every_order_without_a_fault_with_and_without_reduction) {
  expect_every_order(beside_others(0), 408, 596);
}

TEST(SmallObjects, hold_in_every_order_with_one_fault_that_no_process_dies_of) {
  const auto r =
      exhaust(beside_others(1, {fault_kind::drop, fault_kind::duplicate, fault_kind::answer,
                                fault_kind::node_actor, fault_kind::hurry, fault_kind::removal}));
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, 179738u);
}

TEST(SmallObjects, hold_in_every_order_when_a_shard_is_taken_over) {
  const auto r = exhaust(beside_others(1, {fault_kind::shard_takeover}));
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, 255190u);
}

/// Millions of states; `tutti chaos exhaust --log objects --kinds takeover` goes on.
TEST(SmallObjects, hold_when_the_partition_or_everything_is_taken_over_as_far_as_the_budget_goes) {
  auto how = beside_others(1, {fault_kind::takeover});
  how.states_per_fault = 300;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, 153269u);
}

TEST(SmallObjects, hold_behind_every_death_as_far_as_the_budget_goes) {
  auto how = beside_others(1, {fault_kind::crash, fault_kind::actor});
  how.states_per_fault = 200;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, 58813u);
}

TEST(SmallObjects, hold_with_two_faults_of_every_pair_of_kinds_as_far_as_the_budget_goes) {
  auto how = beside_others(2);
  how.states_max = 2000;
  how.states_per_fault = 20;
  const auto r = exhaust_pairs(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, 108618u);
}

/// Of a member that is found bound, and of a CANCEL that comes too late, nothing is seen without a
/// member that is deleted besides.
TEST(SmallObjects, reach_every_row_of_the_crash_table_but_those_with_a_reason) {
  auto one = beside_others(1);
  one.states_per_fault = 100;
  auto r = exhaust(one);
  auto old = beside_others(1, {fault_kind::takeover});
  old.is_old_owner_slow = true;
  old.states_per_fault = 500;
  add(r, exhaust(old));
  auto two = beside_others(2, {fault_kind::takeover, fault_kind::removal});
  two.is_old_owner_slow = true;
  two.states_per_fault = 300;
  two.states_max = 400'000;
  add(r, exhaust(two));
  EXPECT_FALSE(r.broken) << told(r);
  expect_rows(r, one.of);
}

TEST(SmallSearch, takes_the_same_steps_every_time) {
  const auto one = exhaust(path(true, 0));
  const auto other = exhaust(path(true, 0));
  EXPECT_EQ(one.states, other.states);
  EXPECT_EQ(one.steps, other.steps);
}

/// A test of the judge: a world in which a promise is broken is found out, and the path is told.
TEST(SmallSearch, finds_a_disk_that_forgets_what_was_synced) {
  auto how = path(false, 1);
  how.of.has_lying_disk = true;
  how.kinds = {fault_kind::crash};
  const auto r = exhaust(how);
  ASSERT_TRUE(r.broken);
  EXPECT_EQ(r.broken->id, "S2");
  ASSERT_FALSE(r.path.empty());
  EXPECT_TRUE(r.path.back().starts_with("CRASH")) << r.path.back();
}

} // namespace
} // namespace tutti::chaos::small
