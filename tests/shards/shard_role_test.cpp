// Votes, acks and refusals of a shard, with their numbers; duplicates and reorders.
#include "shards/shard_role.hpp"

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using base::reason_code;
using namespace words;

struct Shard : ShardStory {};

// ------------------------------------------------------------------------------- the good way

TEST_F(Shard, a_gang_is_promised_committed_bound_and_forgotten) {
  EXPECT_TRUE(promised(g, g_asks));
  EXPECT_EQ(last.shard_epoch, base::epoch_no{1});
  EXPECT_EQ(last.incarnation, base::incarnation_no{1});
  EXPECT_EQ(world.free_cpus("n1"), 2);
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_TRUE(world.journal.back().is_synced) << "the ack is the disk's word";
  runs("a", "n1", 2);
  EXPECT_EQ(state(g), reservation_state::committed);
  runs("b", "n2", 2);
  EXPECT_EQ(state(g), reservation_state::consumed);
  finish(g);
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 2) << "the bound pod stays";
  EXPECT_TRUE(world.timers.empty());
  EXPECT_FALSE(world.ledger("n1").holds(g));
}

TEST_F(Shard, an_aborted_promise_leaves_nothing_behind) {
  EXPECT_TRUE(promised(g, g_asks));
  abort(g);
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 4);
  EXPECT_EQ(world.free_cpus("n2"), 4);
  EXPECT_EQ(world.records<protocol::released_record>().size(), 1u);
  EXPECT_TRUE(world.timers.empty());
}

TEST_F(Shard, the_promise_is_journalled_before_the_vote_and_not_waited_for) {
  EXPECT_TRUE(promised(g, g_asks));
  ASSERT_EQ(world.records<protocol::prepared_record>().size(), 1u);
  EXPECT_FALSE(world.journal.back().is_synced);
}

// ------------------------------------------------------------------------------- refusals

TEST_F(Shard, a_no_tells_the_numbers_and_holds_nothing) {
  runs("r", "n2", 3);
  EXPECT_FALSE(promised(g, g_asks));
  EXPECT_EQ(last.why_not.primary, reason_code::insufficient_resources);
  EXPECT_EQ(last.why_not.dimension, "cpu");
  EXPECT_EQ(last.why_not.short_by, 1000);
  EXPECT_EQ(last.why_not.wanted, 2);
  EXPECT_EQ(last.why_not.placed, 1);
  EXPECT_EQ(last.why_not.nodes_seen, 2);
  EXPECT_EQ(last.why_not.nodes_fit, 1);
  ASSERT_EQ(last.why_not.rejected.size(), 1u);
  EXPECT_EQ(last.why_not.rejected.front(), (base::node_count{"Insufficient cpu", 1}));
  EXPECT_EQ(world.free_cpus("n1"), 4) << "what n1 held was given back";
  EXPECT_TRUE(world.records<protocol::prepared_record>().empty());
}

TEST_F(Shard, a_no_names_the_attempt_that_holds_the_room) {
  EXPECT_TRUE(promised(h, slice({{"x", "n1", 3}})));
  EXPECT_FALSE(promised(g, g_asks));
  EXPECT_EQ(last.why_not.primary, reason_code::reservation_conflict);
  EXPECT_EQ(last.holders, std::vector{h});
  abort(h);
  EXPECT_TRUE(promised(words::attempt("g", 2), g_asks));
}

TEST_F(Shard, it_votes_no_while_its_view_is_not_fresh) {
  fresh(false);
  EXPECT_FALSE(promised(g, g_asks));
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
  fresh(true);
  EXPECT_TRUE(promised(g, g_asks));
}

TEST_F(Shard, it_votes_no_if_its_view_goes_stale_while_nodes_answer) {
  world.cut_off("n1");
  prepare(g, slice({{"a", "n1"}, {"b", "n2"}}));
  fresh(false);
  world.connect("n1");
  EXPECT_FALSE(voted_yes());
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
  EXPECT_EQ(world.free_cpus("n2"), 4) << "what n2 held was given back";
}

