// When a gang is tried again, and what happens to members meanwhile.
#include "queue_world.hpp"

#include "base/limits.hpp"

namespace tutti::queue {
namespace {

/// A lone pod "a" that is being tried.
struct Retry : QueueWorld {
  void SetUp() override {
    QueueWorld::SetUp();
    synced();
    pod("a", {});
    EXPECT_EQ(tried(), names{"a"});
  }
  /// Somebody asks that it be tried now.
  void by_hand(const std::string& gang) {
    tell(protocol::inspect{1, "retry", "ns/" + gang}, protocol::role_kind::admin);
  }
};

TEST_F(Retry, a_refused_gang_waits_with_its_explanation_and_time_alone_does_not_wake_it) {
  refuse("a", 3);
  EXPECT_EQ(row("a", "phase"), "Queued");
  EXPECT_EQ(row("a", "pool"), "waiting");
  EXPECT_EQ(row("a", "reason"), "InsufficientResources");
  pass(4min + 59s);
  EXPECT_EQ(tried(), names{}) << "not Q-19, not Q-24";
}

TEST_F(Retry, q28_after_five_minutes_it_is_tried_whatever_happened) {
  refuse("a", 3);
  pass(base::limits::flush_interval);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, a_quarantined_gang_is_tried_when_its_rest_is_over) {
  refuse("a", 3, base::reason_code::scheduler_error);
  EXPECT_EQ(row("a", "reason"), "SchedulerError");
  pass(59s);
  EXPECT_EQ(tried(), names{});
  pass(1s);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, by_hand_is_at_once_whatever_it_rests_for) {
  refuse("a", 3);
  by_hand("a");
  EXPECT_EQ(tried(), names{"a"});
  refuse("a", 3);
  grew(4);
  EXPECT_EQ(row("a", "phase"), "BackingOff");
  sent.clear();
  by_hand("a");
  const auto events = take<protocol::emit_event>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().reason, "GangRetried");
  EXPECT_EQ(std::count(noted.begin(), noted.end(), "queue.retried"), 2);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, by_hand_of_a_gang_under_way_or_unknown_changes_nothing) {
  by_hand("a");
  by_hand("nobody");
  EXPECT_EQ(tried(), names{});
}

TEST_F(Retry, by_hand_opens_no_gate) {
  pod("b", {.gated = true});
  by_hand("b");
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("b", "reason"), "Gated");
}

TEST_F(Retry, the_row_of_a_refused_gang_has_its_numbers_beside_the_reason) {
  base::explanation why;
  why.primary = base::reason_code::never_fits;
  why.wanted = 3;
  why.placed = 2;
  over(new_attempt("a"), attempt_outcome::refused, why);
  EXPECT_EQ(row("a", "detail"), "2 of 3 members can be placed");
}

TEST_F(Retry, a_gang_is_noted_as_bound_the_first_time_and_not_when_it_is_repaired) {
  const auto times = [this] { return std::count(noted.begin(), noted.end(), "queue.bound"); };
  refuse("a", 3);
  by_hand("a");
  EXPECT_EQ(tried(), names{"a"});
  EXPECT_EQ(times(), 0);
  over(new_attempt("a"), attempt_outcome::bound, {}, {"a"});
  EXPECT_EQ(times(), 1);
  group("g", {.min = 2, .started = true});
  pod("b", {.group = "g", .node = "n1"});
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  over(new_attempt("g"), attempt_outcome::bound, {}, {"c"}, 1);
  EXPECT_EQ(times(), 1);
}

/// A gang of three, two of which an attempt has bound; it has said, looking at view 5, that the
/// third does not fit.
struct LeftOut : QueueWorld {
  base::explanation no_room;
  void SetUp() override {
    QueueWorld::SetUp();
    no_room.primary = base::reason_code::insufficient_resources;
    no_room.wanted = 1;
    no_room.view_version = 5;
    synced();
    for (const auto* name : {"a", "b", "c"})
      pod(name, {.group = "g"});
    group("g", {.min = 2}); // last, so that nobody comes during the attempt
    EXPECT_EQ(tried(), names{"g"});
  }
  void two_are_bound() { over(new_attempt("g"), attempt_outcome::bound, no_room, {"a", "b"}); }
  void watch_shows_it() {
    pod("a", {.group = "g", .node = "n1"});
    pod("b", {.group = "g", .node = "n1"});
  }
};

