// Who may be tried at all, O-7.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

using Gating = QueueWorld;

TEST_F(Gating, nothing_is_tried_before_the_first_list_is_complete) {
  pod("a", {});
  EXPECT_EQ(tried(), names{});
  synced();
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Gating, q1_members_wait_for_a_group_that_has_not_been_seen) {
  synced();
  pod("a", {.group = "g"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "phase"), "Gated");
  EXPECT_EQ(row("g", "reason"), "WaitingForMembers");
  EXPECT_EQ(row("g", "detail"), "PodGroup ns/g does not exist");
  group("g", {});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Gating, q2_a_gang_below_its_minimum_waits_and_equality_passes) {
  synced();
  group("g", {.min = 2});
  EXPECT_EQ(row("g", "detail"), "0/2 members");
  pod("a", {.group = "g"});
  EXPECT_EQ(row("g", "reason"), "WaitingForMembers");
  EXPECT_EQ(row("g", "detail"), "1/2 members");
  EXPECT_EQ(tried(), names{});
  pod("b", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"a", "b"}));
  EXPECT_TRUE(take<protocol::set_condition>().empty()) << "as upstream: nothing is written";
}

TEST_F(Gating, q3_members_that_somebody_else_bound_count_for_the_quorum) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g"});
  const auto g = tried_gang();
  EXPECT_EQ(pods_of(g), (names{"b", "a"}));
  EXPECT_EQ(g->members[1].node.value, "n1");
  EXPECT_FALSE(g->has_started);
}

TEST_F(Gating, q4_a_gated_member_that_joins_while_its_gang_waits_for_room_holds_the_others_back) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  tried();
  refuse("g", 3);
  pod("c", {.group = "g", .gated = true});
  EXPECT_EQ(row("g", "reason"), "Gated");
  EXPECT_EQ(row("g", "detail"), "1 of 3 members have scheduling gates, and have joined while the "
                                "others waited for room");
  grew(4);
  pass(1h);
  EXPECT_EQ(tried(), names{});
  pod("c", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"a", "b", "c"}));
}

TEST_F(Gating, q4_a_basic_group_is_held_back_in_the_same_way_until_the_gated_member_is_gone) {
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g"});
  tried();
  refuse("g", 3);
  pod("c", {.group = "g", .gated = true});
  grew(4);
  pass(1h);
  EXPECT_EQ(tried(), names{});
  pod_gone("c");
  EXPECT_EQ(pods_of(tried_gang()), (names{"b", "a"}));
}

TEST_F(Gating, q4_who_holds_the_others_back_is_remembered_across_a_restart) {
  const auto tell_all = [&] {
    group("g", {.min = 2});
    for (const auto* name : {"a", "b"})
      pod(name, {.group = "g"});
  };
  synced();
  tell_all();
  refuse("g", 3);
  pod("c", {.group = "g", .gated = true});
  begin(queue->snapshot());
  pod("c", {.group = "g", .gated = true});
  tell_all();
  begin(queue->snapshot()); // before all is told again
  tell_all();
  pod("c", {.group = "g", .gated = true});
  synced();
  pass(1h);
  EXPECT_EQ(tried(), names{});
  pod("d", {.group = "g"});
  EXPECT_EQ(tried(), names{}) << "by a new one neither";
  pod("c", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"a", "b", "c", "d"}));
}

TEST_F(Gating, q4_departure_a_gated_member_neither_counts_nor_gates) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g", .gated = true});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "reason"), "Gated");
  EXPECT_EQ(row("g", "detail"), "1 of 2 members have scheduling gates");
  pod("c", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"a", "c"}));
}

TEST_F(Gating, a_gated_lone_pod_is_tried_once_its_gates_are_lifted) {
  synced();
  pod("a", {.gated = true});
  EXPECT_EQ(row("a", "reason"), "Gated");
  pod("a", {});
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Gating, finished_and_terminating_members_do_not_count) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g", .terminal = true});
  pod("b", {.group = "g", .deleting = true});
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "detail"), "1/2 members");
}

