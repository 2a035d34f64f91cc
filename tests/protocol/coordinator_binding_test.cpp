// After the commit point: cover, leave of the nodes, Bindings, members given up.
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

TEST_F(coordinator, binds_nobody_before_the_acks_cover_the_gang) {
  is_committed();
  acks(0);
  EXPECT_TRUE(sent<may_bind>().empty());
  acks(1);
  EXPECT_EQ(sent<may_bind>().size(), 2u);
}

TEST_F(coordinator, a_slice_without_members_must_be_acked_before_anything_starts) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  acks(0);
  acks(1);
  EXPECT_EQ(role->state(), attempt_state::committing);
  EXPECT_TRUE(sent<evict>().empty());
  quiet();
  acks(9);
  EXPECT_EQ(role->state(), attempt_state::evicting);
  ASSERT_FALSE(sent<gang_progress>().empty());
  EXPECT_EQ(sent<gang_progress>().back().second.reason, base::reason_code::waiting_for_victims);
}

TEST_F(coordinator, a_binding_that_is_forbidden_keeps_its_room_and_says_so) {
  is_binding();
  quiet();
  binds("p0", bind_verdict::forbidden);
  ASSERT_FALSE(sent<gang_progress>().empty());
  EXPECT_EQ(sent<gang_progress>().back().second.reason, base::reason_code::api_forbidden);
  EXPECT_TRUE(sent<release>().empty());
  EXPECT_TRUE(take<amend>().empty()) << "nobody is given up yet";
}

TEST_F(coordinator, a_refused_slice_without_members_makes_the_plan_uncoverable) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  acks(9, true);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, the_condition_is_true_before_the_first_binding) {
  is_committed();
  quiet();
  all_ack();
  auto said = sent<set_condition>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said.front().second.status);
  EXPECT_TRUE(sent<bind>().empty());
}

TEST_F(coordinator, the_condition_is_true_no_sooner_than_the_victims_have_gone) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  quiet();
  all_ack();
  auto said = sent<set_condition>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said.front().second.status);
  EXPECT_EQ(said.front().second.reason, "Unschedulable");
  EXPECT_NE(said.front().second.message.find("preempting 1 victim"), std::string::npos)
      << said.front().second.message;
  quiet();
  hear(victim_gone{attempt, {"v0"}});
  said = sent<set_condition>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said.front().second.status);
  EXPECT_TRUE(sent<bind>().empty());
}

TEST_F(coordinator, a_group_that_goes_whole_and_its_pods_are_told_why) {
  victims = {{.pod = {"v0"}, .pod_name = {"b", "v0"}, .gang = {"V"}, .group = "v"},
             {.pod = {"v1"}, .pod_name = {"b", "v1"}, .gang = {"V"}, .group = "v"},
             {.pod = {"w"}, .pod_name = {"b", "w"}, .unit = 1, .gang = {"w"}}};
  is_committed();
  quiet();
  all_ack();
  std::vector<set_condition> of_others;
  for (const auto& [to, x] : sent<set_condition>())
    if (x.type == "DisruptionTarget")
      of_others.push_back(x);
  ASSERT_EQ(of_others.size(), 1u);
  EXPECT_EQ(of_others[0].name, (object_name{"b", "v"}));
  EXPECT_EQ(of_others[0].uid, "V");
  EXPECT_FALSE(of_others[0].is_pod);
  EXPECT_EQ(of_others[0].reason, "PreemptionByScheduler");
  const auto asked = sent<evict>();
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(asked[0].second.event,
            "Preempted by podgroup " + attempt.gang.value + " on node cluster");
}

TEST_F(coordinator, S9_victims_are_let_live_once_the_gang_is_gone) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  all_ack();
  quiet();
  hear(gang_deleted{{"another"}});
  EXPECT_TRUE(sent<stop_evicting>().empty());
  hear(gang_deleted{attempt.gang});
  EXPECT_EQ(sent<stop_evicting>().size(), 1u);
  hear(eviction_stopped{attempt});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, an_ack_of_an_older_epoch_does_not_count) {
  is_committed();
  acks(0, true, 2); // the new owner has lost the room
  acks(0, false, 1);
  acks(1);
  EXPECT_NE(role->state(), attempt_state::binding);
}

TEST_F(coordinator, with_a_minimum_of_one_the_acked_member_starts_and_the_other_is_given_up) {
  min_count = 1;
  is_committed();
  acks(0);
  EXPECT_EQ(role->state(), attempt_state::binding);
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
  acks(1, true);
  auto cancelled = take<amend>();
  ASSERT_EQ(cancelled.size(), 1u);
  EXPECT_EQ(cancelled.front().what.cancel, std::vector<base::pod_uid>{{"p1-uid"}});
}

TEST_F(coordinator, a_seat_binds_only_on_its_own_shards_ack) {
  min_count = 1;
  is_committed();
  acks(0);
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
  quiet();
  acks(1);
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
}

TEST_F(coordinator, asks_each_node_once_for_all_its_members) {
  pods = {"p0", "p1", "p2"};
  shard_of_pod = {{"p0", 0}, {"p1", 0}, {"p2", 0}};
  is_committed();
  all_ack();
  EXPECT_EQ(sent<may_bind>().size(), 3u) << "three nodes here";
}

