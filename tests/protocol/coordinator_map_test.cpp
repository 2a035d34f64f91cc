// Rule 5: after the decision, acks count only with the epoch that the partition map has.
#include <gtest/gtest.h>

#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

struct coordinator_map : coordinator {
  coordinator_map() { role = std::make_unique<gang_role>(gang_role::options{.reads_map = true}); }

  void map_says(std::vector<std::uint64_t> epochs) { hear(map_told{attempt, std::move(epochs)}); }
  /// A later owner resumes the decision, has read every member, and is covered.
  void succeeds() {
    is_committed();
    role = std::make_unique<gang_role>(gang_role::options{.reads_map = true});
    hear(resume_decision{durable, {8}, {3}, 1});
    map_says({1, 1});
    quiet();
    all_ack();
    for (const auto& pod : pods)
      reads(pod, pod_state::pending);
    ASSERT_TRUE(is_covered());
  }
  bool is_covered() { return role->state() == attempt_state::binding; }
};

TEST_F(coordinator_map, the_map_is_read_after_the_decision_and_nothing_counts_before) {
  is_deciding();
  EXPECT_TRUE(sent<map_wanted>().empty());
  store_decides();
  ASSERT_EQ(sent<map_wanted>().size(), 1u);
  EXPECT_EQ(sent<map_wanted>()[0].first, to(role_kind::keeper));
  all_ack();
  EXPECT_FALSE(is_covered());
  map_says({1, 1});
  EXPECT_TRUE(is_covered()) << "what came early is not asked for again";
}

TEST_F(coordinator_map, an_ack_of_an_older_owner_does_not_count) {
  is_committed();
  map_says({1, 2});
  acks(0);
  acks(1, false, 1);
  EXPECT_FALSE(is_covered());
  acks(1, false, 2);
  EXPECT_TRUE(is_covered());
}

TEST_F(coordinator_map, a_refusal_of_an_older_owner_does_not_count) {
  is_committed();
  map_says({1, 2});
  acks(1, true, 1);
  EXPECT_EQ(role->state(), attempt_state::committing);
  acks(0);
  acks(1, false, 2);
  EXPECT_TRUE(is_covered());
}

TEST_F(coordinator_map, an_ack_of_a_newer_owner_asks_for_the_map_again) {
  is_committed();
  map_says({1, 1});
  quiet();
  acks(0);
  acks(1, false, 2);
  EXPECT_FALSE(is_covered());
  ASSERT_EQ(sent<map_wanted>().size(), 1u);
  map_says({1, 2});
  EXPECT_TRUE(is_covered());
}

TEST_F(coordinator_map, an_ack_is_void_if_the_owner_changes_before_the_gang_is_covered) {
  is_committed();
  map_says({1, 1});
  acks(0);
  acks(1, false, 2); // the map is asked again …
  map_says({2, 2});  // … and shard 0 is somebody else's, too
  EXPECT_FALSE(is_covered());
  acks(0, false, 2);
  EXPECT_TRUE(is_covered());
}

TEST_F(coordinator_map, a_question_that_was_lost_is_asked_again) {
  is_committed();
  quiet();
  resend_is_due();
  EXPECT_EQ(sent<map_wanted>().size(), 1u);
  map_says({1, 1});
  quiet();
  resend_is_due();
  EXPECT_TRUE(sent<map_wanted>().empty());
}

TEST_F(coordinator_map, a_successor_reads_the_map_before_it_counts) {
  is_committed();
  role = std::make_unique<gang_role>(gang_role::options{.reads_map = true});
  quiet();
  hear(resume_decision{durable, {8}, {3}, 1});
  EXPECT_EQ(sent<map_wanted>().size(), 1u);
  reads("p0", pod_state::pending);
  reads("p1", pod_state::pending);
  all_ack();
  EXPECT_FALSE(is_covered());
  map_says({1, 1});
  EXPECT_TRUE(is_covered());
}

// ---------------------------------------------------------------- nobody owns the shards

TEST_F(coordinator_map, a_plan_of_which_no_shard_votes_waits_for_their_next_owner) {
  is_planned();
  for (int n = 0; n < 15; ++n) {
    quiet();
    deadline_passes(base::limits::prepare_timeout);
    ASSERT_FALSE(ended()) << n;
    ASSERT_EQ(sent<gang_progress>().size(), 1u);
    EXPECT_EQ(sent<gang_progress>()[0].second.reason, base::reason_code::shard_unavailable);
  }
  quiet();
  resend_is_due();
  EXPECT_EQ(sent<prepare>().size(), 2u) << "they are asked all the time";
  all_vote_yes();
  EXPECT_EQ(role->state(), attempt_state::looking);
}