TEST_F(LeftOut, members_wait_with_the_words_of_the_attempt_that_bound_the_others) {
  two_are_bound();
  take<protocol::set_condition>();
  watch_shows_it();
  pass(4min + 59s);
  EXPECT_EQ(tried(), names{}) << "nothing has changed";
  EXPECT_EQ(row("g", "pool"), "waiting");
  EXPECT_EQ(row("g", "reason"), "InsufficientResources");
  const auto said = take<protocol::set_condition>();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(said.back().name.name, "c");
  EXPECT_EQ(said.back().reason, "Unschedulable");
  EXPECT_TRUE(quiet());
  grew(6);
  EXPECT_EQ(pods_of(tried_gang()), (names{"c", "a", "b"})) << "at once: it has earned no rest";
}

TEST_F(LeftOut, members_are_tried_as_soon_as_it_has_settled_if_the_view_grew_meanwhile) {
  two_are_bound();
  grew(6);
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(LeftOut, members_are_tried_if_the_view_grew_while_the_others_were_bound) {
  grew(6);
  two_are_bound();
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(LeftOut, a_view_that_the_plan_has_seen_wakes_nobody) {
  grew(5);
  two_are_bound();
  watch_shows_it();
  EXPECT_EQ(tried(), names{});
}

TEST_F(LeftOut, a_new_member_is_tried_with_them) {
  two_are_bound();
  pod("d", {.group = "g"});
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(LeftOut, a_member_that_comes_while_the_others_are_bound_is_tried_with_them) {
  pod("d", {.group = "g"});
  two_are_bound();
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(LeftOut, of_a_topology_that_began_anew_meanwhile_the_words_do_not_count) {
  grew(4);
  grew(1);
  two_are_bound();
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(LeftOut, by_a_binding_that_was_refused_is_no_word_about_room) {
  no_room.primary = base::reason_code::bind_refused;
  two_are_bound();
  watch_shows_it();
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Retry, q25_a_view_that_grew_wakes_after_the_rest) {
  refuse("a", 3);
  grew(4);
  EXPECT_EQ(row("a", "phase"), "BackingOff");
  EXPECT_EQ(row("a", "next_try_in_ms"), "1000");
  pass(999ms);
  EXPECT_EQ(tried(), names{});
  pass(1ms);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, a_view_that_grew_by_less_than_any_member_needs_wakes_nobody) {
  refuse("a", 3);
  grew(4, 999);
  EXPECT_EQ(row("a", "pool"), "waiting");
  grew(5, 1000);
  EXPECT_EQ(row("a", "pool"), "backing_off");
}

TEST_F(Retry, a_view_that_the_refusal_has_seen_wakes_nobody) {
  refuse("a", 3);
  grew(3);
  EXPECT_EQ(row("a", "pool"), "waiting");
}

TEST_F(Retry, a_topology_that_began_anew_counts_its_views_from_one) {
  grew(90);
  refuse("a", 90);
  grew(1);
  EXPECT_EQ(row("a", "pool"), "backing_off");
}

TEST_F(Retry, q21_rests_double_up_to_ten_seconds) {
  for (auto rest : {1s, 2s, 4s, 8s, 10s, 10s}) {
    refuse("a", tries);
    grew(tries + 1);
    EXPECT_EQ(row("a", "next_try_in_ms"), std::to_string(rest.count() * 1000));
    pass(rest);
    EXPECT_EQ(tried(), names{"a"});
  }
}

TEST_F(Retry, a_view_that_grew_during_the_attempt_lets_it_go_again_at_once_but_not_twice) {
  grew(4);
  refuse("a", 3);
  EXPECT_EQ(tried(), names{"a"});
  grew(5);
  refuse("a", 4);
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("a", "phase"), "BackingOff");
  pass(2s);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, growth_that_could_not_have_helped_does_not_count) {
  grew(4, 10);
  refuse("a", 3);
  EXPECT_EQ(row("a", "pool"), "waiting");
}

TEST_F(Retry, conflicts_rest_milliseconds_with_jitter_and_are_told_to_the_next_attempt) {
  conflict("a");
  EXPECT_EQ(row("a", "phase"), "BackingOff");
  EXPECT_EQ(row("a", "reason"), "ReservationConflict");
  pass(9ms);
  EXPECT_EQ(tried(), names{});
  pass(11ms);
  auto next = take<protocol::try_gang>();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].tries, 1u);
  conflict("a");
  pass(19ms);
  EXPECT_EQ(tried(), names{});
  pass(21ms);
  next = take<protocol::try_gang>();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].tries, 2u);
  EXPECT_TRUE(take<protocol::set_condition>().empty()) << "a lost race is nobody's fault";
}

