// Victims at the least cost: who goes, in which order costs count, and what is said of the bound.
#include "tests/placement/engine/victim_words.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

struct Victims : ::testing::Test {
  full_cluster c;
  pod_words one{.cpu = 1};
  pod_words three{.cpu = 3};

  eviction found(const gang_spec& what) {
    auto got = c.evict(what);
    const auto* e = std::get_if<eviction>(&got);
    EXPECT_NE(e, nullptr);
    return e ? *e : eviction{};
  }
  base::explanation refusal(const gang_spec& what) {
    auto got = c.evict(what);
    const auto* x = std::get_if<base::explanation>(&got);
    EXPECT_NE(x, nullptr);
    return x ? *x : base::explanation{};
  }
};

TEST_F(Victims, one_unit_goes_where_one_is_enough) {
  c.nodes("n", 3, {.cpu = 3});
  c.runs("small", 1, {{"n1", one}});
  c.runs("rest", 1, {{"n1", {.cpu = 2}}});
  c.runs("whole", 1, {{"n2", three}});
  c.runs("dear", 2, {{"n3", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"whole"}));
  const auto e = found(gang_of(1, three));
  EXPECT_TRUE(e.is_minimum);
  EXPECT_EQ(e.cost, e.bound);
  EXPECT_EQ(to_text(e.cost), "pods of priority 1 1, gangs 1, pods 1");
}

TEST_F(Victims, an_earlier_term_of_the_cost_outweighs_all_later_ones) {
  c.nodes("n", 2, {.cpu = 3});
  const auto b = c.budget(0);
  c.runs("guarded", 1, {{"n1", three, {}, {b}}});
  for (int i = 0; i < 3; ++i)
    c.runs("high" + std::to_string(i), 9, {{"n2", one}}).work_lost = 1000;
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"high0", "high1", "high2"}));
  c.how.budgets[0].allowed = 1;
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"guarded"}));
}

TEST_F(Victims, many_of_a_low_priority_go_before_one_of_a_higher) {
  c.nodes("n", 2, {.cpu = 3});
  for (int i = 0; i < 3; ++i)
    c.runs("low" + std::to_string(i), 1, {{"n1", one}});
  c.runs("high", 2, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"low0", "low1", "low2"}));
}

TEST_F(Victims, of_equal_pods_those_of_one_gang_go) {
  c.nodes("n", 2, {.cpu = 2});
  c.runs("a1", 1, {{"n1", one}}, "a").work_lost = 5;
  c.runs("b1", 1, {{"n1", one}}, "b");
  c.runs("a2", 1, {{"n2", one}}, "a").work_lost = 5;
  c.runs("d1", 1, {{"n2", one}}, "d");
  EXPECT_EQ(c.victims(gang_of(2, one)), (names{"a1", "a2"}));
  const auto e = found(gang_of(2, one));
  EXPECT_EQ(e.cost.of("gangs"), 1);
  EXPECT_EQ(e.cost.of("work lost"), 10);
  EXPECT_TRUE(e.is_minimum);
}

TEST_F(Victims, of_equal_gangs_the_one_that_loses_least_work_goes) {
  c.nodes("n", 2, {.cpu = 1});
  c.runs("old", 1, {{"n1", one}}).work_lost = 100;
  c.runs("new", 1, {{"n2", one}}).work_lost = 7;
  EXPECT_EQ(c.victims(gang_of(1, one)), (names{"new"}));
}

/// Upstream fixes the places first and then evicts whoever is there.
TEST_F(Victims, the_places_are_chosen_for_the_sake_of_the_victims) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("high", 50, {{"n1", {.cpu = 4}}});
  c.runs("low", 1, {{"n2", {.cpu = 4}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 4})), (names{"low"}));
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 4}), eviction_policy::upstream), (names{"high"}));
}

TEST_F(Victims, room_that_is_free_is_used_first) {
  c.nodes("n", 3, {.cpu = 3});
  c.runs("a", 1, {{"n1", three}});
  c.runs("b", 1, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(2, three)).size(), 1u);
}

TEST_F(Victims, the_rack_where_least_is_lost_is_chosen) {
  for (const auto* rack : {"a", "b", "c"})
    for (int i = 1; i <= 2; ++i)
      c.node({.name = rack + std::to_string(i), .rack = rack, .cpu = 3});
  c.runs("a1", 5, {{"a1", three}});
  c.runs("a2", 1, {{"a2", three}});
  c.runs("b", 1, {{"b1", one}, {"b1", one}, {"b2", one}});
  c.runs("c1", 1, {{"c1", three}});
  c.runs("c2", 1, {{"c2", {.cpu = 2}}});
  c.how.alternatives = 3;
  const auto gang = gang_of(2, three, rack_key);
  EXPECT_EQ(c.victims(gang), (names{"c1", "c2"}));
  const auto e = found(gang);
  EXPECT_EQ(e.where.domains, std::vector<std::string>{"c"});
  EXPECT_TRUE(e.is_minimum);
  ASSERT_EQ(e.alternatives.size(), 2u);
  EXPECT_EQ(e.alternatives[0].units, std::vector<std::uint32_t>{2}); // b: one more pod
  EXPECT_EQ(to_text(e.alternatives[1].cost),
            "pods of priority 5 1, pods of priority 1 1, gangs 2, pods 2");
}

