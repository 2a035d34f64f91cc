// Before the commit point: plans, votes, last looks; nothing of it leaves a trace.
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

using base::reason_code;
using testing::Test;

TEST_F(coordinator, asks_the_topology_for_the_whole_gang) {
  begins();
  auto asked = sent<plan_request>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().first, to(role_kind::topology));
  EXPECT_EQ(asked.front().second.who->members.size(), 2u);
}

TEST_F(coordinator, a_refused_plan_ends_the_attempt_with_the_planners_numbers) {
  begins();
  base::explanation why;
  why.primary = reason_code::never_fits;
  why.wanted = 2;
  hear(plan_answer{attempt, nullptr, why});
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::refused);
  EXPECT_EQ(ended()->why, why);
  EXPECT_EQ(take<retire>().size(), 1u);
}

TEST_F(coordinator, asks_the_preemption_coordinator_where_room_would_help) {
  begins();
  base::explanation why;
  why.primary = reason_code::insufficient_resources;
  hear(plan_answer{attempt, nullptr, why});
  EXPECT_EQ(sent<victims_wanted>().size(), 1u);
  hear(victims_answer{attempt, nullptr, reason_code::preemption_not_allowed});
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why.primary, reason_code::insufficient_resources);
  EXPECT_EQ(ended()->why.others, std::vector{reason_code::preemption_not_allowed});
}

TEST_F(coordinator, prepares_all_shards_at_once) {
  is_planned();
  EXPECT_EQ(sent<prepare>().size(), 2u);
}

TEST_F(coordinator, prepares_shard_after_shard_once_it_has_lost_too_often) {
  begins(base::limits::conflicts_before_sequential);
  hear(plan_answer{attempt, placement(), {}});
  EXPECT_EQ(sent<prepare>().size(), 1u);
  quiet();
  votes(0);
  auto next = sent<prepare>();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next.front().first, to_shard({1}));
}

TEST_F(coordinator, one_no_aborts_everywhere_and_writes_nothing) {
  is_planned();
  votes(0);
  votes(1, false);
  EXPECT_EQ(sent<abort_attempt>().size(), 2u);
  EXPECT_EQ(sent<plan_dropped>().size(), 1u);
  EXPECT_TRUE(take<decide>().empty());
  EXPECT_TRUE(take<append>().empty());
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
}

TEST_F(coordinator, a_lost_message_is_sent_again_only_to_the_silent_shard) {
  is_planned();
  votes(0);
  quiet();
  resend_is_due();
  auto again = sent<prepare>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().first, to_shard({1}));
}

TEST_F(coordinator, silence_beyond_the_prepare_timeout_aborts_and_names_the_shard) {
  is_planned();
  votes(0);
  deadline_passes(base::limits::prepare_timeout);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why.primary, reason_code::shard_unavailable);
  EXPECT_NE(ended()->why.detail.find("shard 1"), std::string::npos);
}

TEST_F(coordinator, a_vote_of_another_attempt_counts_for_nothing) {
  is_planned();
  votes(0);
  auto other = attempt;
  other.try_no = 99;
  hear(vote{.attempt = other, .shard = {1}, .shard_epoch = {1}, .incarnation = {5}, .yes = true});
  EXPECT_EQ(role->state(), attempt_state::preparing);
}

TEST_F(coordinator, votes_twice_from_one_shard_are_one_vote) {
  is_planned();
  votes(0);
  votes(0);
  EXPECT_EQ(role->state(), attempt_state::preparing);
}

TEST_F(coordinator, the_last_look_stops_a_gang_that_is_gone) {
  is_planned();
  all_vote_yes();
  last_look_sees(nullptr);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::stopped);
  EXPECT_TRUE(take<decide>().empty());
}

TEST_F(coordinator, the_last_look_stops_a_plan_for_a_pod_that_is_gone) {
  is_planned();
  all_vote_yes();
  last_look_sees(facts({}, {"p1"}));
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
}

TEST_F(coordinator, the_last_look_stops_a_plan_for_a_pod_that_somebody_bound) {
  is_planned();
  all_vote_yes();
  last_look_sees(facts({"p0"}));
  ASSERT_TRUE(ended());
  EXPECT_TRUE(take<decide>().empty());
}

TEST_F(coordinator, the_last_look_judges_by_the_minimum_of_that_moment) {
  is_planned();
  all_vote_yes();
  min_count = 3;
  last_look_sees(facts());
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why.wanted, 3);
}

