// Planted bugs that tests of single roles show, each with the test and why no world does it.
#include "base/mutant.hpp"
#include "chaos/mutants.hpp"

namespace tutti::chaos {

namespace {

using enum base::mutant;

constexpr std::string_view victims = "not looked for in worlds with priorities yet";
constexpr std::string_view checked_again = "shards look at each victim again";
constexpr std::string_view guards = "not looked for in worlds with terms yet";
constexpr std::string_view writes = "no plan has writes before a Binding yet";
/// Searched so much, and not seen.
constexpr std::string_view rare = "not seen in 200 worlds of one process, nor in 150 of three";
constexpr std::string_view repeated = "not seen in 200 worlds: what is lost is soon said again";

std::vector<role_bug> bugs_of_owners() {
  return {
      {let_an_older_owner_amend, "let-an-older-owner-amend",
       "an owner before the one that has adopted a decision may still cancel and finish",
       "protocol.DecisionRules."
       "Q3_an_older_owner_changes_nothing_once_a_later_one_has_adopted_the_record",
       rare},
      {withdraw_without_first_touch, "withdraw-without-first-touch",
       "members of a plan that is withdrawn are cancelled before it is known that none is bound",
       "protocol.crash_table.C14_a_member_found_bound_at_the_first_touch_ends_the_withdrawal",
       rare},
      {post_without_a_look, "post-without-a-look",
       "a Binding is posted by a version that was read after the last look at the record",
       "protocol.coordinator_map.Q1_a_look_that_finds_a_later_owner_stops_every_post", rare},
      {count_an_earlier_look, "count-an-earlier-look",
       "a look at the record counts that was asked for before the pod was read",
       "protocol.coordinator_map."
       "members_that_a_withdrawal_has_touched_are_looked_at_before_they_are_posted",
       rare},
      {ack_colliding, "ack-colliding-decisions",
       "a shard acks a decided plan although those that it has listed collide",
       "shards.ShardCrash."
       "P11_colliding_decisions_are_all_held_and_none_is_acked_until_one_is_gone",
       "leave to bind stops what it lets through"},
      {list_skips_cancelled, "skip-cancelled-members-at-takeover",
       "a shard's next owner does not hold members that are cancelled and perhaps not touched",
       "shards.ShardTakeover.P7_holds_what_is_decided_cancelled_members_too",
       "needs a Binding of a former owner under way, a CANCEL of the next and a takeover of the "
       "shard"},
      {skip_the_turn, "skip-the-turn",
       "a decision slot begins though the one before it is not finished",
       "decisions.Decisions.the_next_slot_waits_until_the_last_is_done",
       "a partition does not ask out of turn unless it has lost what it knew"},
      {take_lost_decision_for_failed, "take-lost-decision-for-failed",
       "a decision whose answer was lost is called failed, unread",
       "decisions.Decisions.C3_a_lost_answer_is_settled_by_reading_what_was_written",
       "whoever is told so asks again, and finds its own decision"},
  };
}

std::vector<role_bug> bugs_of_victims_and_guards() {
  return {
      {evict_before_decision, "evict-before-decision", "victims go while the decision is written",
       "protocol.coordinator.a_slice_without_members_must_be_acked_before_anything_starts",
       victims},
      {evict_before_cover, "evict-before-cover", "victims go before the acks cover the gang",
       "protocol.coordinator.a_slice_without_members_must_be_acked_before_anything_starts",
       victims},
      {choose_new_victims, "choose-new-victims",
       "an evictor that does not answer is a reason to name other victims",
       "protocol.crash_table.C6_nobody_else_is_evicted_whoever_might_do_as_well", victims},
      {share_a_victim, "share-a-victim", "two plans may name one victim",
       "shards.NodeLedger.a_victim_is_in_one_plan_only", victims},
      {lend_all_of_a_victim, "lend-all-of-a-victim",
       "a victim's room is lent whole, whoever else holds the seats that borrow it",
       "shards.NodeLedger.a_borrowed_pod_that_a_rival_also_holds_must_fit_without_the_victim",
       victims},
      {stop_without_a_touch, "stop-without-a-touch",
       "a victim that is let go is not touched: a DELETE that is under way still removes it",
       "bridge.Evictor.S9_stopping_touches_a_victim_whose_mark_was_lost", victims},
      {evict_the_reprieved, "evict-the-reprieved",
       "a victim is deleted though somebody touched it since it was marked",
       "bridge.Evictor.a_victim_that_was_touched_since_the_mark_is_let_live", victims},
      {call_a_dying_victim_gone, "call-a-dying-victim-gone",
       "a victim counts as gone while its grace period runs",
       "bridge.Evictor.says_why_then_deletes_exactly_what_it_marked_and_waits_until_it_is_gone",
       victims},
      {offer_equals, "offer-equals", "pods of the gang's own priority are offered as victims",
       "bridge.VictimBook.P8_offers_those_of_strictly_lower_priority", checked_again},
      {offer_a_part, "offer-a-part", "of a group that goes whole one member is offered alone",
       "bridge.VictimBook.P7_a_group_that_goes_whole_is_one_unit_and_its_members_are_none",
       "the judge does not know what a unit is"},
      {offer_the_named, "offer-the-named", "a shard does not say whose victims run there",
       "shards.Shard.says_whose_victims_run_here", checked_again},
      {vote_for_any_victim, "vote-for-any-victim",
       "a shard lends the room of a pod that is not below the gang",
       "shards.Shard.S9_a_victim_that_is_not_below_the_gang_is_not_lent",
       "whoever plans looks at priorities, too"},
      {bind_before_a_guards_ack, "bind-before-a-guards-ack",
       "a gang counts as covered though a slice without members is not acked",
       "protocol.coordinator.a_slice_without_members_must_be_acked_before_anything_starts", guards},
      {share_an_exclusive_guard, "share-an-exclusive-guard", "an exclusive use keeps nobody out",
       "shards.Guards.an_exclusive_use_keeps_everybody_out", guards},
      {believe_an_old_version, "believe-an-old-version",
       "a plan may quote a version from before the last committed use",
       "shards.Guards.a_plan_from_before_an_exclusive_use_was_decided_is_stale", guards},
      {restart_a_guards_version, "restart-a-guards-version",
       "a new owner of the guard's shard counts from where its predecessor began",
       "shards.Guards.a_new_owner_starts_above_all_versions_of_its_predecessors", guards},
      {forget_what_was_listed, "forget-what-was-listed",
       "a new owner does not hold the guards of the decisions that it has listed",
       "shards.Guards.S15_a_new_owner_holds_the_guards_of_the_decisions_that_it_has_listed",
       guards},
      {overlook_new_guards, "overlook-new-guards",
       "a shard does not ask whether a plan has heard of its guards",
       "shards.Guards.a_plan_that_has_not_heard_of_a_guard_is_stale", guards},
      {let_the_unaware_be, "let-the-unaware-be",
       "what was promised before a guard was known is in nobody's way",
       "shards.Guards."
       "S15_what_was_promised_before_a_guard_was_known_keeps_an_exclusive_use_out",
       guards},
      {hide_promised_ties, "hide-promised-ties",
       "the view does not tell of the ties of promised pods",
       "shards.Guards.the_view_counts_pods_by_their_ties_whether_they_run_or_are_promised", guards},
      {take_no_shared_guard, "take-no-shared-guard",
       "a gang whose pods a term of others means takes no guard",
       "placement.PlanGuards.whom_a_wider_distance_means_asks_every_shard_shared", guards},
  };
}

std::vector<role_bug> bugs_of_bindings() {
  return {
      {post_before_the_writes, "post-before-the-writes",
       "a member is bound before what its plan wants written first",
       "bridge.Binder.writes_before_the_binding_in_order_and_reads_each_back", writes},
      {believe_a_write, "believe-a-write", "a write before a Binding is not read back",
       "bridge.Binder.writes_before_the_binding_in_order_and_reads_each_back", writes},
      {bind_without_leave, "bind-without-leave", "a node is not asked before a Binding is posted",
       "protocol.coordinator.S1b_a_node_that_was_made_anew_meanwhile_is_not_bound_to", rare},
      {trust_a_new_ledger, "trust-a-new-ledger",
       "a node actor that is made anew gives leave as if no Binding of before could be under way",
       "shards.NodeLedger.promises_made_before_a_rebuild_may_be_on_their_way", rare},
      {let_leave_last, "let-leave-last", "leave to bind that was given long ago is believed",
       "bridge.Binder.S1b_a_binding_that_has_waited_longer_than_leave_lasts_is_not_posted", rare},
      {ignore_the_fence, "ignore-the-fence",
       "the binder posts although the pod shows a later owner's fence",
       "bridge.Binder.a_newer_owner_in_this_process_stops_the_older_one", rare},
      {post_behind_the_touch, "post-behind-the-touch",
       "a Binding that waits for its turn is posted behind the touch that gives its member up",
       "bridge.Binder.a_touch_stops_a_binding_that_has_not_left", rare},
      {post_what_was_asked_first, "post-what-was-asked-first",
       "a Binding that waits is posted as it was asked first, whatever was asked since",
       "bridge.Binder.newer_words_replace_those_that_have_not_left", rare},
      {believe_any_node, "believe-any-node",
       "a pod that is found on another node than was asked for is taken for bound",
       "bridge.Binder.tells_the_kinds_of_conflict_apart_by_reading_the_pod",
       "nobody else binds our pods there"},
  };
}

std::vector<role_bug> bugs_of_memory() {
  return {
      {replay_no_release, "replay-no-release", "releases are not taken up from the journal",
       "shards.ShardCrash.replaying_twice_gives_the_same_state", repeated},
      {replay_no_fence, "replay-no-fence",
       "the highest epochs heard of are not taken up from the journal",
       "shards.ShardCrash.the_highest_epoch_heard_of_survives", repeated},
      {forget_who_is_bound, "forget-who-is-bound",
       "a partition does not know whom its last decision has bound",
       "protocol.partition.P2_a_gang_is_not_tried_by_facts_that_show_a_bound_member_pending",
       "the queue knows it too, unless it dies in the same moment"},
      {take_any_version, "take-any-version",
       "an event of a watch that is older than what is known counts",
       "bridge.Reflector.repeated_and_older_events_change_nothing",
       "the simulated watch repeats events and keeps their order"},
      {resume_after_410, "resume-after-410",
       "a watch that has expired is resumed, and not listed anew",
       "bridge.Reflector.an_error_event_with_code_410_lists_again",
       "the simulated server still has what the watch has missed"},
      {go_by_the_name, "go-by-the-name",
       "a pod made anew under its old name is taken for the pod of before",
       "bridge.Mirror.a_pod_made_anew_under_the_same_name_is_another_pod", rare},
      {forget_who_is_owed, "forget-who-is-owed",
       "members that were bound and are not shown so yet are tried again",
       "queue.RetryGroup.q18a_members_that_are_left_are_tried_at_once_with_the_bound_ones_counted",
       "partitions refuse what is tried by late facts"},
      {do_not_ask_again, "do-not-ask-again",
       "what a partition had under way when it died is not asked for again at once",
       "queue.Owner.F6_a_new_life_of_the_partition_is_asked_at_once_and_the_gang_stays_where_it_is",
       repeated},
      {keep_the_untold, "keep-the-untold", "what vanished while the mirror was dead is still tried",
       "queue.Retelling.a_member_that_vanished_counts_no_more",
       "not seen in 300 worlds in which actors die"},
  };
}

} // namespace

const std::vector<role_bug>& role_bugs() {
  static const std::vector<role_bug> no_bugs;
  if constexpr (!base::has_mutants)
    return no_bugs;
  static const std::vector<role_bug> all = [] {
    auto out = bugs_of_owners();
    for (const auto& more : {bugs_of_victims_and_guards(), bugs_of_bindings(), bugs_of_memory()})
      out.insert(out.end(), more.begin(), more.end());
    return out;
  }();
  return all;
}

} // namespace tutti::chaos
