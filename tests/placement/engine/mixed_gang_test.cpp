// Gangs of unequal members: greedy where it works, a full search where it does not.
#include "tests/placement/engine/cluster.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

using base::reason_code;

struct MixedGang : ::testing::Test {
  cluster c;
};

TEST_F(MixedGang, the_hardest_member_gets_its_seat_first) {
  c.node({.name = "a", .cpu = 4});
  c.node({.name = "b", .cpu = 2});
  // In the order of the gang the small ones would sit on the large node.
  auto gang = gang_words{3}.pods(2, {.cpu = 1}).pods(1, {.cpu = 4});
  EXPECT_EQ(c.seats(gang).at("pod2"), "a");
}

TEST_F(MixedGang, earlier_members_count_for_later_ones) {
  c.node({.name = "a", .cpu = 5});
  EXPECT_EQ(c.placed(gang_words{2}.pods(1, {.cpu = 3}).pods(1, {.cpu = 2})), 2u);
  EXPECT_EQ(c.placed(gang_words{2}.pods(1, {.cpu = 3}).pods(1, {.cpu = 3, .gpus = 1})), 0u);
}

TEST_F(MixedGang, that_greedy_orders_miss_is_found_by_the_full_search) {
  // 6 = 4 + 2 and 6 = 3 + 3: the tightest seat of a 3 is beside the 4 in no greedy order.
  c.node({.name = "a", .cpu = 6});
  c.node({.name = "b", .cpu = 6});
  auto gang = gang_words{4}.pods(1, {.cpu = 4}).pods(2, {.cpu = 3}).pods(1, {.cpu = 2});
  EXPECT_EQ(c.placed(gang), 4u);
}

TEST_F(MixedGang, that_cannot_fit_is_proved_so) {
  c.node({.name = "a", .cpu = 5});
  c.node({.name = "b", .cpu = 5});
  // 10 cores for 10 cores, but 4 + 4 leaves 1 + 1, and the 2 fits nowhere.
  auto gang = gang_words{3}.pods(2, {.cpu = 4}).pods(1, {.cpu = 2});
  const auto why = c.refusal(gang);
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.placed, 2);
  EXPECT_EQ(why.wanted, 3);
}

TEST_F(MixedGang, that_runs_out_of_steps_is_undecided_and_says_so) {
  c.node({.name = "a", .cpu = 5});
  c.node({.name = "b", .cpu = 5});
  c.bounds.search_steps = 2;
  const auto why = c.refusal(gang_words{3}.pods(2, {.cpu = 4}).pods(1, {.cpu = 2}));
  EXPECT_EQ(why.primary, reason_code::undecided);
  EXPECT_NE(why.detail.find("2 steps"), std::string::npos);
}

TEST_F(MixedGang, a_large_extra_does_not_cost_the_minimum) {
  c.node({.name = "a", .cpu = 4});
  auto gang = gang_words{2}.pods(1, {.cpu = 4}).pods(2, {.cpu = 2});
  const auto got = c.seats(gang);
  EXPECT_EQ(got.size(), 2u);
  EXPECT_FALSE(got.contains("pod0"));
}

TEST_F(MixedGang, stays_in_one_domain) {
  c.nodes("a", 1, {.rack = "r1", .cpu = 4});
  c.nodes("b", 1, {.rack = "r2", .cpu = 7});
  auto gang = gang_words{2, rack_key}.pods(1, {.cpu = 4}).pods(1, {.cpu = 3});
  EXPECT_EQ(c.seats(gang).at("pod1"), "b0");
  EXPECT_EQ(c.placed(gang_words{2, rack_key}.pods(1, {.cpu = 7}).pods(1, {.cpu = 4})), 0u);
}

TEST_F(MixedGang, tries_the_next_domain_if_the_most_promising_does_not_come_out_even) {
  c.nodes("a", 2, {.rack = "r1", .cpu = 5}); // 2 fours, then two ones are left for a two
  c.nodes("b", 2, {.rack = "r2", .cpu = 6});
  auto gang = gang_words{3, rack_key}.pods(2, {.cpu = 4}).pods(1, {.cpu = 2});
  EXPECT_EQ(c.seats(gang).at("pod2").substr(0, 1), "b");
}

TEST_F(MixedGang, of_a_group_with_a_key_tries_other_domains_beside_a_group_without) {
  // The first zone looks tighter, but takes one or the other.
  c.node({.name = "a", .zone = "z1", .cpu = 5});
  c.node({.name = "b", .zone = "z2", .cpu = 4});
  c.node({.name = "c", .zone = "z2", .cpu = 3});
  c.node({.name = "d", .cpu = 1});
  auto gang = gang_words{2, zone_key}.pods(1, {.cpu = 4}).pods(1, {.cpu = 3});
  gang.group(1).pods(1, {.cpu = 1});
  EXPECT_EQ(c.placed(gang), 3u);
}

TEST_F(MixedGang, whose_groups_fit_in_no_order_one_by_one_is_searched_as_a_whole) {
  // 5 goes to the 5, and 4 + 4 to the 8. Whichever group comes first takes the wrong node.
  c.node({.name = "a", .rack = "r1", .cpu = 8});
  c.node({.name = "b", .rack = "r1", .cpu = 5});
  auto gang = gang_words{2, rack_key}.pods(1, {.cpu = 5}).pods(1, {.cpu = 4});
  gang.group(1, rack_key).pods(1, {.cpu = 4});
  EXPECT_EQ(c.placed(gang), 3u);
}

TEST_F(MixedGang, that_counting_refuses_needs_no_search) {
  // Thirty nodes of 9 cores, thirty-one members of 5 or 6: each node takes one.
  c.nodes("n", 30, {.cpu = 9});
  c.bounds.search_steps = 100;
  const auto why = c.refusal(gang_words{31}.pods(15, {.cpu = 5}).pods(16, {.cpu = 6}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
}

} // namespace
} // namespace tutti::placement::engine::testing
