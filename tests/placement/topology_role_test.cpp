// The topology proposes, marks what it proposed, and tells the queue when waiting may pay off.
#include "tests/placement/topology_world.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"

namespace tutti::placement::testing {
namespace {

using base::reason_code;

struct Topology : ::testing::Test {
  topology_world world;

  const protocol::view_grew* grew() { return world.find<protocol::view_grew>(); }
};

TEST_F(Topology, asks_every_shard_for_its_view_when_it_starts) {
  world.on(protocol::started{});
  EXPECT_NE(world.find<protocol::view_wanted>(protocol::to_shard({0})), nullptr);
  EXPECT_NE(world.find<protocol::view_wanted>(protocol::to_shard({1})), nullptr);
}

TEST_F(Topology, asks_again_while_a_shard_is_silent) {
  world.on(protocol::started{});
  const auto timers = world.effects<protocol::arm>();
  ASSERT_EQ(timers.size(), 2u);
  world.on(protocol::timer_fired{timers[1].timer});
  EXPECT_NE(world.find<protocol::view_wanted>(protocol::to_shard({1})), nullptr);
  world.whole(1, {});
  world.on(protocol::timer_fired{timers[1].timer});
  EXPECT_TRUE(world.said.empty());
}

TEST_F(Topology, a_request_waits_for_the_view_of_all_shards_and_is_planned_then) {
  world.whole(0, {});
  const auto gang = gang_of("g", 1, 1);
  EXPECT_EQ(world.ask(gang).why_not.primary, reason_code::none);
  EXPECT_EQ(world.find<protocol::plan_answer>(), nullptr);
  world.whole(1, {seen({.name = "b", .rack = rack_in(1)})});
  const auto* answer = world.find<protocol::plan_answer>(protocol::to_gang(gang->uid));
  ASSERT_NE(answer, nullptr);
  EXPECT_NE(answer->placement, nullptr);
}

TEST_F(Topology, does_not_say_never_before_all_shards_have_spoken) {
  world.whole(0, {});
  (void)world.ask(gang_of("g", 1, 1));
  const auto timers = world.effects<protocol::arm>();
  ASSERT_EQ(timers.size(), 1u);
  world.on(protocol::timer_fired{timers[0].timer});
  const auto* answer = world.find<protocol::plan_answer>();
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->why_not.primary, reason_code::view_stale);
  EXPECT_EQ(answer->why_not.detail, "1 of 2 shards have told their nodes");
}

TEST_F(Topology, cuts_a_plan_into_slices_with_quotes) {
  world.cluster({{.name = "a", .rack = rack_in(0), .facts_hash = 11},
                 {.name = "b", .rack = rack_in(1), .facts_hash = 22}});
  const auto gang = gang_of("g", 16, 1);
  const auto answer = world.ask(gang);
  ASSERT_NE(answer.placement, nullptr);
  EXPECT_EQ(answer.attempt, attempt_of("g"));
  const auto& slices = answer.placement->slices;
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[0].shard, base::shard_id{0});
  EXPECT_EQ(slices[1].shard, base::shard_id{1});
  EXPECT_EQ(slices[0].quotes, (std::vector<protocol::node_quote>{{{"uid-a"}, 11}}));
  EXPECT_EQ(slices[1].quotes, (std::vector<protocol::node_quote>{{{"uid-b"}, 22}}));
  ASSERT_EQ(slices[0].seats.size(), 8u);
  const auto& seat = slices[0].seats[0];
  EXPECT_TRUE(seat.pod == gang->members[0].uid || seat.pod == gang->members[8].uid);
  EXPECT_EQ(seat.node_name, base::node_name{"a"});
  EXPECT_EQ(seat.takes, gang->members[0].kind->takes);
}

TEST_F(Topology, names_the_domain_it_chose) {
  world.cluster({{.name = "a", .rack = rack_in(0)}, {.name = "b", .rack = rack_in(1)}});
  const auto answer = world.ask(gang_of("g", 8, 1, "rack"));
  ASSERT_NE(answer.placement, nullptr);
  EXPECT_EQ(answer.placement->domains.size(), 1u);
  EXPECT_TRUE(answer.placement->domains[0] == rack_in(0)
              || answer.placement->domains[0] == rack_in(1));
}