TEST_F(Shard, F9_it_votes_no_while_the_disk_is_scarce_and_keeps_what_it_has_promised) {
  EXPECT_TRUE(promised(g, g_asks));
  world.tell_of_disk(true);
  const auto h_asks = slice({{"c", "n1"}});
  EXPECT_FALSE(promised(h, h_asks));
  EXPECT_EQ(last.why_not.primary, reason_code::shard_unavailable);
  EXPECT_NE(last.why_not.detail.find("disk"), std::string::npos);
  EXPECT_EQ(world.records<protocol::prepared_record>().size(), 1u) << "nothing is written";
  commit(g, g_asks);
  EXPECT_TRUE(acked()) << "what is decided goes on";
  world.tell_of_disk(false);
  const auto again = words::attempt("h", 2);
  EXPECT_TRUE(promised(again, h_asks));
}

TEST_F(Shard, F9_it_votes_no_if_the_disk_becomes_scarce_while_nodes_answer) {
  world.cut_off("n1");
  prepare(g, g_asks);
  world.tell_of_disk(true);
  world.connect("n1");
  EXPECT_FALSE(voted_yes());
  EXPECT_EQ(last.why_not.primary, reason_code::shard_unavailable);
  EXPECT_EQ(world.free_cpus("n2"), 4) << "what n2 held was given back";
}

TEST_F(Shard, a_plan_made_on_a_wrong_view_is_refused) {
  auto asked = slice({{"a", "n1"}});
  asked->quotes.push_back({words::node("n1"), words::facts("n1", 4)->facts_hash});
  node("n1", 4, "tainted");
  EXPECT_FALSE(promised(g, asked));
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
}

TEST_F(Shard, the_node_refuses_a_plan_that_the_shard_still_believed) {
  auto asked = slice({{"a", "n1"}, {"b", "n2"}});
  for (const auto* n : {"n1", "n2"})
    asked->quotes.push_back({words::node(n), words::facts(n, 4)->facts_hash});
  world.cut_off("n1");
  prepare(g, asked);
  EXPECT_EQ(world.count<protocol::vote>(), 0u) << "one node has not answered";
  EXPECT_EQ(world.free_cpus("n2"), 2);
  runs("stranger", "n1", 4); // queued behind the hold: the hold still fits
  world.connect("n1");
  EXPECT_TRUE(voted_yes());
  EXPECT_EQ(world.take<protocol::pressure>()->node, words::node("n1")) << "and is told at once";
}

TEST_F(Shard, a_node_with_the_same_name_and_another_uid_is_another_node) {
  auto asked = slice({{"a", "n3"}});
  EXPECT_FALSE(promised(g, asked));
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
  EXPECT_NE(last.why_not.detail.find("is gone"), std::string::npos);
}

// ------------------------------------------------------------------------------- duplicates,
// reorders

TEST_F(Shard, a_repeated_prepare_is_answered_the_same_and_takes_no_more) {
  EXPECT_TRUE(promised(g, g_asks));
  EXPECT_TRUE(promised(g, g_asks));
  EXPECT_EQ(world.free_cpus("n1"), 2);
  EXPECT_EQ(world.records<protocol::prepared_record>().size(), 1u);
}

TEST_F(Shard, of_the_attempts_given_up_the_oldest_is_forgotten_first) {
  for (std::size_t n = 0; n < 4 * base::limits::attempts_in_flight; ++n)
    abort(attempt("m" + std::to_string(n)));
  abort(attempt("a")); // comes before all others by name
  abort(attempt("z"));
  EXPECT_FALSE(promised(attempt("a"), slice({{"a", "n1"}}))) << "it was overtaken by its end";
  EXPECT_TRUE(promised(attempt("m0"), slice({{"b", "n1"}}))) << "an inquiry ends this one";
}

TEST_F(Shard, a_second_prepare_while_nodes_are_asked_waits_for_the_one_vote) {
  world.cut_off("n2");
  prepare(g, g_asks);
  prepare(g, g_asks);
  world.connect("n2");
  EXPECT_TRUE(voted_yes());
  EXPECT_EQ(world.count<protocol::vote>(), 0u);
}

