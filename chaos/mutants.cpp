#include "chaos/mutants.hpp"

#include <algorithm>

#include "base/mutant.hpp"

namespace tutti::chaos {

namespace {

std::vector<planted_bug> bugs_of_the_log_and_of_owners() {
  using enum base::mutant;
  return {
      // log and disk
      {bind_before_decision, "bind-before-decision",
       "Bindings are posted while the decision is on its way to the disk", 200},
      {promise_and_ack_before_sync, "promise-and-ack-before-sync",
       "a shard writes no promise, and acks before its record is synced", 200},
      {release_before_cancel, "release-before-cancel",
       "room is given back while the CANCEL is on its way to the disk", 200},
      {skip_incarnation_check, "skip-incarnation-check",
       "a decision may rest on the yes of a shard that has died since", 200},
      {take_back_fast_yes, "take-back-fast-yes",
       "a shard takes back the yes of a fast path by itself", 200},
      {abort_while_deciding, "abort-while-deciding",
       "a coordinator tells ABORT while its decision is on its way to the disk", 200},
      {read_log_before_queue, "read-log-before-queue",
       "a coordinator that is made anew reads the log before what is queued is written", 200},
      {finish_before_settled, "finish-before-settled",
       "DONE is written as soon as one member is bound", 200},
      {cancel_while_deciding, "cancel-while-deciding",
       "an operator's cancel is obeyed while the decision is on its way to the disk", 200},
      {forget_cancels, "forget-cancels", "a second CANCEL takes the place of the first", 400},
      {batch_overtakes_release, "batch-overtakes-release",
       "a decision is written before what its shards have written before their votes", 300},
      // fencing
      {ignore_epoch, "ignore-epoch", "a shard obeys coordinators whose epoch is over", 200},
      {ignore_low_water, "ignore-low-water", "a shard does not know which attempts were given up",
       600},
      {reuse_epoch, "reuse-epoch", "a coordinator begins a new life under its old epoch", 200},
      {release_without_touch, "release-without-touch",
       "room of a cancelled member is given back without a touch of its pod", 200},
      {drop_uid_guard, "drop-uid-guard", "Bindings name no uid", 200},
      {presume_abort_of_living, "presume-abort-of-living",
       "a shard in doubt is told \"aborted\" of an attempt that is under way", 200},
      // takeover
      {list_before_epoch, "list-before-the-epoch-is-set",
       "decisions are listed before the map names the new owner", 100, 3},
      {write_over_a_winner, "write-over-a-winner",
       "who finds its slot taken by another owner writes its own decision over it", 100, 3},
      {presume_without_closing, "presume-without-closing",
       "a shard in doubt is told \"aborted\" of an older owner's attempt whose slot is left open",
       0, 3},
  };
}

std::vector<planted_bug> bugs_of_what_is_counted_and_told() {
  using enum base::mutant;
  return {
      // counting
      {count_reserved_and_bound_twice, "count-reserved-and-bound-twice",
       "a pod that is seen bound counts beside its own reservation", 200},
      {bind_before_cover, "bind-before-cover",
       "Bindings begin with the first ack, whether the minimum is covered or not", 200},
      {skip_last_look, "skip-last-look", "what was planned is decided without a last look", 200},
      {give_room_back_twice, "give-room-back-twice", "a release gives the room back twice", 200},
      {begin_node_empty, "begin-node-empty",
       "a node actor that is made anew is not told what its node has promised", 200},
      {keep_after_a_no, "keep-after-a-no",
       "a shard that votes no keeps what its other nodes have held for it", 200},
      {keep_old_size, "keep-old-size", "a node actor is not told that its node was resized", 200},
      {give_leave_by_promises, "give-leave-by-promises",
       "leave to bind is given to whoever is promised room, whatever really is on the node", 0, 3},
      {hold_for_the_gone, "hold-for-the-gone", "a pod that is seen gone does not end its hold", 0},
      // answers
      {take_unknown_for_failed, "take-unknown-for-failed",
       "a Binding whose answer was 500 or lost is taken for failed", 200},
      {take_conflict_for_bound, "take-conflict-for-bound",
       "a Binding that is refused with 409 is taken for done, unread", 200},
      // recovery
      {drop_last_record, "drop-last-record", "the last record of a journal is not replayed", 200},
      {leave_out_of_checkpoint, "leave-out-of-checkpoint",
       "a checkpoint of a shard leaves out one of its promises", 200},
      {replay_no_promise, "replay-no-promise",
       "promises in doubt are not taken up from the journal", 200},
      {believe_a_damaged_record, "believe-a-damaged-record",
       "a record whose checksum does not hold is read all the same", 200},
      {leave_in_doubt, "leave-in-doubt",
       "a shard does not ask about what it has promised in a former life", 200},
      {ask_of_doubts_only, "ask-of-doubts-only",
       "a shard does not ask whether what is committed is done", 200},
      {cut_what_others_need, "cut-what-others-need",
       "a checkpoint cuts the journal of other roles too", 200},
      // what is watched
      {keep_the_gone, "keep-the-gone",
       "what was deleted while a watch was away is not missed in the list that follows", 200},
      {trust_a_cut_view, "trust-a-cut-view", "a broken watch is not told to the shards", 200},
      {vote_on_a_stale_view, "vote-on-a-stale-view",
       "a shard votes yes although its view is not fresh", 200},
      {show_a_node_empty, "show-a-node-empty",
       "a shard is not told of the pods that were there before their node", 200},
      // the queue, and what people read
      {lose_wake_up, "lose-wake-up", "gangs that wait are not woken when room comes free", 200},
      {evict_before_it_is_shown, "evict-before-it-is-shown",
       "members of a degraded gang are evicted before the API server shows it as such", 200},
      {leave_the_rest, "leave-the-rest", "members that an attempt has left out are not tried again",
       200},
      {rest_for_ever, "rest-for-ever",
       "a gang whose attempt came to nothing is not tried for a day", 200},
      {give_no_reason, "give-no-reason", "a gang that may not be tried gives no reason", 200},
  };
}

/// Each bug of the small model is found before: half a minute is the most that one takes.
constexpr std::uint64_t states_of_a_bug = 600'000;

std::vector<exhausted_bug> bugs_of_the_small_models_owners() {
  using enum base::mutant;
  using small::fault_kind;
  const small::world::options objects{.log = small::log_kind::objects};
  const small::world::options rivals{
      .log = small::log_kind::objects, .gangs = 2, .retries_at_once = 0};
  const small::exhaust_options shard_is_taken{.of = objects,
                                              .faults = 1,
                                              .kinds = {fault_kind::shard_takeover},
                                              .states_max = states_of_a_bug};
  return {
      {list_pods_before_decisions, "list-pods-before-decisions",
       "a shard's next owner takes the pods that its mirror has, and not a list that begins after "
       "that of decisions",
       "S1a", shard_is_taken},
      {count_an_old_ack, "count-an-ack-of-an-older-epoch",
       "an ack of a shard's former owner counts, though the map names another", "S1a",
       shard_is_taken},
      {write_over_a_winner,
       "write-over-a-winner",
       "who finds its slot taken by another owner writes its own decision over it",
       "S2",
       {.of = objects,
        .faults = 1,
        .kinds = {fault_kind::takeover},
        .is_old_owner_slow = true,
        .states_max = states_of_a_bug,
        .states_per_fault = 400}},
      {ack_colliding,
       "ack-colliding-decisions",
       "a shard acks a decided plan although those that it has listed collide",
       "S1a",
       {.of = rivals, .begins_with_collision = true, .shuffle = 1, .states_max = states_of_a_bug}},
  };
}

/// The searches that hold without them are tests of the model: chaos.SmallVictims.*.
std::vector<exhausted_bug> bugs_of_the_small_models_victims() {
  using enum base::mutant;
  using small::fault_kind;
  const small::world::options victim{.has_victim = true};
  return {
      {evict_before_decision,
       "evict-before-decision",
       "victims go while the decision is written",
       "S9",
       {.of = {.log = small::log_kind::objects, .has_victim = true},
        .states_max = states_of_a_bug}},
      {evict_the_reprieved,
       "evict-the-reprieved",
       "a victim is deleted though somebody touched it since it was marked",
       "S9",
       {.of = victim,
        .faults = 1,
        .kinds = {fault_kind::hurry},
        .shuffle = 4,
        .states_max = states_of_a_bug,
        .states_per_fault = 1000}},
      {withdraw_without_stopping,
       "withdraw-without-stopping",
       "who resumes a decision that cannot be covered withdraws it while its victims may be "
       "evicted",
       "S9",
       {.of = victim,
        .faults = 2,
        .kinds = {fault_kind::actor, fault_kind::removal},
        .shuffle = 1,
        .states_max = 60'000,
        .states_per_fault = 60}},
  };
}

} // namespace

const std::vector<planted_bug>& planted_bugs() {
  static const std::vector<planted_bug> no_bugs;
  if constexpr (!base::has_mutants)
    return no_bugs;
  static const std::vector<planted_bug> all = [] {
    auto both = bugs_of_the_log_and_of_owners();
    const auto more = bugs_of_what_is_counted_and_told();
    both.insert(both.end(), more.begin(), more.end());
    return both;
  }();
  return all;
}

const planted_bug* find_bug(std::string_view name) {
  const auto& all = planted_bugs();
  const auto pos =
      std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.name == name; });
  return pos == all.end() ? nullptr : &*pos;
}

const std::vector<exhausted_bug>& exhausted_bugs() {
  static const std::vector<exhausted_bug> no_bugs;
  if constexpr (!base::has_mutants)
    return no_bugs;
  static const std::vector<exhausted_bug> all = [] {
    auto both = bugs_of_the_small_models_owners();
    const auto more = bugs_of_the_small_models_victims();
    both.insert(both.end(), more.begin(), more.end());
    return both;
  }();
  return all;
}

} // namespace tutti::chaos