TEST_F(Topology, does_not_offer_the_same_seats_twice) {
  world.cluster({{.name = "a"}});
  EXPECT_TRUE(world.fits(gang_of("g1", 6, 1)));
  EXPECT_FALSE(world.fits(gang_of("g2", 6, 1)));
  EXPECT_TRUE(world.fits(gang_of("g3", 2, 1)));
}

TEST_F(Topology, answers_a_repeated_request_with_the_same_plan) {
  world.cluster({{.name = "a"}});
  const auto gang = gang_of("g", 6, 1);
  const auto first = world.ask(gang).placement;
  EXPECT_EQ(world.ask(gang).placement, first);
  EXPECT_TRUE(world.fits(gang_of("h", 2, 1))) << "the copy took no more room";
}

/// Three of four find room on one node, and at least two must.
struct LeftOut : Topology {
  protocol::gang_ptr gang() {
    auto out = std::make_shared<protocol::gang>(*gang_of("g", 4, 2));
    out->groups.front().min_count = 2;
    return out;
  }
};

TEST_F(LeftOut, a_plan_says_why_it_leaves_members_out) {
  world.cluster({{.name = "a", .gpus_used = 2}});
  const auto answer = world.ask(gang());
  ASSERT_NE(answer.placement, nullptr);
  EXPECT_EQ(answer.placement->seat_count(), 3u);
  EXPECT_EQ(answer.why_not.primary, base::reason_code::insufficient_resources);
  EXPECT_EQ(answer.why_not.dimension, gpu_name.text());
  EXPECT_EQ(answer.why_not.view_version, world.ask(gang_of("h", 9, 9)).why_not.view_version);
  const auto again = world.ask(gang());
  EXPECT_EQ(again.why_not, answer.why_not) << "so does a copy";
}

TEST_F(LeftOut, a_plan_for_everybody_says_nothing) {
  world.cluster({{.name = "a"}});
  const auto answer = world.ask(gang());
  ASSERT_NE(answer.placement, nullptr);
  EXPECT_EQ(answer.why_not, base::explanation{});
}

TEST_F(Topology, a_dropped_plan_gives_its_room_back_and_wakes_the_queue) {
  world.cluster({{.name = "a"}});
  ASSERT_TRUE(world.fits(gang_of("g", 6, 1)));
  const auto refused = world.ask(gang_of("h", 6, 1)).why_not.view_version;
  world.drop("g");
  ASSERT_NE(grew(), nullptr);
  EXPECT_GT(grew()->view_version, refused);
  EXPECT_EQ(grew()->most_free.of(gpu_name), 8);
  EXPECT_TRUE(world.fits(gang_of("h", 6, 1), 2));
  world.drop("g");
  EXPECT_TRUE(world.said.empty()) << "dropping twice changes nothing";
}

TEST_F(Topology, a_mark_ends_when_its_shard_has_settled_the_attempt) {
  const node_words a{.name = "a", .rack = rack_in(0)};
  const node_words b{.name = "b", .rack = rack_in(1)};
  world.cluster({a, b});
  ASSERT_TRUE(world.fits(gang_of("g", 16, 1)));
  auto held = room(a);
  for (int i = 0; i < 8; ++i)
    held.free -= gang_of("g", 1, 1)->members[0].kind->takes.amounts;
  world.delta(0, {held}, {attempt_of("g")});
  EXPECT_EQ(grew(), nullptr) << "the room went from the mark to the ledger";
  EXPECT_FALSE(world.fits(gang_of("h", 1, 1)));
  world.delta(1, {}, {attempt_of("g")});
  ASSERT_NE(grew(), nullptr) << "refused there: its room is free again";
  EXPECT_TRUE(world.fits(gang_of("h", 8, 1), 2));
  EXPECT_FALSE(world.fits(gang_of("i", 1, 1)));
}

TEST_F(Topology, a_mark_that_nobody_settles_expires) {
  world.cluster({{.name = "a"}});
  ASSERT_TRUE(world.fits(gang_of("g", 8, 1)));
  const auto timers = world.effects<protocol::arm>();
  ASSERT_EQ(timers.size(), 1u);
  EXPECT_EQ(timers[0].after, 2 * base::limits::prepare_timeout);
  world.on(protocol::timer_fired{timers[0].timer});
  EXPECT_NE(grew(), nullptr);
  EXPECT_TRUE(world.fits(gang_of("h", 8, 1)));
  world.on(protocol::timer_fired{timers[0].timer});
  EXPECT_TRUE(world.said.empty());
}