TEST_F(Shard, an_abort_while_nodes_are_asked_lets_all_of_them_go) {
  world.cut_off("n2");
  prepare(g, g_asks);
  abort(g);
  world.connect("n2");
  EXPECT_EQ(world.count<protocol::vote>(), 0u);
  EXPECT_EQ(world.free_cpus("n1"), 4);
  EXPECT_EQ(world.free_cpus("n2"), 4);
}

TEST_F(Shard, a_prepare_that_its_abort_has_overtaken_is_refused) {
  abort(g);
  EXPECT_FALSE(promised(g, g_asks));
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

TEST_F(Shard, a_prepare_below_the_low_water_is_refused) {
  prepare(words::attempt("h", 5), slice({{"x", "n1"}}), 5);
  EXPECT_TRUE(voted_yes());
  // The low water is the partition's; "g" of the same partition and an older try is dead.
  world.tell(protocol::new_epoch{coordinator(g), {1}, 5});
  EXPECT_FALSE(promised(words::attempt("g", 4), g_asks));
  EXPECT_TRUE(promised(words::attempt("g", 5), g_asks));
}

TEST_F(Shard, a_prepare_of_an_older_epoch_is_refused_and_the_new_epoch_is_durable_first) {
  world.tell(protocol::new_epoch{coordinator(g), {3}, 1});
  ASSERT_FALSE(world.records<protocol::epoch_record>().empty());
  EXPECT_TRUE(world.journal.back().is_synced);
  EXPECT_FALSE(promised(words::attempt("g", 9, 2), g_asks));
  EXPECT_TRUE(promised(words::attempt("g", 1, 3), g_asks));
}

TEST_F(Shard, an_abort_of_an_older_epoch_is_not_obeyed_but_asked_about) {
  EXPECT_TRUE(promised(g, g_asks));
  world.tell(protocol::new_epoch{coordinator(g), {2}, 1});
  world.mail.clear();
  abort(g);
  EXPECT_EQ(state(g), reservation_state::prepared);
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  owner_says(g, false);
  EXPECT_EQ(state(g), reservation_state::absent);
}

TEST_F(Shard, a_commit_is_acked_again_without_another_record) {
  EXPECT_TRUE(committed(g, g_asks));
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(world.records<protocol::committed_record>().size(), 1u);
}

TEST_F(Shard, an_abort_after_the_commit_changes_nothing_and_a_human_hears_of_it) {
  EXPECT_TRUE(committed(g, g_asks));
  abort(g);
  EXPECT_EQ(state(g), reservation_state::committed);
  EXPECT_EQ(world.errors, std::vector<std::string>{"shard.abort_after_commit"});
}

TEST_F(Shard, the_bound_pod_may_be_seen_before_the_commit_is_heard) {
  EXPECT_TRUE(promised(g, g_asks));
  runs("a", "n1", 2);
  EXPECT_EQ(world.free_cpus("n1"), 2);
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  runs("b", "n2", 2);
  EXPECT_EQ(state(g), reservation_state::consumed);
}

// ------------------------------------------------------------------------------- doubt

TEST_F(Shard, in_doubt_it_holds_and_asks_with_doubling_patience) {
  EXPECT_TRUE(promised(g, g_asks));
  world.pass(base::limits::resend_first);
  EXPECT_EQ(world.count<protocol::inquiry>(), 1u);
  world.pass(2 * base::limits::resend_first);
  EXPECT_EQ(world.count<protocol::inquiry>(), 2u);
  world.pass(10min);
  EXPECT_LE(world.count<protocol::inquiry>(), 130u);
  EXPECT_GE(world.count<protocol::inquiry>(), 115u) << "every five seconds in the end";
  EXPECT_EQ(state(g), reservation_state::prepared) << "however long";
  owner_says(g, false);
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

TEST_F(Shard, a_new_owner_is_asked_at_once_about_what_is_in_doubt) {
  EXPECT_TRUE(promised(g, g_asks));
  world.tell(protocol::new_epoch{coordinator(g), {2}, 1});
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
}

TEST_F(Shard, a_quiet_committed_attempt_is_asked_about_and_ends_when_it_was_done) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("a", "n1", 2);
  runs("b", "n2", 2);
  world.pass(base::limits::resend_longest); // its `finish` was lost
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  owner_says(g, true);
  EXPECT_EQ(state(g), reservation_state::absent);
}

TEST_F(Shard, after_finish_it_holds_what_is_not_yet_seen_bound_or_gone) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("a", "n1", 2);
  finish(g);
  EXPECT_EQ(world.free_cpus("n2"), 2);
  leaves("b", "n2");
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n2"), 4);
}