TEST_F(Gating, a_group_that_is_being_deleted_is_not_tried) {
  synced();
  group("g", {.deleting = true});
  pod("a", {.group = "g"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "reason"), "Gated");
}

TEST_F(Gating, q27_a_raised_minimum_gates_a_queued_gang_and_a_lowered_one_ungates_at_once) {
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  group("g", {.min = 3});
  synced();
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "attempts"), "0");
  group("g", {.min = 2});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Gating, q31_a_deleted_member_may_take_the_quorum_away) {
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  pod_gone("b");
  synced();
  EXPECT_EQ(tried(), names{});
  pod_gone("a");
  group_gone("g");
  EXPECT_EQ(read("gangs").as_array().size(), 0u);
}

TEST_F(Gating, q34_a_group_made_anew_is_a_new_gang_with_the_same_pods) {
  synced();
  group("g", {.min = 3});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  group_gone("g");
  EXPECT_EQ(row("g", "detail"), "PodGroup ns/g does not exist");
  group("g", {.min = 2, .uid = "second"});
  const auto g = tried_gang();
  EXPECT_EQ(g->uid.value, "second");
  EXPECT_EQ(pods_of(g), (names{"a", "b"}));
}

TEST_F(Gating, q34_a_missed_deletion_is_seen_by_the_new_uid) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  group("g", {.min = 1, .uid = "second"});
  EXPECT_EQ(tried_gang()->uid.value, "second");
  group_gone("g"); // late word of the first
  EXPECT_EQ(row("g", "uid"), "second");
}

TEST_F(Gating, o7_a_member_of_another_priority_is_refused_visibly) {
  synced();
  group("g", {.min = 2, .priority = 7});
  pod("a", {.group = "g", .priority = 7});
  pod("b", {.group = "g", .priority = 5});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "reason"), "SchedulerError");
  EXPECT_EQ(row("g", "detail"), "pod b has priority 5, its PodGroup 7");
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 3u) << "the group and both of its pods";
  EXPECT_EQ(said.back().reason, "SchedulerError");
  const auto events = take<protocol::emit_event>();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().about.name, "g");
  pod_gone("b");
  pod("c", {.group = "g", .priority = 7});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Gating, p3_a_gang_says_that_it_may_not_evict_others) {
  synced();
  pod("a", {.never_preempts = true});
  EXPECT_TRUE(tried_gang()->never_preempts);
  pod("b", {});
  EXPECT_FALSE(tried_gang()->never_preempts);
}

TEST_F(Gating, o7_in_the_dialect_of_1_36_mixed_priorities_are_tried_highest_first) {
  how.refuses_mixed_priorities = false;
  begin();
  synced();
  group("g", {.min = 2, .priority = 7});
  pod("a", {.group = "g", .priority = 5});
  pod("b", {.group = "g", .priority = 7});
  EXPECT_EQ(pods_of(tried_gang()), (names{"b", "a"}));
}

TEST_F(Gating, a_group_that_says_no_priority_has_that_of_its_members_who_must_agree) {
  how.has_group_priorities = false;
  begin();
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g", .priority = 7});
  pod("b", {.group = "g", .priority = 5});
  EXPECT_EQ(row("g", "detail"), "pod b has priority 5, its PodGroup 7");
  pod_gone("b");
  pod("c", {.group = "g", .priority = 7});
  EXPECT_EQ(tried(), names{"g"});
  EXPECT_EQ(row("g", "priority"), "7");
}

TEST_F(Gating, o7_a_member_of_another_scheduler_is_refused_visibly) {
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g", .scheduler = "default-scheduler"});
  EXPECT_EQ(row("g", "phase"), "") << "a group of somebody else is not ours to judge";
  pod("b", {.group = "g"});
  EXPECT_EQ(row("g", "detail"), "pod a names the scheduler default-scheduler, not tutti");
  EXPECT_EQ(tried(), names{});
}