TEST_F(Victims, a_gang_across_racks_counts_with_all_its_pods) {
  for (const auto* rack : {"a", "b"})
    for (int i = 1; i <= 2; ++i)
      c.node({.name = rack + std::to_string(i), .rack = rack, .cpu = 3});
  c.runs("wide", 1, {{"a1", three}, {"a2", three}, {"b1", three}});
  c.runs("narrow", 1, {{"b2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three, rack_key)), (names{"narrow"}));
  EXPECT_EQ(c.victims(gang_of(2, three, rack_key)), (names{"wide"}));
}

TEST_F(Victims, a_bound_member_pins_the_rack) {
  c.node({.name = "a1", .rack = "a", .cpu = 4});
  c.node({.name = "b1", .rack = "b", .cpu = 4});
  c.runs("high", 9, {{"a1", three}});
  c.runs("low", 1, {{"b1", three}});
  const auto gang = gang_words(2, rack_key).bound(c.at("a1"), one).pods(1, three);
  EXPECT_EQ(c.victims(gang), (names{"high"}));
}

/// Where upstream evicts for as many as it can (N17), members beyond the minimum cost nobody.
TEST_F(Victims, members_beyond_the_minimum_cost_no_victim) {
  c.nodes("n", 4, {.cpu = 1});
  for (int i = 1; i <= 4; ++i)
    c.runs("low" + std::to_string(i), 10, {{"n" + std::to_string(i), one}});
  EXPECT_EQ(c.victims(gang_words(1).pods(3, one)).size(), 1u);
  EXPECT_EQ(c.victims(gang_words(1).pods(3, one), eviction_policy::upstream).size(), 3u);
  // The minimum runs already: evicting for the others is refused.
  c.how.policy = eviction_policy::least_cost;
  const auto gang = gang_words(1).bound_elsewhere().pods(2, one);
  EXPECT_EQ(refusal(gang).primary, base::reason_code::preemption_would_not_help);
}

TEST_F(Victims, members_beyond_the_minimum_take_what_a_unit_leaves) {
  c.nodes("n", 2, {.cpu = 2});
  c.runs("pair", 1, {{"n1", {.cpu = 2}}, {"n2", {.cpu = 2}}});
  EXPECT_EQ(found(gang_words(1).pods(3, {.cpu = 2})).where.seats.size(), 2u);
}

TEST_F(Victims, labels_and_taints_keep_a_gang_from_room_that_could_be_made) {
  c.node({.name = "n1", .cpu = 3, .taints = {{"t", "", api::taint_effect::no_schedule}}});
  c.node({.name = "n2", .cpu = 3, .unschedulable = true});
  c.node({.name = "n3", .cpu = 3});
  c.runs("tainted", 1, {{"n1", three}});
  c.runs("cordoned", 1, {{"n2", three}});
  c.runs("open", 9, {{"n3", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"open"}));
  EXPECT_EQ(c.victims(gang_of(2, three)), (names{"refused"}));
}

TEST_F(Victims, ports_and_devices_are_room_like_any_other) {
  c.nodes("n", 2, {.cpu = 8, .gpus = 4});
  const base::port_list web{{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 8080}};
  c.runs("port1", 1, {{"n1", {.cpu = 1, .ports = web}}});
  c.runs("port2", 2, {{"n2", {.cpu = 1, .ports = web}}});
  c.runs("gpus1", 3, {{"n1", {.cpu = 1, .gpus = 4}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1, .ports = web})), (names{"port1"}));
  EXPECT_EQ(c.victims(gang_of(2, {.cpu = 1, .ports = web})), (names{"port1", "port2"}));
  EXPECT_EQ(c.victims(gang_of(5, {.cpu = 1, .gpus = 1})), (names{"gpus1"}));
  EXPECT_EQ(c.victims(gang_of(3, {.cpu = 1, .ports = web})), (names{"refused"}));
}

TEST_F(Victims, a_mixed_gang_gets_room_for_each_of_its_members) {
  c.nodes("n", 3, {.cpu = 4});
  c.runs("a", 1, {{"n1", {.cpu = 4}}});
  c.runs("b1", 1, {{"n2", {.cpu = 2}}});
  c.runs("b2", 1, {{"n2", {.cpu = 2}}});
  c.runs("high", 9, {{"n3", {.cpu = 4}}});
  const auto gang = gang_words(2).pods(1, {.cpu = 4}).pods(1, {.cpu = 2});
  const auto e = found(gang);
  EXPECT_EQ(e.cost.of("pods"), 2);
  EXPECT_EQ(e.cost.of("pods of priority 9"), 0);
  EXPECT_TRUE(e.is_minimum);
  const auto racks = gang_words(1, rack_key).pods(1, {.cpu = 4}).group(1).pods(1, {.cpu = 4});
  EXPECT_EQ(c.victims(racks), (names{"refused"})); // no node has a rack
}

TEST_F(Victims, who_must_be_near_or_apart_is_judged_with_the_victims_gone) {
  c.nodes("n", 2, {.cpu = 2});
  c.runs("db", 1, {{"n1", one, pod("db")}});
  c.runs("full1", 2, {{"n1", one, pod("x")}});
  c.runs("full2", 3, {{"n2", {.cpu = 2}, pod("x")}});
  // Apart from db: it goes, or n2 is cleared.
  EXPECT_EQ(c.victims(tied_gang(1, one, pod("web").apart("db", host_key))), (names{"db"}));
  // Near db: it stays, though it is the cheapest. (Upstream refuses: with all gone nobody is near.)
  const auto near = tied_gang(1, one, pod("web").near("db", host_key));
  EXPECT_EQ(c.victims(near), (names{"full1"}));
  EXPECT_TRUE(found(near).is_minimum);
  EXPECT_EQ(c.victims(near, eviction_policy::upstream), (names{"refused"}));
}

TEST_F(Victims, a_gang_waits_for_those_who_leave_already) {
  c.nodes("n", 2, {.cpu = 3});
  c.runs("leaving", 200, {{"n1", three}}).is_leaving = true;
  c.runs("low", 1, {{"n2", three}});
  EXPECT_EQ(refusal(gang_of(1, three)).primary, base::reason_code::waiting_for_victims);
  EXPECT_EQ(c.victims(gang_of(2, three)), (names{"leaving", "low"}));
  EXPECT_EQ(found(gang_of(2, three)).cost.of("pods"), 1);
}

TEST_F(Victims, who_leaves_is_not_named_where_his_room_is_not_needed) {
  c.nodes("n", 2, {.cpu = 3});
  c.runs("leaving", 1, {{"n1", one}}).is_leaving = true;
  c.runs("stays", 100, {{"n1", {.cpu = 2}}});
  c.runs("low", 1, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"low"}));
}