TEST_F(Shard,
       S10_after_finish_it_asks_about_pods_that_were_not_seen_and_frees_those_that_are_gone) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("a", "n1", 2);
  finish(g);
  EXPECT_EQ(world.count<protocol::pods_awaited>(), 0u) << "the watch is a moment late, as always";
  world.pass(base::limits::resend_longest);
  EXPECT_EQ(awaited(), names{"b"});
  world.pass(base::limits::resend_longest);
  EXPECT_EQ(awaited(), names{"b"}) << "the question may be lost";
  leaves("b", "n2");
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n2"), 4);
}

TEST_F(Shard, L1_it_asks_whom_it_holds_for_as_soon_as_it_can_see_again) {
  EXPECT_TRUE(committed(g, g_asks));
  EXPECT_TRUE(promised(h, slice({{"x", "n1", 1}})));
  fresh(false);
  EXPECT_EQ(world.count<protocol::pods_awaited>(), 0u);
  fresh(true);
  EXPECT_EQ(awaited(), (names{"a", "b", "x"}));
  leaves("b", "n2"); // it has been bound, and has finished, while nobody looked
  EXPECT_EQ(world.free_cpus("n2"), 4);
  EXPECT_EQ(state(g), reservation_state::committed) << "a is still awaited";
}

TEST_F(Shard, L1_it_asks_about_the_holders_of_a_node_when_it_cannot_ack) {
  EXPECT_TRUE(committed(g, g_asks));
  EXPECT_TRUE(committed(h, slice({{"x", "n1", 1}})));
  runs("foreign", "n1", 2);
  commit(h, slice({{"x", "n1", 1}}));
  EXPECT_FALSE(acked());
  EXPECT_EQ(awaited(), (names{"a", "b", "x"}));
  leaves("a", "n1");
  commit(h, slice({{"x", "n1", 1}}));
  EXPECT_TRUE(acked());
}

TEST_F(Shard, what_a_fresh_view_never_showed_after_finish_is_dropped) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("a", "n1", 2);
  finish(g);
  fresh(false);
  world.pass(base::limits::view_stale_after);
  EXPECT_EQ(world.free_cpus("n2"), 2) << "a stale view proves nothing";
  fresh(true);
  world.pass(base::limits::view_stale_after);
  EXPECT_EQ(world.free_cpus("n2"), 4);
  EXPECT_EQ(state(g), reservation_state::absent);
}

// ------------------------------------------------------------------------------- releases

TEST_F(Shard, a_cancelled_member_is_released_alone) {
  EXPECT_TRUE(committed(g, g_asks));
  release(g, {pod("b")});
  EXPECT_EQ(world.take<protocol::released>()->pods, std::vector{pod("b")});
  EXPECT_EQ(world.free_cpus("n1"), 2);
  EXPECT_EQ(world.free_cpus("n2"), 4);
  release(g, {pod("b")});
  EXPECT_TRUE(world.take<protocol::released>()) << "answered again";
}

