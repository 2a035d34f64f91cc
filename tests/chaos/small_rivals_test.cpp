// The small world with a pod in the way, and with two gangs that compete: no promise breaks, and
// the rows of the crash table are reached that one gang with room for it cannot reach.
//
// As in small_model_test.cpp the numbers are exact.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "chaos/small/exhaust.hpp"

namespace tutti::chaos::small {
namespace {

std::string told(const exhaust_result& r) {
  if (!r.broken)
    return "nothing broke";
  return fmt::format("{}: {}\n  {}", r.broken->id, r.broken->what, fmt::join(r.path, "\n  "));
}

/// What a configuration of the world finds in each search.
struct expected {
  const char* name;
  world::options of;
  std::uint64_t none;     ///< states without a fault, reduced
  std::uint64_t all;      ///< … and not reduced
  std::uint64_t messages; ///< one fault of a message, an answer or a user
  std::uint64_t deaths;   ///< one death or timer, some states behind each
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
    testing::Values(expected{"long", {.has_victim = true}, 456, 1, 1, 1},
                    expected{"fast", {.fast_path = true, .has_victim = true}, 456, 1, 1, 1},
                    expected{
                        "objects", {.log = log_kind::objects, .has_victim = true}, 419, 1, 1, 1}),
    [](const auto& x) { return x.param.name; });

TEST_P(SmallVictim, is_evicted_in_every_order_without_a_fault_with_and_without_reduction) {
  auto how = search_of(GetParam(), 0);
  const auto reduced = exhaust(how);
  EXPECT_TRUE(reduced.is_complete && !reduced.broken) << told(reduced);
  EXPECT_EQ(reduced.states, GetParam().none);
  how.is_reduced = false;
  const auto all = exhaust(how);
  EXPECT_TRUE(all.is_complete && !all.broken) << told(all);
  EXPECT_EQ(all.states, GetParam().all);
  EXPECT_EQ(reduced.ends, all.ends);
}

TEST_P(SmallVictim, is_evicted_for_a_decision_only_when_something_is_lost_repeated_or_deleted) {
  const auto r = exhaust(search_of(
      GetParam(), 1,
      {fault_kind::drop, fault_kind::duplicate, fault_kind::answer, fault_kind::removal}));
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam().messages);
}

/// C6: whoever evicts dies with some victims gone; B3: with an answer to a removal lost.
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

/// An eviction that is under way when its coordinator dies, and a member that is deleted then, so
/// that nobody needs it any more.
TEST(SmallVictims, outlive_a_withdrawal_unless_they_were_gone_before) {
  exhaust_options how{
      .of = {.has_victim = true}, .faults = 2, .kinds = {fault_kind::actor, fault_kind::removal}};
  how.shuffle = 1;
  how.states_per_fault = 40;
  how.states_max = 60'000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
}

struct SmallRivals : testing::TestWithParam<expected> {};
INSTANTIATE_TEST_SUITE_P(
    Log, SmallRivals,
    testing::Values(
        expected{"long", {.gangs = 2, .lost_before = 3, .retries_at_once = 0}, 15529, 1, 0, 1},
        expected{"fast",
                 {.fast_path = true, .gangs = 2, .lost_before = 3, .retries_at_once = 0},
                 1,
                 1,
                 0,
                 1},
        expected{"objects",
                 {.log = log_kind::objects, .gangs = 2, .lost_before = 3, .retries_at_once = 0},
                 12526,
                 1,
                 0,
                 1}),
    [](const auto& x) { return x.param.name; });

/// Upholds L3: of two gangs that ask shard by shard one wins in every order, and the other one's
/// tries come to rest.
TEST_P(SmallRivals, come_to_rest_with_one_winner_in_every_order) {
  auto how = search_of(GetParam(), 0);
  const auto reduced = exhaust(how);
  EXPECT_TRUE(reduced.is_complete && !reduced.broken) << told(reduced);
  EXPECT_EQ(reduced.states, GetParam().none);
  how.is_reduced = false;
  const auto all = exhaust(how);
  EXPECT_TRUE(all.is_complete && !all.broken) << told(all);
  EXPECT_EQ(all.states, GetParam().all);
  EXPECT_EQ(reduced.ends, all.ends);
}

TEST_P(SmallRivals, never_hold_the_same_room_with_one_fault_as_far_as_the_budget_goes) {
  auto how = search_of(GetParam(), 1);
  how.of.lost_before = 0;
  how.shuffle = 1;
  how.states_per_fault = 20;
  how.states_max = 60'000;
  const auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_EQ(r.states, GetParam().deaths);
}

/// Both ask all shards at once and may abort each other.
TEST(SmallRival, wins_in_every_order_though_they_abort_each_other) {
  const auto r =
      exhaust({.of = {.log = log_kind::objects, .gangs = 2, .retries_at_once = 0}, .faults = 0});
  EXPECT_TRUE(r.is_complete && !r.broken) << told(r);
  EXPECT_EQ(r.states, 213506u);
}

/// A shard's former owner promised room to one gang, its next owner to the other one; both are
/// decided, and a third owner finds both (P11).
TEST(SmallRival, is_not_bound_where_another_decision_collides) {
  exhaust_options how{.of = {.log = log_kind::objects, .gangs = 2, .retries_at_once = 0},
                      .faults = 2,
                      .kinds = {fault_kind::shard_takeover}};
  how.shuffle = 1;
  how.states_per_fault = 300;
  how.states_max = 200'000;
  auto r = exhaust(how);
  EXPECT_FALSE(r.broken) << told(r);
  EXPECT_GT(r.passed["P11"], 0u);
}

} // namespace
} // namespace tutti::chaos::small