TEST_F(Retry, q16_a_withdrawn_attempt_rests_by_the_count_of_errors) {
  over(new_attempt("a"), attempt_outcome::withdrawn);
  EXPECT_EQ(row("a", "next_try_in_ms"), "1000");
  pass(1s);
  over(new_attempt("a"), attempt_outcome::withdrawn);
  EXPECT_EQ(row("a", "next_try_in_ms"), "2000");
  pass(2s);
  tried();
  refuse("a");
  EXPECT_EQ(read("gang", "ns/a").at("errors").as_int64(), 0) << "Q-15: a refusal ends the row";
}

TEST_F(Retry, a_refusal_for_want_of_a_fresh_view_is_tried_again_by_time) {
  refuse("a", 0, base::reason_code::view_stale);
  EXPECT_EQ(row("a", "reason"), "ViewStale");
  pass(1s);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retry, q22_those_that_rest_in_one_second_leave_it_in_order) {
  refuse("a", 1);
  pass(300ms);
  pod("b", {.priority = 9});
  EXPECT_EQ(tried(), names{"b"});
  refuse("b", 1);
  grew(2);
  pass(700ms);
  EXPECT_EQ(tried(), (names{"b", "a"}));
}

TEST_F(Retry, affinity_is_helped_by_pods_that_arrive) {
  base::explanation why;
  why.primary = base::reason_code::node_constraints_unmet;
  why.rejected.push_back({"node(s) didn't match pod affinity rules", 3});
  over(new_attempt("a"), attempt_outcome::refused, why);
  pass(5s);
  pod("b", {});
  tried();
  over(new_attempt("b"), attempt_outcome::bound, {}, {"b"});
  EXPECT_EQ(tried(), names{"a"});
}

/// A group "g" of "m" and "n" with a minimum of two that is being tried.
struct RetryGroup : QueueWorld {
  void SetUp() override {
    QueueWorld::SetUp();
    synced();
    group("g", {.min = 2});
    pod("m", {.group = "g"});
    pod("n", {.group = "g"});
    EXPECT_EQ(tried(), names{"g"});
  }
};

TEST_F(RetryGroup, q26_a_new_member_wakes_and_one_that_comes_during_the_attempt_does_too) {
  refuse("g", 1);
  pass(5s);
  pod("o", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"m", "n", "o"}));
  pod("p", {.group = "g"}); // joins no running attempt
  EXPECT_EQ(tried(), names{});
  refuse("g", 1);
  pass(2s);
  EXPECT_EQ(tried_gang()->members.size(), 4u);
}

