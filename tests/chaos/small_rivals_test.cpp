// The small world with a pod in the way, and with two gangs that compete: no promise breaks, and
// the rows of the crash table are reached that one gang with room for it cannot reach.
//
// As in small_model_test.cpp the numbers are exact.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/chaos/small_search.hpp"

namespace tutti::chaos::small {
namespace {

/// What a configuration of the world finds: states of each search.
struct expected {
  const char* name;
  world::options of;
  std::uint64_t none;         ///< without a fault, reduced
  std::uint64_t all;          ///< … and not reduced
  std::uint64_t messages = 0; ///< one fault of a message, an answer or a user
  std::uint64_t deaths = 0;   ///< one fault of any kind, some states behind each
};
void PrintTo(const expected& x, std::ostream* out) {
  *out << x.name;
}

exhaust_options search_of(const expected& x, std::uint32_t faults,
                          std::vector<fault_kind> kinds = {}) {
  return {.of = x.of, .faults = faults, .kinds = std::move(kinds)};
}

struct SmallVictim : testing::TestWithParam<expected> {};
INSTANTIATE_TEST_SUITE_P(
    Log, SmallVictim,
    testing::Values(
        expected{"long", {.has_victim = true}, 456, 556, 34683, 43262},
        expected{"fast", {.fast_path = true, .has_victim = true}, 456, 556, 28712, 42286},
        expected{
            "objects", {.log = log_kind::objects, .has_victim = true}, 419, 607, 30897, 91354}),
    [](const auto& x) { return x.param.name; });

TEST_P(SmallVictim, is_evicted_in_every_order_without_a_fault_with_and_without_reduction) {
  expect_every_order(search_of(GetParam(), 0), GetParam().none, GetParam().all);
}

TEST_P(SmallVictim, is_evicted_for_a_decision_only_when_something_is_lost_repeated_or_deleted) {
  const auto r = exhaust(search_of(
      GetParam(), 1,
      {fault_kind::drop, fault_kind::duplicate, fault_kind::answer, fault_kind::removal}));
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam().messages);
}

/// C6 and B3: somebody dies when a victim is gone, and when a removal is answered.
TEST_P(SmallVictim, is_evicted_for_a_decision_only_behind_deaths_as_far_as_the_budget_goes) {
  auto how = search_of(GetParam(), 1);
  how.states_per_fault = 40;
  auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam().deaths);
  for (const auto* row : {"C6", "B3"}) {
    EXPECT_GT(r.passed[row], 0u) << row;
    EXPECT_GT(r.crashed[row], 0u) << row << ": nobody died there";
  }
}

/// Another order of the same steps: that what is looked for comes before the budget ends.
exhaust_options scattered(const world::options& of, std::uint32_t faults,
                          std::vector<fault_kind> kinds, std::uint64_t shuffle) {
  exhaust_options how{.of = of, .faults = faults, .kinds = std::move(kinds)};
  how.shuffle = shuffle;
  return how;
}

/// A victim's deadline passes while the coordinator's question is under way: what it stops then has
/// not begun yet. Without the evictor's care this breaks after 5644 states.
TEST(SmallVictims, are_let_live_by_a_question_that_comes_after_it_was_taken_back) {
  auto how = scattered({.has_victim = true}, 1, {fault_kind::hurry}, 4);
  how.states_per_fault = 1000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, 48540u);
}

/// An eviction is under way when its coordinator dies, and a member is deleted, so that nobody
/// needs the room. Without the coordinator's care this breaks after 4124 states.
TEST(SmallVictims, outlive_a_withdrawal_after_a_death_unless_they_were_gone_before) {
  auto how = scattered({.has_victim = true}, 2, {fault_kind::actor, fault_kind::removal}, 1);
  how.states_per_fault = 60;
  how.states_max = 60'000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, how.states_max);
}

TEST(SmallVictims, outlive_a_withdrawal_by_a_later_owner_unless_they_were_gone_before) {
  auto how = scattered({.log = log_kind::objects, .has_victim = true}, 2,
                       {fault_kind::takeover, fault_kind::removal}, 11);
  how.states_per_fault = 60;
  how.states_max = 80'000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, how.states_max);
}

struct SmallRivals : testing::TestWithParam<expected> {};
INSTANTIATE_TEST_SUITE_P(
    Log, SmallRivals,
    testing::Values(
        expected{"long", {.gangs = 2, .lost_before = 3, .retries_at_once = 0}, 15529, 21372},
        expected{"fast",
                 {.fast_path = true, .gangs = 2, .lost_before = 3, .retries_at_once = 0},
                 15529,
                 21372},
        expected{"objects",
                 {.log = log_kind::objects, .gangs = 2, .lost_before = 3, .retries_at_once = 0},
                 12526,
                 22885}),
    [](const auto& x) { return x.param.name; });

/// Upholds L3: of two gangs that ask shard by shard one wins in every order, and the other one's
/// tries come to rest.
TEST_P(SmallRivals, come_to_rest_with_one_winner_in_every_order) {
  expect_every_order(search_of(GetParam(), 0), GetParam().none, GetParam().all);
}

TEST_P(SmallRivals, never_hold_the_same_room_with_one_fault_as_far_as_the_budget_goes) {
  auto of = GetParam().of;
  of.lost_before = 0;
  auto how = scattered(of, 1, {}, 1);
  how.states_per_fault = 20;
  how.states_max = 60'000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, how.states_max);
}

/// Both ask all shards at once and may abort each other.
TEST(SmallRival, wins_in_every_order_though_they_abort_each_other) {
  const auto r =
      exhaust({.of = {.log = log_kind::objects, .gangs = 2, .retries_at_once = 0}, .faults = 0});
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, 213506u);
}

/// The shards' former life promised room to one gang, the next one to the other; both are decided,
/// and a third life finds both (P11). Nobody is bound before one of them is withdrawn.
TEST(SmallRival, is_not_bound_where_another_decision_collides) {
  auto how = scattered({.log = log_kind::objects, .gangs = 2, .retries_at_once = 0}, 0, {}, 1);
  how.begins_with_collision = true;
  how.states_max = 100'000;
  auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, how.states_max);
  EXPECT_GT(r.passed["P11"], 0u);
}

/// Each row is told by the tests of at least one of the worlds above and in small_model_test.cpp.
TEST(SmallSearch, leaves_no_row_of_the_crash_table_out_of_all_worlds) {
  const std::vector<world::options> worlds{
      {},
      {.log = log_kind::objects},
      {.has_victim = true},
      {.log = log_kind::objects, .has_victim = true},
      {.log = log_kind::objects, .gangs = 2},
  };
  for (const auto& row : all_rows())
    EXPECT_TRUE(std::any_of(worlds.begin(), worlds.end(), [&](const auto& of) {
      return !unreachable_rows(of).contains(row);
    })) << row;
}

} // namespace
} // namespace tutti::chaos::small