/// What is offered and what the view shows come at different times.
TEST_F(Victims, a_port_that_the_view_does_not_show_is_no_promise) {
  const base::port_list web{{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 8080}};
  c.node({.name = "n1", .cpu = 8, .ports = web});
  c.runs("other", 1, {{"n1", one}});
  c.how.units.back().pods.front().takes.ports = {
      {base::symbol{"10.0.0.1"}, base::symbol{"TCP"}, 8080}};
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1, .ports = web})), (names{"refused"}));
  EXPECT_EQ(refusal(gang_of(1, {.cpu = 1, .ports = web})).primary, base::reason_code::undecided);
}

TEST_F(Victims, a_refusal_says_how_far_evicting_all_would_reach) {
  c.nodes("n", 2, {.cpu = 3});
  c.runs("low", 1, {{"n1", three}});
  c.runs("exempt", 1, {{"n2", three}}).is_exempt = true;
  const auto x = refusal(gang_of(2, three));
  EXPECT_EQ(x.primary, base::reason_code::preemption_would_not_help);
  EXPECT_EQ(x.wanted, 2);
  EXPECT_EQ(x.placed, 1);
  EXPECT_EQ(x.detail,
            "preemption: at most 1 of 2 members would fit if all 1 units of a priority below 100 "
            "were evicted; 1 more are exempt");
  c.how.priority = 1;
  EXPECT_EQ(refusal(gang_of(2, three)).detail,
            "preemption: no pod of a priority below 1 may be evicted");
  EXPECT_EQ(refusal(gang_words(3).pods(1, one)).primary, base::reason_code::waiting_for_members);
}

TEST_F(Victims, without_steps_the_bound_is_told_and_no_minimum_claimed) {
  c.nodes("n", 6, {.cpu = 4});
  for (int i = 1; i <= 6; ++i) { // each node: 3 and 1 of different gangs over two nodes
    const auto here = "n" + std::to_string(i), there = "n" + std::to_string(i % 6 + 1);
    c.runs("w" + std::to_string(i), 1, {{here, {.cpu = 2}}, {there, {.cpu = 2}}});
  }
  const auto gang = gang_of(3, {.cpu = 4});
  const auto proved = found(gang);
  EXPECT_TRUE(proved.is_minimum);
  c.how.set_steps = 0;
  const auto e = found(gang);
  EXPECT_TRUE(e.bound <= proved.cost);
  EXPECT_TRUE(e.cost >= proved.cost);
  EXPECT_EQ(e.is_minimum, e.cost == e.bound);
}

} // namespace
} // namespace tutti::placement::engine::testing