TEST_F(Gating, a_group_that_cannot_be_scheduled_at_all_says_why_once) {
  synced();
  group("g", {.min = 1, .refused = "unknown policy"});
  pod("a", {.group = "g"});
  group("g", {.min = 1, .refused = "unknown policy"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "detail"), "unknown policy");
  EXPECT_EQ(take<protocol::set_condition>().size(), 2u);
  EXPECT_EQ(take<protocol::emit_event>().size(), 1u);
  group("g", {.min = 1});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Gating, a_member_that_asks_for_what_nobody_weighs_keeps_its_gang_out_visibly) {
  const std::string claim = "asks for spec.resourceClaims, which this scheduler does not weigh yet";
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g"});
  tried();
  over(new_attempt("g"), attempt_outcome::bound, {}, {"a"});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g", .refused = claim});
  EXPECT_EQ(tried(), names{}) << "it is not placed as if it had not asked";
  EXPECT_EQ(row("g", "reason"), "SchedulerError");
  EXPECT_EQ(row("g", "detail"), "pod b " + claim);
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 2u) << "the group, and the pod that waits";
  EXPECT_FALSE(said.front().is_pod);
  EXPECT_TRUE(said.front().status) << "it has started, and that is never taken back";
  EXPECT_EQ(said.back().name.name, "b");
  EXPECT_EQ(said.back().reason, "SchedulerError");
  EXPECT_EQ(said.back().message, "pod b " + claim);
  EXPECT_EQ(take<protocol::emit_event>().back().reason, "FailedScheduling");
  pod_gone("b");
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Gating, a_lone_pod_that_cannot_be_scheduled_says_why) {
  synced();
  pod("a", {.refused = "asks for spec.volumes[0], which this scheduler does not weigh yet"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("a", "reason"), "SchedulerError");
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said.front().is_pod);
  EXPECT_EQ(said.front().type, "PodScheduled");
}

TEST_F(Gating, an_attempt_under_way_is_not_decided_once_a_member_is_refused) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  const auto id = new_attempt("g");
  EXPECT_NE(last_look(id), nullptr);
  pod("b", {.group = "g", .version = "2", .refused = "asks for the moon"});
  EXPECT_EQ(last_look(id), nullptr);
}

TEST_F(Gating, a_lone_pod_of_another_scheduler_is_not_ours) {
  synced();
  pod("a", {.scheduler = "default-scheduler"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(read("gangs").as_array().size(), 0u);
}

TEST_F(Gating, a_pod_that_changes_its_group_moves) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("a", {});
  EXPECT_EQ(tried(), names{"a"});
  EXPECT_EQ(row("g", "detail"), "0/2 members");
}

// ---------------------------------------------------------------- groups that are no objects

TEST_F(Gating, where_groups_are_no_objects_everything_is_said_of_their_pods) {
  how.group_condition.clear();
  begin();
  synced();
  group("w/worker/r0", {.min = 2});
  pod("a", {.group = "w/worker/r0"});
  pod("b", {.group = "w/worker/r0"});
  EXPECT_EQ(tried(), names{"w/worker/r0"});
  refuse("w/worker/r0");
  const auto said = take<protocol::set_condition>();
  ASSERT_EQ(said.size(), 2u);
  EXPECT_TRUE(said.front().is_pod && said.back().is_pod);
  const auto events = take<protocol::emit_event>();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_TRUE(events.front().is_pod);
  EXPECT_EQ(events.front().about, (protocol::object_name{"ns", "a"}));
  EXPECT_EQ(events.front().uid, "uid-a");
}

TEST_F(Gating, where_groups_are_no_objects_their_priority_is_their_members_highest) {
  how.group_condition.clear();
  how.has_group_priorities = false;
  how.refuses_mixed_priorities = false;
  begin();
  group("low", {.min = 1});
  pod("a", {.group = "low", .priority = 1});
  group("high", {.min = 1, .created = 9});
  pod("b", {.group = "high", .priority = 5});
  pod("c", {.group = "high", .priority = 7});
  synced();
  EXPECT_EQ(tried(), (names{"high", "low"}));
  EXPECT_EQ(row("high", "priority"), "7");
  pod_gone("c");
  EXPECT_EQ(row("high", "priority"), "5");
}

} // namespace
} // namespace tutti::queue
