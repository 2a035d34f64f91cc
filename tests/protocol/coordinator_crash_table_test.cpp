// The crash table of the coordinator, row by row: what is durable then, and what happens after
// recovery.
#include <algorithm>

#include "base/hash.hpp"
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

std::vector<std::uint64_t> hashes_of(const std::vector<std::string>& pods) {
  std::vector<std::uint64_t> out;
  for (const auto& p : pods)
    out.push_back(base::hash_of(p));
  std::sort(out.begin(), out.end());
  return out;
}

struct crash_table : coordinator {
  void everyone_is_pending() {
    for (const auto& p : pods)
      reads(p, pod_state::pending);
  }
  void all_bind() {
    for (const auto& p : pods)
      binds(p);
  }
};

TEST_F(crash_table, C0_nothing_is_durable_before_any_prepare) {
  begins();
  EXPECT_TRUE(passed("C0"));
  EXPECT_TRUE(take<append>().empty());
  EXPECT_TRUE(take<decide>().empty());
}

TEST_F(crash_table, C1_some_prepares_are_out_and_nothing_is_decided) {
  is_planned();
  EXPECT_TRUE(passed("C1"));
  EXPECT_TRUE(take<decide>().empty());
}

TEST_F(crash_table, C2_all_votes_are_yes_and_the_fault_point_stands_before_the_write) {
  is_planned();
  all_vote_yes();
  quiet();
  last_look_sees(facts());
  auto is_fault = [](const effect& e) { return std::holds_alternative<fault>(e); };
  auto is_decide = [](const effect& e) { return std::holds_alternative<decide>(e); };
  auto at_fault = std::find_if(out.begin(), out.end(), is_fault);
  auto at_decide = std::find_if(out.begin(), out.end(), is_decide);
  ASSERT_NE(at_decide, out.end());
  EXPECT_LT(at_fault, at_decide);
  EXPECT_EQ(std::get<fault>(*at_fault).id, "C2");
}

TEST_F(crash_table, C3_a_decision_that_is_absent_leads_to_nothing) {
  is_deciding();
  EXPECT_TRUE(sent<commit>().empty());
  EXPECT_TRUE(sent<bind>().empty());
}

TEST_F(crash_table, C4_decision_is_durable_no_commit_sent) {
  is_committed();
  EXPECT_TRUE(passed("C4"));
  restarts();
  EXPECT_EQ(sent<commit>().size(), 2u);
  EXPECT_EQ(sent<read_pod>().size(), 2u);
  everyone_is_pending();
  EXPECT_TRUE(bound_by_us().empty()) << "no Binding before cover";
  all_ack();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us().size(), 2u);
}

TEST_F(crash_table, C5_some_shards_acked_and_the_rest_hear_the_commit_again) {
  is_committed();
  acks(0);
  EXPECT_TRUE(passed("C5"));
  restarts();
  EXPECT_EQ(sent<commit>().size(), 2u) << "acks are not remembered: they say `held now`";
  everyone_is_pending();
  acks(1);
  EXPECT_EQ(role->state(), attempt_state::committing);
  acks(0);
  EXPECT_EQ(role->state(), attempt_state::binding);
}

TEST_F(crash_table, C6_after_some_evictions_the_same_victims_are_evicted_again) {
  victims = {{.pod = {"v0"}, .node = {"n"}}, {.pod = {"v1"}, .node = {"n"}}};
  is_committed();
  all_ack();
  EXPECT_EQ(sent<evict>().size(), 2u);
  hear(victim_gone{attempt, {"v0"}});
  EXPECT_TRUE(passed("C6"));
  EXPECT_TRUE(sent<may_bind>().empty()) << "one victim is still there";
  restarts();
  everyone_is_pending();
  all_ack();
  auto again = sent<evict>();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].second.who.pod, base::pod_uid{"v0"});
  hear(victim_gone{attempt, {"v0"}});
  hear(victim_gone{attempt, {"v1"}});
  EXPECT_EQ(role->state(), attempt_state::binding);
}

TEST_F(crash_table, C6_nobody_else_is_evicted_whoever_might_do_as_well) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  all_ack();
  auto others = std::make_shared<plan>(*placement());
  others->slices.back().victims = {{.pod = {"v9"}, .node = {"n"}}};
  hear(victims_answer{attempt, others, base::reason_code::none});
  resend_is_due();
  EXPECT_TRUE(sent<victims_wanted>().empty());
  for (const auto& [to, m] : sent<evict>())
    EXPECT_EQ(m.who.pod, base::pod_uid{"v0"});
}

