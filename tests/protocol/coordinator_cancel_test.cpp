// Members that are given up: by an operator, at the repair deadline, or to let the next plan begin.
#include "tests/protocol/coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

struct taking_back : coordinator {
  std::uint64_t questions = 0;

  void operator_says(std::vector<std::string> members = {}) {
    hear(cancel_gang{++questions, attempt.gang, {"ns", "g"}, false, std::move(members), "fire"});
  }
  /// The answer to the last word, and nothing but one.
  gang_cancelled answer() {
    auto said = sent<gang_cancelled>();
    EXPECT_FALSE(said.empty());
    EXPECT_EQ(said.back().first, to_partition({3}));
    EXPECT_EQ(said.back().second.id, questions);
    return said.back().second;
  }
  std::vector<std::string> events() {
    std::vector<std::string> found;
    for (auto& [to, m] : sent<emit_event>())
      if (!m.is_pod)
        found.push_back(m.reason);
    return found;
  }
  std::vector<base::pod_uid> cancels() {
    auto asked = take<amend>();
    return asked.empty() ? std::vector<base::pod_uid>{} : asked.back().what.cancel;
  }
  void leave_for(const std::string& pod) {
    hear(may_bind_answer{attempt, {"node-uid-of-" + pod}, {{pod + "-uid"}}, {}, false});
  }
  void no_leave_for(const std::string& pod) {
    hear(may_bind_answer{attempt, {"node-uid-of-" + pod}, {}, {{pod + "-uid"}}, false});
  }
};

// ---------------------------------------------------------------- an operator

TEST_F(taking_back, an_undecided_attempt_is_given_up_and_nothing_is_written) {
  is_planned();
  votes(0);
  operator_says();
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(sent<abort_attempt>().size(), 2u);
  EXPECT_TRUE(take<decide>().empty());
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::stopped);
  EXPECT_EQ(ended()->why.primary, base::reason_code::backing_off);
  EXPECT_NE(ended()->why.detail.find("fire"), std::string::npos);
  EXPECT_EQ(events(), std::vector<std::string>{"GangCancelled"});
}

TEST_F(taking_back, the_answer_leaves_before_the_actor_retires) {
  is_planned();
  quiet();
  operator_says();
  bool has_answered = false;
  for (const auto& e : out) {
    if (const auto* s = std::get_if<send>(&e))
      has_answered |= std::holds_alternative<gang_cancelled>(s->what);
    if (std::holds_alternative<retire>(e)) {
      EXPECT_TRUE(has_answered);
    }
  }
  EXPECT_TRUE(has_answered);
}

TEST_F(taking_back, a_member_of_an_undecided_attempt_cannot_be_given_up_alone) {
  is_planned();
  operator_says({"p0"});
  EXPECT_FALSE(answer().is_done);
  EXPECT_NE(answer().text.find("nothing is decided yet"), std::string::npos);
  EXPECT_FALSE(ended());
}

TEST_F(taking_back, nothing_is_aborted_while_a_decide_is_outstanding) {
  is_deciding();
  operator_says();
  EXPECT_FALSE(answer().is_done);
  EXPECT_TRUE(sent<abort_attempt>().empty());
  EXPECT_EQ(role->state(), attempt_state::deciding);
}

TEST_F(taking_back, a_decided_plan_of_which_nobody_is_bound_is_withdrawn) {
  is_committed();
  acks(0);
  operator_says();
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  EXPECT_EQ(sent<touch>().size(), 2u) << "every member is touched first";
  EXPECT_TRUE(cancels().empty());
  touched("p0");
  touched("p1");
  EXPECT_EQ(cancels().size(), 2u);
  store_amends();
  touched("p0");
  touched("p1");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::withdrawn);
}

TEST_F(taking_back, one_member_goes_by_cancel_then_touch_then_release) {
  min_count = 1;
  is_committed();
  acks(0);
  operator_says({"p1"});
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(cancels(), std::vector<base::pod_uid>{{"p1-uid"}});
  EXPECT_TRUE(sent<touch>().empty());
  EXPECT_TRUE(sent<release>().empty());
  store_amends();
  EXPECT_EQ(sent<touch>().size(), 1u);
  EXPECT_TRUE(sent<release>().empty());
  touched("p1");
  EXPECT_EQ(sent<release>().size(), 1u);
}

TEST_F(taking_back, a_bound_member_stays_and_the_operator_hears_what_to_do) {
  is_binding();
  binds("p0");
  operator_says({"p0"});
  EXPECT_FALSE(answer().is_done);
  EXPECT_NE(answer().text.find("delete the pod instead"), std::string::npos);
  operator_says({"p1"});
  EXPECT_FALSE(answer().is_done) << "its Binding is on its way";
  operator_says({"p7"});
  EXPECT_NE(answer().text.find("has no seat"), std::string::npos);
  operator_says();
  EXPECT_FALSE(answer().is_done) << "one is bound, one on the way";
  EXPECT_TRUE(cancels().empty());
  EXPECT_TRUE(events().empty());
}

