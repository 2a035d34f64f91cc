// The policy `upstream` against what kube-scheduler does: its own tests and recordings, retold.
#include "tests/placement/engine/victim_words.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

struct VictimsUpstream : ::testing::Test {
  full_cluster c;

  VictimsUpstream() { c.how.policy = eviction_policy::upstream; }
  pod_words three{.cpu = 3};
};

TEST_F(VictimsUpstream, a_gang_takes_the_place_of_pods_that_stand_alone) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("a", 1, {{"n1", three}});
  c.runs("b", 1, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(2, three)), (names{"a", "b"}));
}

TEST_F(VictimsUpstream, a_gang_that_goes_whole_goes_even_if_one_pod_would_do) {
  c.nodes("n", 3, {.cpu = 4});
  c.runs("low", 1, {{"n1", three}, {"n2", three}, {"n3", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"low"}));
}

TEST_F(VictimsUpstream, single_members_go_one_by_one_and_the_youngest_first) {
  c.nodes("n", 1, {.cpu = 2});
  c.runs("early", 1, {{"n1", {.cpu = 1}}}, "low").started_ms = 1;
  c.runs("late", 1, {{"n1", {.cpu = 1}}}, "low").started_ms = 2;
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1})), (names{"late"}));
}

TEST_F(VictimsUpstream, nobody_goes_for_a_gang_that_would_not_fit_even_then) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("a", 1, {{"n1", three}});
  c.runs("b", 1, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(3, three)), (names{"refused"}));
  const auto got = c.evict(gang_of(3, three));
  const auto& why = std::get<base::explanation>(got);
  EXPECT_EQ(why.primary, base::reason_code::preemption_would_not_help);
  EXPECT_EQ(why.placed, 2);
  EXPECT_EQ(why.wanted, 3);
  EXPECT_EQ(
      why.detail,
      "preemption: at most 2 of 3 members would fit if all 2 units of a priority below 100 were "
      "evicted");
}

TEST_F(VictimsUpstream, equal_and_higher_priorities_stay) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("equal", 100, {{"n1", three}});
  c.runs("higher", 101, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"refused"}));
}

TEST_F(VictimsUpstream, the_exempt_stay) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("exempt", 1, {{"n1", three}}).is_exempt = true;
  c.runs("b", 2, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), (names{"b"}));
  EXPECT_EQ(c.victims(gang_of(2, three)), (names{"refused"}));
}

TEST_F(VictimsUpstream, a_budget_guards_only_as_long_as_there_is_another_way) {
  c.nodes("n", 1, {.cpu = 3});
  const auto b = c.budget(0);
  c.runs("kept1", 10, {{"n1", {.cpu = 1}, {}, {b}}});
  c.runs("kept2", 10, {{"n1", {.cpu = 1}, {}, {b}}});
  c.runs("free", 20, {{"n1", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1})), (names{"free"}));
  EXPECT_EQ(c.victims(gang_of(3, {.cpu = 1})), (names{"free", "kept1", "kept2"}));
}

TEST_F(VictimsUpstream, a_unit_violates_if_any_of_its_pods_does) {
  c.nodes("n", 2, {.cpu = 1});
  const auto b = c.budget(0);
  c.runs("pair", 5, {{"n1", {.cpu = 1}, {}, {b}}, {"n2", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1})), (names{"pair"}));
  const auto got = c.evict(gang_of(1, {.cpu = 1}));
  EXPECT_EQ(to_text(std::get<eviction>(got).cost),
            "budget violations 1, pods of priority 5 2, gangs 1, pods 2");
}

TEST_F(VictimsUpstream, the_more_important_are_spared_first) { // B8, B22
  c.nodes("n", 1, {.cpu = 3});
  c.runs("mid", 50, {{"n1", {.cpu = 1}}});
  c.runs("low1", 10, {{"n1", {.cpu = 1}}});
  c.runs("low2", 10, {{"n1", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(2, {.cpu = 1})), (names{"low1", "low2"}));
}

TEST_F(VictimsUpstream, a_pod_goes_before_a_group) { // N13
  c.nodes("n", 1, {.cpu = 3});
  c.runs("pod", 10, {{"n1", {.cpu = 1}}});
  c.runs("group", 10, {{"n1", {.cpu = 1}}, {"n1", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1})), (names{"pod"}));
}