TEST_F(RetryGroup, q26_only_a_lowered_minimum_wakes) {
  pod("o", {.group = "g"});
  refuse("g", 1);
  pass(2s);
  tried();
  refuse("g", 1);
  pass(20s);
  EXPECT_EQ(row("g", "pool"), "waiting");
  group("g", {.min = 3});
  EXPECT_EQ(tried(), names{}) << "Q-27";
  group("g", {.min = 2});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(RetryGroup, a_member_that_leaves_wakes_the_others_if_the_minimum_is_kept) {
  pod("o", {.group = "g"});
  refuse("g", 1);
  pass(2s);
  tried();
  refuse("g", 1);
  pass(20s);
  pod_gone("o");
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(RetryGroup, a_change_that_means_nothing_wakes_nobody) {
  refuse("g", 1);
  pass(20s);
  pod("m", {.group = "g", .version = "2"});
  group("g", {.min = 2});
  EXPECT_EQ(row("g", "pool"), "waiting");
}

TEST_F(RetryGroup, q18a_members_that_are_left_are_tried_at_once_with_the_bound_ones_counted) {
  pod("x", {.group = "g"});
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m", "n"});
  EXPECT_EQ(tried(), names{}) << "the watch has not shown what is bound";
  EXPECT_EQ(row("g", "pool"), "settling");
  EXPECT_FALSE(quiet());
  pod("m", {.group = "g", .node = "n1"});
  EXPECT_EQ(tried(), names{});
  pod("n", {.group = "g", .node = "n2"});
  const auto g = tried_gang();
  ASSERT_TRUE(g);
  EXPECT_EQ(pods_of(g), (names{"x", "m", "n"}));
  EXPECT_TRUE(g->has_started);
  refuse("g", 4);
  EXPECT_EQ(row("g", "reason"), "InsufficientResources");
  EXPECT_EQ(row("g", "bound"), "2");
}

TEST_F(RetryGroup, a_bound_gang_keeps_nothing_but_its_row) {
  pod("m", {.group = "g", .node = "n1"});
  pod("n", {.group = "g", .node = "n2"});
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m", "n"});
  EXPECT_EQ(row("g", "phase"), "Bound");
  EXPECT_EQ(row("g", "reason"), "null");
  EXPECT_EQ(row("g", "attempts"), "1");
  EXPECT_TRUE(quiet());
}

TEST_F(RetryGroup, an_owed_member_that_is_gone_is_not_waited_for) {
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m", "n"});
  pod("m", {.group = "g", .node = "n1"});
  pod_gone("n");
  EXPECT_EQ(row("g", "phase"), "Gated") << "one of two is left, and nothing is owed";
  pod("o", {.group = "g"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"o", "m"}));
}

TEST_F(RetryGroup, P2_a_watch_that_is_held_up_makes_the_gang_wait_however_long) {
  pod("x", {.group = "g"});
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m", "n"});
  pass(10min);
  EXPECT_EQ(tried(), names{}) << "where m and n are is not known here, and x must go there too";
  EXPECT_EQ(row("g", "pool"), "settling");
  pod("m", {.group = "g", .node = "n1"});
  pod("n", {.group = "g", .node = "n1"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"x", "m", "n"}));
}

TEST_F(RetryGroup, P2_a_gang_whose_facts_its_partition_calls_late_waits_for_the_watch) {
  base::explanation why;
  why.primary = base::reason_code::view_stale;
  over(new_attempt("g"), attempt_outcome::conflict, why, {"m"});
  pass(1min);
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "pool"), "settling");
  pod("m", {.group = "g", .node = "n1"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"n", "m"}));
}

TEST_F(RetryGroup, q18_a_member_the_plan_could_not_bind_comes_back_alone) {
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m"});
  pod("m", {.group = "g", .node = "n1"});
  EXPECT_EQ(pods_of(tried_gang()), (names{"n", "m"}));
}

TEST_F(RetryGroup, an_attempt_that_bound_nobody_is_no_success_and_rests_ever_longer) {
  over(new_attempt("g"), attempt_outcome::bound);
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "reason"), "Undecided");
  EXPECT_EQ(row("g", "next_try_in_ms"), "1000");
  pass(1s);
  tried();
  over(new_attempt("g"), attempt_outcome::bound);
  EXPECT_EQ(row("g", "next_try_in_ms"), "2000");
}

TEST_F(RetryGroup, a_gang_that_could_not_be_repaired_is_tried_again_with_new_members) {
  over(new_attempt("g"), attempt_outcome::degraded, {}, {"m"});
  EXPECT_EQ(tried(), names{}) << "m is bound and not shown yet";
  pod("m", {.group = "g", .node = "n1"});
  EXPECT_EQ(tried(), names{"g"}) << "repair begins at once";
  pod_gone("n");
  over(new_attempt("g"), attempt_outcome::stopped, {}, {}, 1);
  EXPECT_EQ(row("g", "detail"), "1/2 members");
  pod("o", {.group = "g"});
  pass(4s);
  EXPECT_FALSE(tried().empty());
  over(new_attempt("g"), attempt_outcome::bound, {}, {"o"}, 1);
  pod("o", {.group = "g", .node = "n3"});
  EXPECT_EQ(row("g", "phase"), "Bound");
}

TEST_F(RetryGroup, q34_an_attempt_outlives_its_group_and_the_namesake_waits_for_it) {
  group_gone("g");
  EXPECT_EQ(row("g", "pool"), "gated");
  group("g", {.min = 2, .uid = "second"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "pool"), "settling");
  over(new_attempt("g"), attempt_outcome::stopped);
  EXPECT_EQ(tried_gang()->uid.value, "second");
}

