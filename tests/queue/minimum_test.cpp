// A started gang below its minimum: repaired at once, degraded after a deadline, and healed.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Minimum : QueueWorld {
  /// A gang of two that has started and lost its second member a moment ago.
  void lost_one() {
    synced();
    group("g", {.min = 2, .started = true});
    pod("a", {.group = "g", .node = "n1"});
    pod("b", {.group = "g", .node = "n2"});
    pod_gone("b");
    sent.clear();
  }
  std::vector<protocol::set_condition> degraded_words() {
    auto said = take<protocol::set_condition>();
    std::erase_if(said, [](const auto& c) { return c.type != "tutti.dev/Degraded"; });
    return said;
  }
  names event_reasons() {
    names out;
    for (const auto& e : take<protocol::emit_event>())
      out.push_back(e.reason);
    return out;
  }
};

TEST_F(Minimum, is_repaired_by_an_attempt_that_counts_who_is_bound) {
  lost_one();
  pod("c", {.group = "g"});
  const auto who = tried_gang();
  ASSERT_NE(who, nullptr);
  EXPECT_TRUE(who->has_started);
  EXPECT_EQ(pods_of(who), (names{"c", "a"}));
}

TEST_F(Minimum, is_repaired_at_once_after_an_attempt_that_left_it_short) {
  synced();
  group("g", {.min = 3});
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  pod("a", {.group = "g", .node = "n1"});
  over(new_attempt("g"), attempt_outcome::degraded, {}, {"a"});
  const auto again = tried_gang();
  ASSERT_NE(again, nullptr) << "what runs waits for the rest";
  EXPECT_TRUE(again->has_started);
  over(new_attempt("g"), attempt_outcome::degraded, {}, {}, 1);
  EXPECT_EQ(tried(), names{}) << "a second failure earns a rest";
  pass(4s);
  EXPECT_FALSE(tried().empty());
}

TEST_F(Minimum, is_repaired_before_the_rest_that_an_extra_member_has_earned) {
  synced();
  group("g", {.min = 2, .started = true});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g", .node = "n2"});
  pod("extra", {.group = "g"});
  for (int i = 0; i < 4; ++i) { // rests of 1, 2, 4 and 8 s
    refuse("g", static_cast<std::uint64_t>(i));
    pass(base::limits::flush_interval);
  }
  tried();
  refuse("g", 9);
  grew(10);
  EXPECT_EQ(row("g", "phase"), "BackingOff");
  EXPECT_EQ(tried(), names{});
  pod_gone("b");
  EXPECT_EQ(tried(), names{"g"}) << "what runs waits for the rest";
}

TEST_F(Minimum, is_repaired_at_once_also_after_a_restart) {
  synced();
  group("g", {.min = 2, .started = true});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g", .node = "n2"});
  pod("extra", {.group = "g"});
  for (int i = 0; i < 4; ++i) {
    refuse("g", static_cast<std::uint64_t>(i));
    pass(base::limits::flush_interval);
  }
  refuse("g", 9);
  begin(queue->snapshot());
  group("g", {.min = 2, .started = true});
  pod("a", {.group = "g", .node = "n1"});
  pod("extra", {.group = "g"});
  synced();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Minimum, is_kept_by_a_deadline_of_the_operators_choice) {
  how.repair_deadline = 5s;
  begin();
  lost_one();
  pass(5s);
  EXPECT_EQ(degraded_words().size(), 1u);
}

TEST_F(Minimum, is_told_to_people_once_repair_has_taken_too_long) {
  lost_one();
  pass(59s);
  EXPECT_EQ(degraded_words().size(), 0u);
  EXPECT_NE(row("g", "phase"), "Degraded");
  pass(1s);
  const auto said = degraded_words();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said.front().status);
  EXPECT_EQ(said.front().reason, "BelowMinimum");
  EXPECT_EQ(said.front().message, "1/2 members are bound");
  EXPECT_EQ(event_reasons(), names{"GangDegraded"});
  EXPECT_EQ(std::count(noted.begin(), noted.end(), "queue.degraded"), 1);
  EXPECT_EQ(row("g", "phase"), "Degraded");
  EXPECT_EQ(row("g", "reason"), "Degraded");
  EXPECT_EQ(row("g", "detail"), "1/2 members are bound; WaitingForMembers: 1/2 members");
  pass(10min);
  EXPECT_EQ(degraded_words().size(), 0u) << "once";
}

TEST_F(Minimum, is_taken_back_when_it_is_bound_again) {
  lost_one();
  pass(60s);
  degraded_words();
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"}) << "a degraded gang is still tried";
  over(new_attempt("g"), attempt_outcome::bound, {}, {"c"}, 1);
  pod("c", {.group = "g", .node = "n3"});
  const auto said = degraded_words();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said.front().status);
  EXPECT_EQ(said.front().reason, "MinimumBound");
  EXPECT_EQ(said.front().message, "2/2 members are bound");
  EXPECT_EQ(row("g", "phase"), "Bound");
}

TEST_F(Minimum, repaired_in_time_is_nobodys_business) {
  lost_one();
  pass(30s);
  pod("c", {.group = "g", .node = "n3"});
  pass(10min);
  EXPECT_EQ(degraded_words().size(), 0u);
  EXPECT_EQ(event_reasons(), names{});
}

TEST_F(Minimum, counts_members_that_have_finished) {
  lost_one();
  pod("a", {.group = "g", .node = "n1", .terminal = true});
  pod("c", {.group = "g", .node = "n3"});
  pass(10min);
  EXPECT_EQ(degraded_words().size(), 0u);
}

TEST_F(Minimum, of_a_gang_that_is_finishing_waits_for_nobody) {
  group("run", {.min = 3, .started = true});
  pod("a", {.group = "run", .node = "n1", .terminal = true});
  pod("b", {.group = "run", .node = "n2"});
  pod("c", {.group = "run", .node = "n3"});
  EXPECT_EQ(row("run", "phase"), "Bound");
  EXPECT_EQ(row("run", "reason"), "null");
}

TEST_F(Minimum, is_not_asked_of_a_gang_that_is_leaving_or_has_nobody_left) {
  lost_one();
  group("g", {.min = 2, .started = true, .deleting = true});
  pass(10min);
  EXPECT_EQ(degraded_words().size(), 0u);
  group("g", {.min = 2, .started = true});
  pod_gone("a");
  pass(10min);
  EXPECT_EQ(degraded_words().size(), 0u) << "pending, not degraded";
}

TEST_F(Minimum, that_an_earlier_life_called_missed_is_remembered_by_the_object) {
  auto facts = facts_of("g", {.min = 2, .started = true});
  facts.is_degraded = true;
  tell(protocol::group_seen{facts});
  pod("a", {.group = "g", .node = "n1"});
  synced();
  EXPECT_EQ(row("g", "phase"), "Degraded");
  EXPECT_EQ(degraded_words().size(), 0u) << "it is written already";
  pod("b", {.group = "g", .node = "n2"});
  const auto said = degraded_words();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said.front().status);
}

TEST_F(Minimum, of_a_group_that_is_no_object_is_shown_and_written_nowhere) {
  how.group_condition.clear();
  begin();
  lost_one();
  pass(60s);
  EXPECT_EQ(row("g", "phase"), "Degraded");
  EXPECT_EQ(take<protocol::set_condition>().size(), 0u);
  EXPECT_EQ(event_reasons(), names{});
}

} // namespace
} // namespace tutti::queue