TEST_F(coordinator_map, a_plan_of_which_no_shard_ever_votes_is_given_up_after_half_a_minute) {
  is_planned();
  for (int n = 0; n < 16; ++n) {
    ASSERT_FALSE(ended()) << n;
    deadline_passes(base::limits::prepare_timeout);
  }
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why.primary, base::reason_code::shard_unavailable);
  EXPECT_EQ(ended()->why.detail, "no vote from shard 0, 1");
}

TEST_F(coordinator_map, a_plan_of_which_one_shard_votes_holds_its_room_no_longer_than_ever) {
  is_planned();
  votes(0);
  deadline_passes(base::limits::prepare_timeout);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->why.detail, "no vote from shard 1");
}

// ---------------------------------------------------------------- read, look, post (rule 7)

TEST_F(coordinator_map, what_the_last_look_read_is_posted_without_another_look) {
  is_committed();
  map_says({1, 1});
  quiet();
  all_ack();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), pods);
  EXPECT_TRUE(take<amend>().empty());
}

TEST_F(coordinator_map, a_successor_looks_at_the_record_before_it_posts_what_it_has_read) {
  succeeds();
  EXPECT_TRUE(sent<may_bind>().empty());
  ASSERT_EQ(take<amend>().size(), 1u) << "one look for all";
  EXPECT_TRUE(take<amend>()[0].what.adopt);
  EXPECT_EQ(take<amend>()[0].what.by.value, 8u);
  store_amends();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), pods);
}

TEST_F(coordinator_map, Q1_a_look_that_finds_a_later_owner_stops_every_post) {
  succeeds();
  const auto look = take<amend>();
  ASSERT_EQ(look.size(), 1u);
  quiet();
  auto adopted = std::make_shared<decision>(*durable);
  adopted->adopted_by = {9};
  give(amend_refused{look[0].slot, adopted});
  EXPECT_TRUE(take<rebuild>().empty()) << "a takeover is no death that a gang dies of";
  ASSERT_EQ(sent<new_epoch>().size(), 1u) << "the keeper looks whose the partition is";
  EXPECT_EQ(sent<new_epoch>()[0].first, to(role_kind::keeper));
  EXPECT_EQ(sent<new_epoch>()[0].second.epoch.value, 10u);
  resend_is_due();
  EXPECT_TRUE(sent<may_bind>().empty());
  EXPECT_TRUE(bound_by_us().empty());
}

TEST_F(coordinator_map, a_look_at_a_record_that_is_gone_begins_the_gang_anew) {
  succeeds();
  const auto look = take<amend>();
  ASSERT_EQ(look.size(), 1u);
  quiet();
  give(amend_refused{look[0].slot, nullptr});
  EXPECT_EQ(take<rebuild>().size(), 1u);
  EXPECT_TRUE(bound_by_us().empty());
}

TEST_F(coordinator_map, a_pod_that_was_edited_is_looked_at_before_it_is_posted_again) {
  is_committed();
  map_says({1, 1});
  all_ack();
  nodes_give_leave();
  quiet();
  binds("p0", bind_verdict::moved, "9"); // by a label, or by the touch of a later owner
  EXPECT_TRUE(bound_by_us().empty());
  EXPECT_EQ(take<amend>().size(), 1u);
  binds("p1", bind_verdict::moved, "8"); // read after that look was asked for
  store_amends();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p0"});
  EXPECT_EQ(take<amend>().size(), 1u) << "p1 needs a look of its own";
  store_amends();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
}

TEST_F(coordinator_map,
       members_that_a_withdrawal_has_touched_are_looked_at_before_they_are_posted) {
  is_committed();
  map_says({1, 1});
  acks(0);
  acks(1, true);
  ASSERT_EQ(role->state(), attempt_state::withdrawing);
  touched("p1");
  acks(1);
  quiet();
  touched("p0", pod_state::bound, "node-of-p0"); // no withdrawal then (C14)
  EXPECT_TRUE(sent<may_bind>().empty());
  EXPECT_EQ(take<amend>().size(), 1u);
  store_amends();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
}

TEST_F(coordinator_map, Q2_whoever_loses_its_slot_tells_its_partition_the_winner) {
  is_deciding();
  auto theirs = std::make_shared<decision>(take<decide>().front().what);
  theirs->by.epoch = {9};
  give(decided{slot_of(attempt), theirs});
  ASSERT_EQ(sent<resume_decision>().size(), 1u);
  EXPECT_EQ(sent<resume_decision>()[0].first, to_partition({3}));
  EXPECT_EQ(sent<resume_decision>()[0].second.what->by, theirs->by);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
}

} // namespace
} // namespace tutti::protocol