/// N17, B11: members beyond the minimum cost victims, too, but nobody who is more important.
TEST_F(VictimsUpstream, as_many_members_as_possible_count) {
  c.nodes("n", 4, {.cpu = 1});
  c.runs("low1", 10, {{"n1", {.cpu = 1}}});
  c.runs("low2", 10, {{"n2", {.cpu = 1}}});
  c.runs("high1", 200, {{"n3", {.cpu = 1}}});
  c.runs("high2", 200, {{"n4", {.cpu = 1}}});
  const auto gang = gang_words(1).pods(3, {.cpu = 1});
  EXPECT_EQ(c.victims(gang), (names{"low1", "low2"}));
  EXPECT_EQ(std::get<eviction>(c.evict(gang)).where.seats.size(), 2u);
}

TEST_F(VictimsUpstream, the_assignment_is_fixed_before_anybody_is_spared) { // N18, B12
  c.nodes("n", 3, {.cpu = 1});
  c.runs("group", 50, {{"n1", {.cpu = 1}}, {"n2", {.cpu = 1}}});
  c.runs("pod", 10, {{"n3", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(3, {.cpu = 1})), (names{"group", "pod"}));
  EXPECT_EQ(c.victims(gang_words(1).pods(3, {.cpu = 1})), (names{"group", "pod"}));
}

TEST_F(VictimsUpstream, only_the_rack_that_is_chosen_is_emptied) {
  c.node({.name = "a1", .rack = "a", .cpu = 4});
  c.node({.name = "a2", .rack = "a", .cpu = 4});
  c.node({.name = "b1", .rack = "b", .cpu = 4});
  c.runs("a1", 1, {{"a1", three}});
  c.runs("a2", 1, {{"a2", three}});
  c.runs("b1", 1, {{"b1", three}});
  EXPECT_EQ(c.victims(gang_of(2, three, rack_key)), (names{"a1", "a2"}));
}

TEST_F(VictimsUpstream, a_port_and_a_neighbour_that_must_be_apart_are_reasons_to_go) { // B24, B25
  c.nodes("n", 1, {.cpu = 4});
  const base::port_list web{{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 8080}};
  c.runs("port", 1, {{"n1", {.cpu = 1, .ports = web}}});
  c.runs("other", 1, {{"n1", {.cpu = 1}}});
  EXPECT_EQ(c.victims(gang_of(1, {.cpu = 1, .ports = web})), (names{"port"}));

  c.runs("db", 1, {{"n1", {.cpu = 1}, pod("db")}});
  EXPECT_EQ(c.victims(tied_gang(1, {.cpu = 1}, pod("web").apart("db", host_key))), (names{"db"}));
  c.runs("shy", 1, {{"n1", {.cpu = 1}, pod("shy").apart("web", host_key)}});
  EXPECT_EQ(c.victims(tied_gang(1, {.cpu = 1}, pod("web"))), (names{"shy"}));
}

TEST_F(VictimsUpstream, a_pod_that_others_unbalance_makes_them_go) { // B26
  c.nodes("n", 1, {.cpu = 4});
  c.node({.name = "far", .cpu = 1, .taints = {{"t", "", api::taint_effect::no_schedule}}});
  c.runs("same", 1, {{"n1", {.cpu = 1}, pod("web")}});
  const auto ties = pod("web").spread("web", host_key, 2, 10);
  EXPECT_EQ(c.victims(tied_gang(2, {.cpu = 1}, ties)), (names{"same"}));
}

TEST_F(VictimsUpstream, whom_the_gang_must_be_near_stays) {
  c.nodes("n", 1, {.cpu = 2});
  c.runs("cache", 1, {{"n1", {.cpu = 1}, pod("cache")}});
  c.runs("other", 2, {{"n1", {.cpu = 1}}});
  // As if all were gone there is nobody to be near: upstream refuses.
  EXPECT_EQ(c.victims(tied_gang(1, {.cpu = 1}, pod("web").near("cache", host_key))),
            (names{"refused"}));
}

TEST_F(VictimsUpstream, a_gang_waits_for_those_who_leave_already) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("leaving", 200, {{"n1", three}}).is_leaving = true;
  c.runs("low", 1, {{"n2", three}});
  const auto got = c.evict(gang_of(1, three));
  EXPECT_EQ(std::get<base::explanation>(got).primary, base::reason_code::waiting_for_victims);
  // Two places: one comes by itself, one does not. Both are named, one costs.
  EXPECT_EQ(c.victims(gang_of(2, three)), (names{"leaving", "low"}));
  EXPECT_EQ(to_text(std::get<eviction>(c.evict(gang_of(2, three))).cost),
            "pods of priority 1 1, gangs 1, pods 1");
}

TEST_F(VictimsUpstream, a_gang_that_fits_as_things_are_evicts_nobody) {
  c.nodes("n", 2, {.cpu = 4});
  c.runs("low", 1, {{"n2", three}});
  EXPECT_EQ(c.victims(gang_of(1, three)), names{});
}

} // namespace
} // namespace tutti::placement::engine::testing