/// A DELETE of the former life may still be on its way: touched first, it is refused.
TEST_F(crash_table, S9_a_withdrawal_after_a_crash_stops_the_evictions_of_the_former_life) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  all_ack();
  EXPECT_EQ(sent<evict>().size(), 1u);
  restarts();
  reads("p0", pod_state::gone);
  reads("p1", pod_state::pending);
  auto stops = sent<stop_evicting>();
  ASSERT_EQ(stops.size(), 1u);
  EXPECT_EQ(stops[0].second.who.size(), 1u);
  EXPECT_TRUE(sent<touch>().empty()) << "members come after the victims";
  hear(eviction_stopped{attempt});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(crash_table, S9_a_withdrawal_after_a_crash_goes_on_when_the_victims_turn_out_to_be_gone) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  all_ack();
  restarts();
  reads("p0", pod_state::gone);
  reads("p1", pod_state::pending);
  EXPECT_EQ(sent<stop_evicting>().size(), 1u);
  hear(victim_gone{attempt, {"v0"}});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  hear(eviction_stopped{attempt});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
}

TEST_F(crash_table, C7_every_member_is_read_and_only_the_unbound_are_bound) {
  is_binding();
  binds("p0");
  EXPECT_TRUE(passed("C7"));
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::pending);
  all_ack();
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
}

TEST_F(crash_table, C7_a_member_that_is_bound_elsewhere_is_accounted_for) {
  is_binding();
  binds("p0");
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::bound, "somewhere-else");
  all_ack();
  store_amends();
  EXPECT_TRUE(sent<touch>().empty()) << "a pod seen bound needs no touch";
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded);
  EXPECT_EQ(ended()->why.primary, base::reason_code::bind_refused);
  EXPECT_NE(ended()->why.detail.find("BoundElsewhere"), std::string::npos);
}

TEST_F(crash_table, C8_all_bound_and_done_not_written) {
  is_binding();
  all_bind();
  EXPECT_TRUE(passed("C8"));
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::bound, "node-of-p1");
  all_ack();
  EXPECT_TRUE(bound_by_us().empty());
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound);
}

TEST_F(crash_table, C9_done_is_durable_before_the_shards_hear_finish) {
  is_binding();
  all_bind();
  EXPECT_TRUE(sent<finish>().empty());
  store_amends();
  EXPECT_EQ(sent<finish>().size(), 2u);
  EXPECT_TRUE(passed("C9"));
  EXPECT_TRUE(durable->is_done);
}

TEST_F(crash_table, C10_before_the_cancel_is_durable_nothing_has_happened) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  EXPECT_TRUE(passed("C10"));
  EXPECT_TRUE(sent<touch>().empty());
  EXPECT_TRUE(sent<release>().empty());
}

TEST_F(crash_table, C11_a_cancelled_member_that_is_bound_stays) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  store_amends();
  EXPECT_TRUE(passed("C11"));
  EXPECT_EQ(sent<touch>().size(), 1u);
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::bound, "node-of-p1");
  all_ack();
  EXPECT_TRUE(sent<release>().empty());
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::bound);
  EXPECT_EQ(bound_by(*durable), bound_by(tombstone_of(*durable)));
  EXPECT_EQ(bound_by(*durable), hashes_of({"p0-uid", "p1-uid"})) << "who lives next is told so";
}

TEST_F(crash_table, C12_a_touched_member_that_was_bound_before_is_told_as_bound) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  store_amends();
  touched("p1", pod_state::bound, "node-of-p1");
  all_ack();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(bound_by(*durable), hashes_of({"p0-uid", "p1-uid"}));
}

TEST_F(crash_table, C11_a_cancelled_member_that_is_not_bound_is_touched_then_released) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  store_amends();
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::pending);
  EXPECT_EQ(sent<touch>().size(), 1u);
  EXPECT_TRUE(sent<release>().empty());
  touched("p1");
  EXPECT_EQ(sent<release>().size(), 1u);
}

TEST_F(crash_table, C12_touching_again_after_a_restart_is_harmless) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  store_amends();
  touched("p1");
  EXPECT_TRUE(passed("C12"));
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::pending);
  all_ack();
  nodes_give_leave();
  EXPECT_TRUE(bound_by_us().empty()) << "a cancelled member is never bound again";
  touched("p1");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded);
  EXPECT_EQ(bound_by(*durable), hashes_of({"p0-uid"}));
}

TEST_F(crash_table, C13_a_withdrawal_goes_on_and_never_binds_again) {
  is_committed();
  acks(0);
  acks(1, true);
  touched("p0");
  touched("p1");
  store_amends();
  EXPECT_TRUE(passed("C13"));
  EXPECT_EQ(durable->cancelled.size(), 2u) << "all in one write";
  restarts();
  everyone_is_pending();
  all_ack();
  nodes_give_leave();
  EXPECT_TRUE(bound_by_us().empty());
  touched("p0");
  touched("p1");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::withdrawn);
  EXPECT_TRUE(ended()->members_bound.empty());
}