TEST_F(coordinator, a_node_that_refuses_is_asked_again_and_given_up_when_patience_ends) {
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {{"p0-uid"}}, {}, false});
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {}, {{"p1-uid"}}, false});
  binds("p0");
  quiet();
  resend_is_due();
  EXPECT_EQ(sent<may_bind>().size(), 1u);
  quiet();
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {}, {{"p1-uid"}}, false});
  time_passes(base::limits::leave_patience - 201ms, 0);
  EXPECT_TRUE(take<amend>().empty());
  time_passes(1ms, 0);
  EXPECT_EQ(take<amend>().size(), 1u) << "counted from its first refusal";
}

TEST_F(coordinator, never_binds_to_a_node_that_is_gone) {
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {{"p0-uid"}}, {}, false});
  binds("p0");
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {}, {}, true});
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
  EXPECT_EQ(take<amend>().size(), 1u);
}

TEST_F(coordinator, a_pod_that_was_edited_is_bound_on_the_version_that_was_read) {
  is_binding();
  quiet();
  binds("p0", bind_verdict::moved, "17");
  EXPECT_TRUE(bound_by_us().empty()) << "not with the leave that was given for the version before";
  nodes_give_leave();
  auto again = sent<bind>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().second.resource_version, "17");
}

TEST_F(coordinator,
       S1b_a_binding_that_came_to_nothing_needs_leave_once_more_and_not_in_a_hot_loop) {
  is_binding();
  quiet();
  binds("p0", bind_verdict::moved, "1");
  EXPECT_TRUE(sent<may_bind>().empty()) << "the timer asks, ever later";
  EXPECT_TRUE(bound_by_us().empty());
  resend_is_due();
  EXPECT_EQ(sent<may_bind>().size(), 1u);
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
}

TEST_F(coordinator, S1b_a_node_that_was_made_anew_meanwhile_is_not_bound_to) {
  is_binding();
  binds("p1");
  quiet();
  binds("p0", bind_verdict::moved, "1");
  resend_is_due();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {}, {}, true});
  EXPECT_TRUE(bound_by_us().empty());
  EXPECT_EQ(take<amend>().size(), 1u);
}

TEST_F(coordinator, S1b_a_binder_that_may_have_died_is_asked_what_became_of_a_binding) {
  is_binding();
  quiet();
  for (int i = 0; i < 8; ++i)
    resend_is_due();
  const auto asked = sent<bind>();
  ASSERT_FALSE(asked.empty());
  for (const auto& [to, m] : asked)
    EXPECT_EQ(m.resource_version, "") << "read, and not posted: the leave is old";
}

TEST_F(coordinator, S1b_a_second_copy_of_a_read_is_no_leave) {
  is_committed();
  restarts();
  reads("p0", pod_state::pending);
  reads("p1", pod_state::pending);
  all_ack();
  quiet();
  reads("p0", pod_state::pending);
  EXPECT_TRUE(bound_by_us().empty());
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
}

TEST_F(coordinator, a_lost_node_before_any_binding_withdraws_the_gang) {
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {}, {}, true});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, a_withdrawal_waits_for_the_binding_in_flight) {
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {{"p0-uid"}}, {}, false});
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {}, {}, true});
  EXPECT_EQ(role->state(), attempt_state::binding);
  binds("p0", bind_verdict::gone);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, cancel_is_durable_then_the_pod_is_touched_then_the_room_is_released) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  EXPECT_TRUE(sent<touch>().empty());
  store_amends();
  EXPECT_EQ(sent<touch>().size(), 1u);
  EXPECT_TRUE(sent<release>().empty());
  touched("p1");
  EXPECT_EQ(sent<release>().size(), 1u);
}

TEST_F(coordinator, a_stale_binding_that_beats_the_touch_keeps_its_room) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  store_amends();
  touched("p1", pod_state::bound, "node-of-p1");
  EXPECT_TRUE(sent<release>().empty());
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound);
}

TEST_F(coordinator, a_pod_deleted_in_mid_flight_is_given_up_with_its_cause) {
  pods = {"p0", "p1", "p2"};
  is_binding();
  binds("p0");
  binds("p1");
  binds("p2", bind_verdict::gone);
  store_amends();
  EXPECT_TRUE(sent<touch>().empty());
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound) << "two of two that the gang needs";
  EXPECT_EQ(ended()->members_bound, (std::vector<base::pod_uid>{{"p0-uid"}, {"p1-uid"}}));
  EXPECT_NE(ended()->why.detail.find("PodGone"), std::string::npos);
}

TEST_F(coordinator, several_members_are_cancelled_in_one_write) {
  pods = {"p0", "p1", "p2", "p3"};
  min_count = 1;
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::gone);
  binds("p2", bind_verdict::gone);
  binds("p3", bind_verdict::gone);
  ASSERT_EQ(take<amend>().size(), 1u) << "one amendment is under way at a time";
  store_amends();
  auto second = take<amend>();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second.front().what.cancel.size(), 2u);
}

TEST_F(coordinator, victims_that_stay_beyond_the_deadline_withdraw_the_attempt) {
  victims = {{.pod = {"v0"}, .node = {"n"}, .grace_ms = 30000}};
  is_committed();
  all_ack();
  deadline_passes(90s);
  EXPECT_EQ(sent<stop_evicting>().size(), 1u);
  hear(eviction_stopped{attempt});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, tells_its_end_once_and_retires) {
  is_binding();
  binds("p0");
  binds("p1");
  store_amends();
  EXPECT_EQ(sent<attempt_over>().size(), 1u);
  EXPECT_EQ(take<retire>().size(), 1u);
  quiet();
  acks(0);
  give(timer_fired{{0, 0}});
  EXPECT_TRUE(out.empty());
}

} // namespace
} // namespace tutti::protocol
