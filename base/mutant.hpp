// Planted bugs, by name: tests of the tests. Only builds with TUTTI_MUTANTS have any of them.
//
// A place that a mutant changes asks `is_planted`. Without the definition the answer is a constant
// "no", and nothing of the question is left in the program. The definition is set on single source
// files (`tutti_mutated` in cmake/), never on a header: include this from .cpp files only.
#pragma once

#include <cstdint>

namespace tutti::base {

/// Each is one rule of protocol/README.md left out. What each does, and who finds it, stands in
/// chaos/mutants.cpp and chaos/role_mutants.cpp.
enum class mutant : std::uint8_t {
  none,
  // log and disk
  bind_before_decision,
  promise_and_ack_before_sync,
  release_before_cancel,
  skip_incarnation_check,
  batch_overtakes_release,
  take_back_fast_yes,
  abort_while_deciding,
  read_log_before_queue,
  finish_before_settled,
  cancel_while_deciding,
  forget_cancels,
  write_over_a_winner,
  skip_the_turn,
  take_lost_decision_for_failed,
  let_an_older_owner_amend,
  withdraw_without_first_touch,
  // fencing
  ignore_epoch,
  ignore_low_water,
  reuse_epoch,
  release_without_touch,
  drop_uid_guard,
  presume_abort_of_living,
  post_without_a_look,
  count_an_earlier_look,
  // takeover
  list_before_epoch,
  list_pods_before_decisions,
  count_an_old_ack,
  ack_colliding,
  list_skips_cancelled,
  presume_without_closing,
  // counting
  count_reserved_and_bound_twice,
  bind_before_cover,
  skip_last_look,
  bind_without_leave,
  give_leave_by_promises,
  trust_a_new_ledger,
  keep_old_size,
  hold_for_the_gone,
  give_room_back_twice,
  begin_node_empty,
  keep_after_a_no,
  // victims
  evict_before_decision,
  evict_before_cover,
  choose_new_victims,
  share_a_victim,
  lend_all_of_a_victim,
  stop_without_a_touch,
  evict_the_reprieved,
  call_a_dying_victim_gone,
  withdraw_without_stopping,
  offer_equals,
  offer_a_part,
  offer_the_named,
  vote_for_any_victim,
  // guards
  bind_before_a_guards_ack,
  share_an_exclusive_guard,
  believe_an_old_version,
  restart_a_guards_version,
  forget_what_was_listed,
  take_no_shared_guard,
  hide_promised_ties,
  overlook_new_guards,
  let_the_unaware_be,
  // answers
  take_unknown_for_failed,
  take_conflict_for_bound,
  believe_any_node,
  let_leave_last,
  ignore_the_fence,
  post_behind_the_touch,
  post_what_was_asked_first,
  post_before_the_writes,
  believe_a_write,
  // recovery
  drop_last_record,
  leave_out_of_checkpoint,
  replay_no_promise,
  believe_a_damaged_record,
  replay_no_release,
  replay_no_fence,
  leave_in_doubt,
  ask_of_doubts_only,
  cut_what_others_need,
  forget_who_is_bound,
  // what is watched
  keep_the_gone,
  trust_a_cut_view,
  vote_on_a_stale_view,
  take_any_version,
  resume_after_410,
  go_by_the_name,
  show_a_node_empty,
  // the queue, and what people read
  lose_wake_up,
  forget_who_is_owed,
  rest_for_ever,
  do_not_ask_again,
  keep_the_untold,
  evict_before_it_is_shown,
  leave_the_rest,
  give_no_reason,
  end, ///< of the list: no bug
};

#ifdef TUTTI_MUTANTS

// Names of their own: the two variants of this header may meet in one program.
inline namespace with_mutants {

inline constexpr bool has_mutants = true;
/// True while `x` is switched on.
bool is_planted(mutant x) noexcept;
/// Switches `x` on, and every other off, for the whole process; `none` switches all off. Not while
/// anything runs that may ask.
void plant(mutant x) noexcept;

} // namespace with_mutants

#else

inline namespace without_mutants {

inline constexpr bool has_mutants = false;
constexpr bool is_planted(mutant) noexcept {
  return false;
}
constexpr void plant(mutant) noexcept {}

} // namespace without_mutants

#endif

} // namespace tutti::base