TEST_F(coordinator, members_bound_before_count_towards_the_minimum) {
  pods = {"p0", "p1", "p2"};
  min_count = 3;
  begins();
  hear(plan_answer{attempt, placement({"p0"}), {}});
  votes(1);
  votes(2);
  last_look_sees(facts({"p0"}));
  auto asked = take<decide>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().what.bound_already, std::vector<std::uint32_t>{1});
}

/// Of three members, of which two must start, the plan has no seat for p0, and says why.
struct left_out : coordinator {
  void is_binding_without_p0() {
    pods = {"p0", "p1", "p2"};
    begins();
    base::explanation no_room;
    no_room.primary = reason_code::insufficient_resources;
    no_room.view_version = 7;
    hear(plan_answer{attempt, placement({"p0"}), no_room});
    votes(1);
    votes(2);
    last_look_sees(facts());
    store_decides();
    acks(1);
    acks(2);
    nodes_give_leave();
  }
};

TEST_F(left_out, the_end_says_why_members_have_no_seat_if_all_that_have_one_are_bound) {
  is_binding_without_p0();
  binds("p1");
  binds("p2");
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound);
  EXPECT_EQ(ended()->why.primary, reason_code::insufficient_resources);
  EXPECT_EQ(ended()->why.view_version, 7u);
}

TEST_F(left_out, the_end_says_nothing_of_them_after_a_takeover) {
  is_binding_without_p0();
  restarts();
  reads("p1", pod_state::pending);
  reads("p2", pod_state::pending);
  acks(1);
  acks(2);
  nodes_give_leave();
  binds("p1");
  binds("p2");
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why, base::explanation{});
}

TEST_F(coordinator, the_decision_holds_the_whole_plan_and_the_versions_of_the_last_look) {
  is_deciding();
  auto asked = take<decide>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().slot, slot_of(attempt));
  EXPECT_EQ(asked.front().what.chosen, *placement());
  EXPECT_EQ(asked.front().what.seat_versions, (std::vector<std::string>{"1", "1"}));
  EXPECT_TRUE(asked.front().riders.empty());
}

TEST_F(coordinator, on_the_fast_path_the_decision_carries_what_the_shards_promised) {
  role = std::make_unique<gang_role>(gang_role::options{.fast_path = true});
  is_planned();
  EXPECT_TRUE(sent<prepare>().front().second.fast);
  all_vote_yes();
  last_look_sees(facts());
  auto asked = take<decide>();
  ASSERT_EQ(asked.size(), 1u);
  ASSERT_EQ(asked.front().riders.size(), 2u);
  EXPECT_EQ(asked.front().riders[1].incarnation, base::incarnation_no{5});
}

TEST_F(coordinator, no_abort_is_sent_while_a_decide_is_outstanding) {
  is_deciding();
  quiet();
  votes(1, false);
  hear(pressure{attempt, {0}, {"node-uid-of-p0"}});
  resend_is_due();
  EXPECT_TRUE(sent<abort_attempt>().empty());
  EXPECT_EQ(role->state(), attempt_state::deciding);
}

TEST_F(coordinator, an_unknown_decide_is_settled_by_writing_the_same_again) {
  is_deciding();
  auto first = take<decide>();
  quiet();
  give(decide_unknown{slot_of(attempt)});
  auto again = take<decide>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().what, first.front().what);
}

TEST_F(coordinator, on_the_fast_path_the_repeated_write_carries_the_promises_again) {
  role = std::make_unique<gang_role>(gang_role::options{.fast_path = true});
  is_deciding();
  quiet();
  give(decide_unknown{slot_of(attempt)});
  ASSERT_EQ(take<decide>().size(), 1u);
  EXPECT_EQ(take<decide>().front().riders.size(), 2u)
      << "if the first write did not happen, the shards' promises are on no disk yet";
}

TEST_F(coordinator, whoever_loses_the_slot_obeys_what_is_there) {
  is_deciding();
  auto theirs = std::make_shared<decision>(take<decide>().front().what);
  theirs->by.epoch = {9};
  quiet();
  give(decided{slot_of(attempt), theirs});
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
  EXPECT_EQ(sent<abort_attempt>().size(), 2u);
}

TEST_F(coordinator, pressure_on_an_undecided_attempt_aborts_it) {
  is_planned();
  hear(pressure{attempt, {0}, {"node-uid-of-p0"}});
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
}

} // namespace
} // namespace tutti::protocol
