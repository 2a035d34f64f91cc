// Planted bugs, by name: tests of the tests. Only builds with TUTTI_MUTANTS have any of them.
//
// A place that a mutant changes asks `is_planted`. Without the definition the answer is a constant
// "no", and nothing of the question is left in the program. The definition is set on single source
// files (`tutti_mutated` in cmake/), never on a header: include this from .cpp files only.
#pragma once

#include <cstdint>

namespace tutti::base {

/// Each is one rule of protocol/README.md left out. What each does, and within how many worlds it
/// is found, stands in chaos/mutants.cpp.
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
  // fencing
  ignore_epoch,
  ignore_low_water,
  reuse_epoch,
  release_without_touch,
  drop_uid_guard,
  presume_abort_of_living,
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
  give_room_back_twice,
  begin_node_empty,
  keep_after_a_no,
  // answers
  take_unknown_for_failed,
  // recovery
  drop_last_record,
  leave_out_of_checkpoint,
  replay_no_promise,
  believe_a_damaged_record,
  // what is watched
  keep_the_gone,
  trust_a_cut_view,
  vote_on_a_stale_view,
  // the queue, and what people read
  lose_wake_up,
  evict_before_it_is_shown,
  leave_the_rest,
  give_no_reason,
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
