// Gangs of equal members: minimum, extras, domains.
#include "tests/placement/engine/cluster.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

using base::reason_code;

struct Gang : ::testing::Test {
  cluster c;

  std::set<std::string> nodes_of(const gang_spec& what) {
    std::set<std::string> out;
    for (const auto& [pod, node] : c.seats(what))
      out.insert(node);
    return out;
  }
  std::string domain_of(const gang_spec& what) {
    const auto got = c.ask(what);
    const auto* p = std::get_if<placement>(&got);
    return p ? p->domains.at(0) : "refused";
  }
};

TEST_F(Gang, is_placed_whole_or_not_at_all) {
  c.nodes("n", 2, {.gpus = 4});
  EXPECT_EQ(c.placed(gang_of(8, {.gpus = 1})), 8u);
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1})), 0u);
}

TEST_F(Gang, fills_the_tightest_nodes_first) {
  c.node({.name = "a", .gpus = 8});
  c.node({.name = "b", .gpus = 8, .gpus_used = 6});
  c.node({.name = "d", .gpus = 8, .gpus_used = 5});
  EXPECT_EQ(nodes_of(gang_of(5, {.gpus = 1})), (std::set<std::string>{"b", "d"}));
}

TEST_F(Gang, among_equal_nodes_takes_the_first_by_name) {
  for (const auto* name : {"n3", "n1", "n2"})
    c.node({.name = name});
  EXPECT_EQ(nodes_of(gang_of(8, {.gpus = 1})), (std::set<std::string>{"n1"}));
}

TEST_F(Gang, stays_in_one_domain_of_its_key) {
  c.nodes("a", 2, {.rack = "r1", .gpus = 4});
  c.nodes("b", 2, {.rack = "r2", .gpus = 4});
  EXPECT_EQ(c.placed(gang_of(8, {.gpus = 1}, rack_key)), 8u);
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, rack_key)), 0u);
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1})), 9u);
}

TEST_F(Gang, takes_the_domain_with_least_room_left_over) {
  c.nodes("a", 3, {.rack = "r1"});
  c.nodes("b", 2, {.rack = "r2"});
  c.nodes("d", 1, {.rack = "r3"});
  EXPECT_EQ(domain_of(gang_of(10, {.gpus = 1}, rack_key)), "r2");
  EXPECT_EQ(domain_of(gang_of(8, {.gpus = 1}, rack_key)), "r3");
  EXPECT_EQ(domain_of(gang_of(17, {.gpus = 1}, rack_key)), "r1");
}

TEST_F(Gang, among_equal_domains_takes_the_first_by_name) {
  c.nodes("z", 2, {.rack = "r2"});
  c.nodes("y", 2, {.rack = "r1"});
  EXPECT_EQ(domain_of(gang_of(10, {.gpus = 1}, rack_key)), "r1");
}

TEST_F(Gang, a_domain_that_takes_more_members_wins_over_a_tighter_one) {
  c.nodes("a", 1, {.rack = "r1", .gpus = 4});
  c.nodes("b", 1, {.rack = "r2", .gpus = 8});
  auto gang = gang_words{4, rack_key}.pods(6, {.gpus = 1});
  EXPECT_EQ(domain_of(gang), "r2");
  EXPECT_EQ(c.placed(gang), 6u);
}

TEST_F(Gang, an_outer_level_is_a_domain_too) {
  c.nodes("a", 1, {.rack = "r1", .zone = "z1"});
  c.nodes("b", 1, {.rack = "r2", .zone = "z1"});
  c.nodes("d", 1, {.rack = "r3", .zone = "z2"});
  EXPECT_EQ(domain_of(gang_of(16, {.gpus = 1}, zone_key)), "z1");
}

