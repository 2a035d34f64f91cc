// Sequences that once went wrong, or nearly did: each tells what would have happened.
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

TEST_F(coordinator, posts_nothing_more_once_the_minimum_is_out_of_reach) {
  is_binding();
  binds("p1", bind_verdict::gone);
  store_amends();
  quiet();
  binds("p0", bind_verdict::moved, "9"); // somebody edited the pod: it is not bound
  EXPECT_TRUE(bound_by_us().empty()) << "one of two would run alone";
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(coordinator, a_node_that_allows_too_late_starts_no_binding) {
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {{"p0-uid"}}, {}, false});
  binds("p0", bind_verdict::gone);
  quiet();
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {{"p1-uid"}}, {}, false});
  EXPECT_TRUE(bound_by_us().empty());
}

TEST_F(coordinator, a_seat_that_waits_for_leave_is_given_up_when_its_shard_takes_its_word_back) {
  min_count = 1;
  is_committed();
  all_ack();
  hear(may_bind_answer{attempt, {"node-uid-of-p0"}, {{"p0-uid"}}, {}, false});
  binds("p0");
  quiet();
  acks(1, true);
  auto asked = take<amend>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().what.cancel, std::vector<base::pod_uid>{{"p1-uid"}});
  hear(may_bind_answer{attempt, {"node-uid-of-p1"}, {{"p1-uid"}}, {}, false});
  EXPECT_TRUE(bound_by_us().empty());
}

TEST_F(coordinator, a_pod_that_stays_gated_is_given_up_after_the_repair_deadline) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::gated);
  quiet();
  for (auto waited = 0s; waited < base::limits::repair_deadline; waited += 5s) {
    EXPECT_TRUE(take<amend>().empty());
    time_passes(5s, 0);
    nodes_give_leave();
    binds("p1", bind_verdict::gated);
  }
  deadline_passes(0s);
  EXPECT_FALSE(take<amend>().empty()) << "each refusal used to start the wait anew";
}

TEST_F(coordinator, no_commit_goes_to_a_shard_whose_members_are_all_given_up) {
  min_count = 1;
  is_committed();
  acks(0);
  acks(1, true);
  store_amends();
  touched("p1");
  releases_are_acked();
  quiet();
  resend_is_due();
  EXPECT_TRUE(sent<commit>().empty()) << "the shard would reserve what nobody releases";
}

TEST_F(coordinator, C7_a_member_that_ran_on_its_seat_and_finished_is_not_lost) {
  is_binding();
  binds("p0");
  restarts();
  reads("p0", pod_state::terminal, "node-of-p0");
  reads("p1", pod_state::pending);
  all_ack();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
}

TEST_F(coordinator, the_last_look_stops_a_plan_for_a_pod_that_asks_for_something_else_now) {
  is_planned();
  all_vote_yes();
  auto seen = std::make_shared<gang>(*facts());
  seen->members[1].kind = std::make_shared<shape>(shape{.id = {77}});
  last_look_sees(seen);
  ASSERT_TRUE(ended());
  EXPECT_TRUE(take<decide>().empty()) << "the shards hold the old amounts";
}

TEST_F(coordinator, the_last_look_stops_a_plan_for_another_domain) {
  is_planned();
  all_vote_yes();
  auto seen = std::make_shared<gang>(*facts());
  seen->groups[0].topology_key = "rack";
  last_look_sees(seen);
  ASSERT_TRUE(ended());
  EXPECT_TRUE(take<decide>().empty());
}

TEST_F(coordinator, an_evictor_that_died_is_asked_again_for_who_is_left) {
  victims = {{.pod = {"v0"}, .node = {"n"}}, {.pod = {"v1"}, .node = {"n"}}};
  is_committed();
  all_ack();
  hear(victim_gone{attempt, {"v0"}});
  quiet();
  resend_is_due();
  ASSERT_EQ(sent<evict>().size(), 1u);
  EXPECT_EQ(sent<evict>().front().second.who.pod, base::pod_uid{"v1"});
  deadline_passes(90s);
  quiet();
  resend_is_due();
  EXPECT_TRUE(sent<evict>().empty());
  EXPECT_EQ(sent<stop_evicting>().size(), 1u);
}

/// p0 and p1 share a shard and a node; p0 was bound by a former owner, and others have filled the
/// node since: the shard can never ack again, and COMMIT would have it hold p1 once more.
TEST_F(coordinator, P11_is_done_with_a_shard_that_refuses_when_nobody_there_needs_room_any_more) {
  min_count = 1;
  shard_of_pod = {{"p0", 0}, {"p1", 0}};
  is_binding();
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::pending);
  acks(0, true);
  store_amends(); // CANCEL of p1
  touched("p1");
  releases_are_acked();
  const auto asked = take<amend>();
  ASSERT_FALSE(asked.empty()) << "it waits for an ack that cannot come";
  EXPECT_TRUE(asked.back().what.finish);
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound);
  EXPECT_EQ(ended()->members_bound, std::vector<base::pod_uid>{{"p0-uid"}});
}

} // namespace
} // namespace tutti::protocol
