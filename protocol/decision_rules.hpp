// What may be written into a decision slot, and what an amendment makes of it: the rules that every
// decision log keeps, wherever its records are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/decision.hpp"

namespace tutti::protocol {

/// A decision that needs no more than this is finished: the next ordinal may begin.
inline bool is_finished(const decision& x) {
  return x.is_done || x.what == verdict::aborted;
}

/// Under whose epoch it may be amended: whoever adopted it last, or has decided it.
inline base::epoch_no owner_of(const decision& x) {
  return std::max(x.by.epoch, x.adopted_by);
}

/// Whom a done decision has bound, ascending as `decision::bound`: its members but those given up,
/// and of these who was bound all the same. Empty if it is not done, or aborted.
std::vector<std::uint64_t> bound_by(const decision& x);

/// What is kept of a done decision: who won, that it is over, and whom it has bound.
decision tombstone_of(const decision& x);

/// Why `slot` may not be decided now, `last` being the highest slot that was decided of its gang
/// and not `slot` itself: it is long past, or the last is not finished. Upholds S7.
std::optional<base::error> refuse_turn(const decision& last, const base::slot_id& slot);

/// What became of a decision by an amendment.
struct amendment_result {
  bool is_refused = false; ///< `now` is as it was
  bool is_changed = false; ///< `now` is to be written; it has the plan even if it is done
  decision now;
};

/// Cancels, adopts, finishes. Of `change.bound` counts who is given up, and only with the first
/// DONE: all others are in the plan. Refused if a later epoch than `change.by` has decided or
/// adopted it, or if members of a finished plan are to be cancelled. Repeating it changes nothing.
/// Upholds S2: winner and plan stay, what is cancelled, adopted and done only grows.
amendment_result amend_decision(const decision& was, const amendment& change);

} // namespace tutti::protocol