TEST_F(Gang, any_label_key_is_a_domain_and_nodes_without_it_are_out) {
  c.node({.name = "a", .rack = "r1", .labels = {{"pool", "x"}}});
  c.node({.name = "b", .rack = "r2", .labels = {{"pool", "x"}}});
  c.node({.name = "d", .rack = "r2", .labels = {{"pool", "y"}}});
  c.node({.name = "e", .rack = "r2"});
  EXPECT_EQ(domain_of(gang_of(16, {.gpus = 1}, "pool")), "x");
  EXPECT_EQ(nodes_of(gang_of(16, {.gpus = 1}, "pool")), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(c.placed(gang_of(17, {.gpus = 1}, "pool")), 0u);
}

TEST_F(Gang, a_host_name_is_a_domain_too) {
  c.nodes("n", 3, {});
  EXPECT_EQ(nodes_of(gang_of(8, {.gpus = 1}, "kubernetes.io/hostname")).size(), 1u);
  EXPECT_EQ(c.placed(gang_of(9, {.gpus = 1}, "kubernetes.io/hostname")), 0u);
}

TEST_F(Gang, bound_members_count_for_the_minimum) {
  c.nodes("n", 1, {.gpus = 2});
  auto gang = gang_words{4}.bound(c.at("n0")).bound(c.at("n0")).pods(2, {.gpus = 1});
  EXPECT_EQ(c.placed(gang), 2u);
  gang.pods(1, {.gpus = 1});
  EXPECT_EQ(c.placed(gang), 2u) << "the extra one finds no room and costs nothing";
}

TEST_F(Gang, bound_members_pin_the_domain) {
  c.nodes("a", 1, {.rack = "r1"});
  c.nodes("b", 2, {.rack = "r2"});
  auto gang = gang_words{9, rack_key}.bound(c.at("b0")).pods(8, {.gpus = 1});
  EXPECT_EQ(domain_of(gang), "r2");
  auto pinned = gang_words{9, rack_key}.bound(c.at("a0")).pods(9, {.gpus = 1});
  EXPECT_EQ(c.placed(pinned), 8u) << "r2 would take all nine";
}

TEST_F(Gang, an_empty_label_value_is_a_domain_and_a_missing_label_is_none) {
  c.node({.name = "a", .gpus = 4, .labels = {{rack_key, ""}}});
  c.node({.name = "b", .gpus = 8});
  EXPECT_EQ(c.placed(gang_of(5, {.gpus = 1}, rack_key)), 0u) << "b is in no rack";
  EXPECT_EQ(c.placed(gang_of(4, {.gpus = 1}, rack_key)), 4u);
  c.node({.name = "c", .rack = "r1", .gpus = 3});
  EXPECT_EQ(c.placed(gang_of(5, {.gpus = 1}, rack_key)), 0u) << "c is in another one";
  c.node({.name = "d", .gpus = 1, .labels = {{rack_key, ""}}});
  EXPECT_EQ(c.placed(gang_of(5, {.gpus = 1}, rack_key)), 5u);
}

TEST_F(Gang, bound_members_pin_the_domain_of_an_empty_label_value) {
  c.node({.name = "a", .gpus = 2, .labels = {{rack_key, ""}}});
  c.node({.name = "b", .rack = "r1", .gpus = 8});
  auto gang = gang_words{3, rack_key}.bound(c.at("a")).pods(2, {.gpus = 1});
  EXPECT_EQ(c.seats(gang), (std::map<std::string, std::string>{{"pod1", "a"}, {"pod2", "a"}}));
  auto torn = gang_words{3, rack_key}.bound(c.at("a")).bound(c.at("b")).pods(1, {});
  EXPECT_NE(c.refusal(torn).detail.find("two domains"), std::string::npos);
}

TEST_F(Gang, bound_in_two_domains_is_an_error) {
  c.nodes("a", 1, {.rack = "r1"});
  c.nodes("b", 1, {.rack = "r2"});
  auto gang = gang_words{3, rack_key}.bound(c.at("a0")).bound(c.at("b0")).pods(1, {});
  EXPECT_EQ(c.refusal(gang).primary, reason_code::scheduler_error);
  EXPECT_NE(c.refusal(gang).detail.find("two domains"), std::string::npos);
}

TEST_F(Gang, bound_to_a_node_without_the_label_is_an_error) {
  c.nodes("a", 1, {});
  c.nodes("b", 1, {.rack = "r2"});
  EXPECT_EQ(c.refusal(gang_words{2, rack_key}.bound(c.at("a0")).pods(1, {})).primary,
            reason_code::scheduler_error);
  EXPECT_EQ(c.refusal(gang_words{2, rack_key}.bound_elsewhere().pods(1, {})).primary,
            reason_code::scheduler_error);
  EXPECT_EQ(c.placed(gang_words{2}.bound_elsewhere().pods(1, {})), 1u)
      << "without a key it does not matter where";
}

TEST_F(Gang, a_basic_group_places_as_many_as_fit) {
  c.nodes("n", 1, {.gpus = 3});
  EXPECT_EQ(c.placed(gang_words{1}.pods(5, {.gpus = 1})), 3u);
}

TEST_F(Gang, that_has_its_minimum_running_still_wants_at_least_one_seat) {
  c.nodes("n", 1, {.gpus = 1, .gpus_used = 1});
  auto gang = gang_words{1}.bound(c.at("n0")).pods(2, {.gpus = 1});
  EXPECT_EQ(c.placed(gang), 0u);
  EXPECT_EQ(c.refusal(gang).wanted, 1);
}

TEST_F(Gang, with_too_few_live_members_waits_for_them) {
  c.nodes("n", 1, {});
  const auto why = c.refusal(gang_words{5}.pods(3, {}));
  EXPECT_EQ(why.primary, reason_code::waiting_for_members);
  EXPECT_EQ(why.wanted, 5);
  EXPECT_EQ(why.placed, 3);
}

TEST_F(Gang, of_several_groups_needs_the_minimum_of_each) {
  c.nodes("a", 1, {.rack = "r1"});
  c.nodes("b", 1, {.rack = "r2"});
  auto gang = gang_words{8, rack_key}.pods(8, {.gpus = 1});
  gang.group(8, rack_key).pods(8, {.gpus = 1});
  EXPECT_EQ(c.placed(gang), 16u);
  gang.group(1).pods(1, {.gpus = 1});
  EXPECT_EQ(c.placed(gang), 0u);
}

TEST_F(Gang, extras_of_one_group_do_not_cost_another_its_minimum) {
  c.nodes("n", 1, {.gpus = 4});
  auto gang = gang_words{1}.pods(4, {.gpus = 1});
  gang.group(2).pods(2, {.gpus = 1});
  const auto got = c.seats(gang);
  EXPECT_EQ(got.size(), 4u);
  EXPECT_TRUE(got.contains("pod4") && got.contains("pod5"));
}

} // namespace
} // namespace tutti::placement::engine::testing