TEST_F(Shard, a_late_commit_does_not_hold_released_members_again) {
  EXPECT_TRUE(committed(g, g_asks));
  release(g, {pod("a"), pod("b")});
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

// ------------------------------------------------------------------------------- victims

TEST_F(Shard, victims_make_room_for_those_who_named_them) {
  runs("v", "n1", 4);
  EXPECT_FALSE(promised(h, slice({{"x", "n1"}})));
  EXPECT_TRUE(promised(g, slice({{"a", "n1"}}, {{"v", "n1"}})));
  EXPECT_FALSE(promised(words::attempt("h", 2), slice({{"x", "n1"}}, {{"v", "n1"}})));
  EXPECT_EQ(last.why_not.primary, reason_code::reservation_conflict);
  EXPECT_EQ(last.holders, std::vector{g}) << "each victim is in one plan";
}

TEST_F(Shard, a_victim_that_is_gone_means_an_old_view) {
  EXPECT_FALSE(promised(g, slice({{"a", "n1"}}, {{"v", "n1"}})));
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
}

TEST_F(Shard, S9_a_victim_that_is_not_below_the_gang_is_not_lent) {
  world.tell(
      protocol::pod_arrived{words::node("n1"), pod("v"), words::taking(4), {}, gangs_priority});
  EXPECT_FALSE(promised(g, slice({{"a", "n1"}}, {{"v", "n1"}})));
  EXPECT_EQ(last.why_not.primary, reason_code::view_stale);
  world.tell(
      protocol::pod_arrived{words::node("n1"), pod("v"), words::taking(4), {}, gangs_priority - 1});
  EXPECT_TRUE(promised(words::attempt("g", 2), slice({{"a", "n1"}}, {{"v", "n1"}})))
      << "its group has another priority now";
}

TEST_F(Shard, says_whose_victims_run_here) {
  const auto named = [&] {
    world.mail.clear();
    world.tell(protocol::named_wanted{h}, protocol::to(protocol::role_kind::preemption));
    const auto told = world.take<protocol::named_told>();
    return told ? told->pods : std::vector<base::pod_uid>{{"nothing was told"}};
  };
  runs("v", "n1", 4);
  runs("w", "n2", 4);
  EXPECT_TRUE(named().empty());
  EXPECT_TRUE(promised(g, slice({{"a", "n1"}}, {{"v", "n1"}, {"w", "n2"}})));
  EXPECT_EQ(named(), (std::vector{pod("v"), pod("w")}));
  abort(g);
  EXPECT_TRUE(named().empty());
}

TEST_F(Shard, releasing_a_member_counts_its_running_victim_again) {
  runs("v", "n1", 4);
  EXPECT_TRUE(committed(g, slice({{"a", "n1"}}, {{"v", "n1"}})));
  release(g, {pod("a")});
  EXPECT_EQ(world.free_cpus("n1"), 0);
  finish(g);
  EXPECT_TRUE(promised(h, slice({{"x", "n1"}}, {{"v", "n1"}}))) << "the victim may be named again";
}

TEST_F(Shard, a_slice_without_members_is_promised_and_committed) {
  runs("v", "n1", 4);
  const auto asked = slice({}, {{"v", "n1"}});
  EXPECT_TRUE(committed(g, asked));
  finish(g);
  EXPECT_EQ(state(g), reservation_state::absent);
}

// ------------------------------------------------------------------------------- the fast path

TEST_F(Shard, a_fast_yes_writes_nothing_and_its_commit_is_acked_at_once) {
  prepare(g, g_asks, 0, true);
  EXPECT_TRUE(voted_yes());
  EXPECT_TRUE(world.records<protocol::prepared_record>().empty());
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_TRUE(world.records<protocol::committed_record>().empty()) << "it came with the decision";
}

TEST_F(Shard, a_fast_yes_is_taken_back_only_by_its_coordinator) {
  prepare(g, g_asks, 0, true);
  EXPECT_TRUE(voted_yes());
  fresh(false);
  node("n1", 1);
  world.pass(10min);
  EXPECT_EQ(state(g), reservation_state::prepared);
  abort(g);
  EXPECT_EQ(state(g), reservation_state::absent);
}

} // namespace
} // namespace tutti::shards