TEST_F(taking_back, what_is_being_withdrawn_or_ends_has_nothing_left) {
  is_committed();
  acks(0);
  acks(1, true);
  ASSERT_EQ(role->state(), attempt_state::withdrawing);
  operator_says();
  EXPECT_FALSE(answer().is_done);
}

TEST_F(taking_back, evictions_are_stopped_before_the_plan_is_withdrawn) {
  victims = {{.pod = {"v0"}, .node = {"n"}}};
  is_committed();
  all_ack();
  ASSERT_EQ(role->state(), attempt_state::evicting);
  operator_says({"p0"});
  EXPECT_FALSE(answer().is_done);
  operator_says();
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(sent<stop_evicting>().size(), 1u);
  EXPECT_EQ(role->state(), attempt_state::evicting) << "until what is not deleted is touched";
  hear(eviction_stopped{attempt});
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  operator_says();
  EXPECT_FALSE(answer().is_done);
}

TEST_F(taking_back, C11_members_that_nobody_here_remembers_are_cancelled_unread) {
  is_committed();
  restarts();
  operator_says();
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(cancels().size(), 2u);
  store_amends();
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  touched("p0", pod_state::bound, "node-of-p0");
  touched("p1");
  releases_are_acked();
  acks(0);
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->bound, 1u) << "who was bound before stays";
}

// ---------------------------------------------------------------- repair

TEST_F(taking_back, what_the_plan_cannot_complete_does_not_keep_the_repair_waiting) {
  pods = {"p0", "p1", "p2"};
  min_count = 3;
  is_committed();
  all_ack();
  leave_for("p0");
  binds("p0");
  no_leave_for("p1");
  EXPECT_TRUE(cancels().empty()) << "the plan can still be completed";
  quiet();
  hear(may_bind_answer{attempt, {"node-uid-of-p2"}, {}, {}, true}); // its node is gone
  store_amends();
  EXPECT_EQ(durable->cancelled.size() + cancels().size(), 2u);
}

TEST_F(taking_back, at_the_repair_deadline_what_is_unconsumed_is_released) {
  pods = {"p0", "p1", "p2"};
  min_count = 2;
  is_committed();
  acks(0);
  acks(1);
  leave_for("p0");
  binds("p0");
  ASSERT_EQ(role->state(), attempt_state::binding);
  deadline_passes(base::limits::repair_deadline);
  EXPECT_EQ(cancels().size(), 2u) << "the node of p1 and the shard of p2 are silent";
  store_amends();
  touched("p1");
  touched("p2");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded);
  EXPECT_EQ(ended()->members_bound, (std::vector<base::pod_uid>{{"p0-uid"}}));
}

TEST_F(taking_back, at_the_repair_deadline_a_plan_of_which_nobody_is_bound_is_withdrawn) {
  is_committed();
  all_ack();
  deadline_passes(base::limits::repair_deadline);
  EXPECT_EQ(role->state(), attempt_state::withdrawing);
  EXPECT_EQ(sent<touch>().size(), 2u);
  EXPECT_TRUE(cancels().empty()) << "touched before it is cancelled: somebody may be bound";
}

TEST_F(taking_back, at_the_repair_deadline_a_binding_in_flight_is_answered_first) {
  is_binding();
  quiet();
  deadline_passes(base::limits::repair_deadline);
  EXPECT_EQ(role->state(), attempt_state::binding);
  EXPECT_TRUE(cancels().empty());
  binds("p0");
  binds("p1", bind_verdict::moved, "9");
  EXPECT_EQ(cancels(), std::vector<base::pod_uid>{{"p1-uid"}}) << "not posted once more";
}

TEST_F(taking_back, C14_the_repair_deadline_begins_when_the_withdrawal_ends) {
  pods = {"p0", "p1", "p2"};
  min_count = 3;
  is_committed();
  acks(0);
  acks(2, true);
  ASSERT_EQ(role->state(), attempt_state::withdrawing);
  touched("p0", pod_state::bound, "node-of-p0");
  ASSERT_EQ(role->state(), attempt_state::binding);
  store_amends(); // p2's room is lost
  EXPECT_EQ(durable->cancelled, std::vector<base::pod_uid>{{"p2-uid"}});
  touched("p2");
  releases_are_acked();
  EXPECT_FALSE(ended()) << "the shard of p1 may still hold its room";
  deadline_passes(base::limits::repair_deadline);
  store_amends();
  EXPECT_EQ(durable->cancelled.size(), 2u);
  touched("p1");
  releases_are_acked();
  store_amends();
  ASSERT_TRUE(ended());
  EXPECT_EQ(ended()->outcome, attempt_outcome::degraded);
  EXPECT_EQ(ended()->bound, 1u);
  EXPECT_EQ(ended()->members_bound, (std::vector<base::pod_uid>{{"p0-uid"}}));
}

} // namespace
} // namespace tutti::protocol