TEST_F(crash_table, C14_a_member_found_bound_at_the_first_touch_ends_the_withdrawal) {
  is_committed();
  acks(0);
  acks(1, true);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  touched("p0", pod_state::bound, "node-of-p0");
  EXPECT_TRUE(passed("C14"));
  EXPECT_EQ(role->state(), attempt_state::binding);
  store_amends(); // p1's room is lost: given up alone
  EXPECT_EQ(durable->cancelled, std::vector<base::pod_uid>{{"p1-uid"}});
}

TEST_F(crash_table, C14_members_whose_room_is_held_are_bound_the_others_given_up_one_by_one) {
  pods = {"p0", "p1", "p2"};
  min_count = 3;
  is_committed();
  acks(0);
  acks(1);
  acks(2, true);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  touched("p1");
  touched("p0", pod_state::bound, "node-of-p0");
  ASSERT_EQ(role->state(), attempt_state::binding);
  touched("p2"); // its answer was on its way
  EXPECT_TRUE(sent<release>().empty()) << "nothing is released before its CANCEL is durable";
  nodes_give_leave();
  EXPECT_EQ(bound_by_us(), std::vector<std::string>{"p1"});
  for (auto& [to, m] : sent<bind>())
    EXPECT_EQ(m.resource_version, "3") << "what our own touch made of it";
  binds("p1");
  store_amends();
  EXPECT_EQ(durable->cancelled, std::vector<base::pod_uid>{{"p2-uid"}});
  touched("p2");
  releases_are_acked();
  store_amends();
  EXPECT_TRUE(durable->is_done);
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded) << "the queue tries for p2 alone";
  EXPECT_EQ(ended()->bound, 2u);
  EXPECT_EQ(ended()->members_bound, (std::vector<base::pod_uid>{{"p0-uid"}, {"p1-uid"}}));
}

TEST_F(crash_table, C14_a_crash_after_it_finds_the_member_bound_and_goes_on_the_same_way) {
  is_committed();
  acks(0);
  acks(1, true);
  touched("p0", pod_state::bound, "node-of-p0");
  ASSERT_TRUE(passed("C14"));
  restarts();
  reads("p0", pod_state::bound, "node-of-p0");
  reads("p1", pod_state::pending);
  acks(0);
  acks(1, true);
  EXPECT_EQ(role->state(), attempt_state::binding) << "never withdrawn again";
  store_amends();
  EXPECT_EQ(durable->cancelled, std::vector<base::pod_uid>{{"p1-uid"}});
  touched("p1");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded);
  EXPECT_EQ(ended()->bound, 1u);
}

TEST_F(crash_table, Q0_a_paused_owner_that_finds_the_slot_closed_obeys_the_abort) {
  is_deciding();
  auto closed = std::make_shared<decision>();
  closed->by = attempt;
  closed->by.epoch = {9};
  closed->what = verdict::aborted;
  quiet();
  give(decided{slot_of(attempt), closed});
  ASSERT_TRUE(ended());
  EXPECT_TRUE(sent<commit>().empty());
  EXPECT_TRUE(bound_by_us().empty());
}

TEST_F(crash_table, Q1_bindings_of_a_paused_owner_name_versions_that_a_touch_has_moved) {
  is_binding();
  for (auto& [to, m] : sent<bind>()) {
    EXPECT_EQ(m.resource_version, "1") << "of the last look, read before the decision was written";
    EXPECT_FALSE(m.uid.value.empty());
  }
}

TEST_F(crash_table, Q2_whoever_comes_second_into_a_slot_gives_its_try_up) {
  is_deciding();
  auto theirs = std::make_shared<decision>(take<decide>().front().what);
  theirs->by.epoch = {8};
  quiet();
  give(decided{slot_of(attempt), theirs});
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::conflict);
  EXPECT_TRUE(sent<commit>().empty());
}

TEST_F(crash_table, Q3_an_owner_whose_cancel_is_refused_stops_without_another_word) {
  is_binding();
  binds("p0");
  binds("p1", bind_verdict::refused);
  auto adopted = std::make_shared<decision>(*durable);
  adopted->adopted_by = {9};
  quiet();
  give(amend_refused{slot_of(attempt), adopted});
  EXPECT_TRUE(sent<touch>().empty());
  EXPECT_TRUE(sent<release>().empty());
  EXPECT_FALSE(ended()) << "what it believes of the gang may be wrong: nothing is said of it";
  EXPECT_EQ(take<rebuild>().size(), 1u) << "the log says what is so";
  quiet();
  resend_is_due();
  EXPECT_TRUE(out.empty());
}

} // namespace
} // namespace tutti::protocol