TEST_F(RetryGroup, q34_what_the_older_attempt_bound_is_not_planned_again) {
  group_gone("g");
  group("g", {.min = 1, .uid = "second"});
  over(new_attempt("g"), attempt_outcome::bound, {}, {"m", "n"});
  EXPECT_EQ(tried(), names{});
  pod("m", {.group = "g", .node = "n1"});
  pod("n", {.group = "g", .node = "n2"});
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "phase"), "Bound");
}

TEST_F(RetryGroup, a_partition_that_does_not_answer_is_asked_again_ever_more_slowly) {
  pass(200ms);
  EXPECT_EQ(tried(), names{"g"});
  pass(399ms);
  EXPECT_EQ(tried(), names{});
  pass(1ms);
  EXPECT_EQ(tried(), names{"g"});
  tell(protocol::gang_progress{.attempt = new_attempt("g"), .name = {"ns", "g"}},
       protocol::role_kind::gang);
  pass(9s);
  EXPECT_EQ(tried(), names{});
  EXPECT_EQ(row("g", "attempts"), "1");
}

TEST_F(RetryGroup, words_that_come_late_or_twice_change_nothing) {
  const auto first = new_attempt("g");
  tell(protocol::gang_progress{.attempt = first, .name = {"ns", "g"}}, protocol::role_kind::gang);
  over(first, attempt_outcome::conflict);
  over(first, attempt_outcome::conflict);
  tell(protocol::gang_progress{.attempt = first, .name = {"ns", "g"}}, protocol::role_kind::gang);
  EXPECT_EQ(row("g", "pool"), "backing_off");
  pass(20ms);
  EXPECT_EQ(tried(), names{"g"});
  over(first, attempt_outcome::refused);
  EXPECT_EQ(row("g", "pool"), "attempting");
}

// ---------------------------------------------------------------- attempts of an earlier life

struct Resumed : QueueWorld {
  /// Of gang "g" two of four were decided, and bound before the crash.
  base::attempt_id id{.gang = {"uid-g"}, .ordinal = 1, .epoch = {1}, .try_no = 77};

  void progress(protocol::phase at) {
    tell(protocol::gang_progress{.attempt = id, .name = {"ns", "g"}, .at = at, .bound = 2},
         protocol::role_kind::gang);
  }
  void facts() {
    group("g", {.min = 2});
    pod("a", {.group = "g", .node = "n1"});
    pod("b", {.group = "g", .node = "n2"});
    pod("c", {.group = "g"});
    pod("d", {.group = "g"});
  }
};

TEST_F(Resumed, members_above_the_minimum_are_tried_as_soon_as_it_ends) {
  facts();
  progress(protocol::phase::decided);
  synced();
  EXPECT_EQ(tried(), names{}) << "one attempt at a time";
  over(id, attempt_outcome::bound, {}, {"a", "b"});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Resumed, members_above_the_minimum_are_tried_though_the_facts_came_first) {
  facts();
  synced();
  EXPECT_EQ(tried(), names{"g"}) << "the partition resumes and does not begin";
  progress(protocol::phase::decided);
  progress(protocol::phase::binding);
  over(id, attempt_outcome::bound, {}, {"a", "b"});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Resumed, members_above_the_minimum_are_tried_though_it_ended_before_the_facts_came) {
  progress(protocol::phase::decided);
  over(id, attempt_outcome::bound, {}, {"a", "b"});
  facts();
  synced();
  EXPECT_EQ(tried(), names{"g"});
}

/// The queue alone has died: the attempt that its former life has asked for goes on, and this one
/// hears of it when it ends.
TEST_F(Resumed, members_above_the_minimum_are_tried_though_another_life_has_asked_for_the_others) {
  facts();
  synced();
  EXPECT_EQ(tried(), names{"g"}) << "its partition says nothing: it has an attempt under way";
  over(id, attempt_outcome::bound, {}, {"a", "b"});
  EXPECT_EQ(tried(), names{"g"});
}

TEST_F(Resumed, members_that_were_tried_in_vain_rest_all_the_same) {
  facts();
  synced();
  EXPECT_EQ(tried(), names{"g"});
  progress(protocol::phase::preparing);
  progress(protocol::phase::binding);
  over(id, attempt_outcome::bound, {}, {}, 2);
  EXPECT_EQ(tried(), names{}) << "never in a circle";
  EXPECT_EQ(row("g", "pool"), "backing_off");
}

} // namespace
} // namespace tutti::queue