TEST_F(Topology, a_newer_attempt_of_a_gang_replaces_the_older_one) {
  world.cluster({{.name = "a"}});
  const auto gang = gang_of("g", 8, 1);
  ASSERT_TRUE(world.fits(gang, 1));
  EXPECT_TRUE(world.fits(gang, 2));
}

TEST_F(Topology, L1_a_node_that_changes_its_rack_wakes_the_queue_with_what_any_node_has) {
  const node_words a{.name = "a", .rack = rack_in(0), .gpus_used = 8};
  world.cluster({a, {.name = "b", .rack = rack_in(0), .gpus_used = 5}});
  auto moved = a;
  moved.rack = rack_in(0, 1);
  world.delta(0, {seen(moved)});
  ASSERT_NE(grew(), nullptr) << "members on a pin their gang to the new rack";
  EXPECT_EQ(grew()->most_free.of(gpu_name), 3) << "as b has";
}

TEST_F(Topology, L1_a_node_that_gets_a_rack_label_with_an_empty_value_has_changed_its_rack) {
  const node_words a{.name = "a", .rack = "", .gpus_used = 8};
  world.cluster({a, {.name = "b", .rack = "r0", .gpus_used = 5}});
  auto moved = a;
  moved.has_empty_rack = true;
  world.delta(home_of(a).value, {seen(moved)});
  ASSERT_NE(grew(), nullptr);
  EXPECT_EQ(grew()->most_free.of(gpu_name), 3) << "as b has";
}

TEST_F(Topology, tells_the_queue_what_a_delta_added) {
  const node_words a{.name = "a", .rack = rack_in(0), .gpus_used = 8};
  world.cluster({a});
  const auto refused = world.ask(gang_of("g", 2, 1)).why_not;
  auto freed = a;
  freed.gpus_used = 5;
  world.delta(0, {room(freed)});
  ASSERT_NE(grew(), nullptr);
  EXPECT_EQ(grew()->grown, 1u);
  EXPECT_GT(grew()->view_version, refused.view_version);
  EXPECT_EQ(grew()->most_free.of(gpu_name), 3);
  world.delta(0, {room(a)});
  EXPECT_EQ(grew(), nullptr) << "taking room wakes nobody";
}

TEST_F(Topology, losing_a_taint_is_growth_and_getting_one_is_not) {
  node_words a{.name = "a", .rack = rack_in(0)};
  world.cluster({a});
  a.taints = {{"t", "", api::taint_effect::no_schedule}};
  world.delta(0, {seen(a)});
  EXPECT_EQ(grew(), nullptr);
  EXPECT_FALSE(world.fits(gang_of("g", 1, 1)));
  a.taints.clear();
  world.delta(0, {seen(a)});
  EXPECT_NE(grew(), nullptr);
  EXPECT_TRUE(world.fits(gang_of("g", 1, 1), 2));
}

TEST_F(Topology, bound_members_are_found_by_node_name) {
  world.cluster({{.name = "a", .rack = "r0"}, {.name = "b", .rack = "r1"}});
  auto gang = std::make_shared<protocol::gang>(*gang_of("g", 2, 1, "rack"));
  gang->members[0].node = {"b"};
  const auto answer = world.ask(gang);
  ASSERT_NE(answer.placement, nullptr);
  EXPECT_EQ(answer.placement->seat_count(), 1u);
  EXPECT_EQ(answer.placement->slices[0].seats[0].node_name, base::node_name{"b"});
}

TEST_F(Topology, a_refusal_has_numbers_and_the_version_of_the_view) {
  world.cluster({{.name = "a", .gpus_used = 6}});
  const auto why = world.ask(gang_of("g", 4, 1)).why_not;
  EXPECT_EQ(why.primary, reason_code::insufficient_resources);
  EXPECT_EQ(why.placed, 2);
  EXPECT_EQ(why.wanted, 4);
  EXPECT_EQ(why.view_version, 2u) << "two deltas";
}

} // namespace
} // namespace tutti::placement::testing
