// What lies in the mailbox of a role's actor: events for the role, and the shell's own business.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include <caf/allowed_unsafe_message_type.hpp>

#include "base/result.hpp"
#include "persistence/store.hpp"
#include "protocol/events.hpp"

namespace tutti::actors {

/// The store has taken the shell's `n`-th append (or not: then the store is broken).
struct append_done {
  std::uint64_t n = 0;
  base::result<persistence::journal_index> index;
};

/// The store has answered a `decide` or an `amend` of the role.
struct decide_done {
  base::slot_id slot;
  base::result<persistence::decide_outcome> outcome;
  base::time_point since; ///< when it was handed to the store
};
struct amend_done {
  base::slot_id slot;
  base::result<persistence::amend_outcome> outcome;
};

/// A timer of the role, armed for the `n`-th time; an older arming is void.
struct timer_due {
  protocol::timer_id timer;
  std::uint64_t n = 0;
};

/// Time to write a checkpoint, if there is something new.
struct checkpoint_due {
  bool is_last = false; ///< the process stops: write it even if little is new, then end
};
struct checkpoint_done {
  base::result<void> how;
};

/// Time to ask the decision log again for what it has not answered (the log is API objects).
struct log_overdue {};

/// Everybody who is to be found at the start is there: handle the first events and go.
struct begin {};

using letter = std::variant<begin, protocol::event, append_done, decide_done, amend_done, timer_due,
                            checkpoint_due, checkpoint_done, log_overdue>;

/// Letters are moved in once and read once; the pointer spares CAF the copies.
using mail = std::shared_ptr<letter>;

template <class T>
mail make_mail(T x) {
  return std::make_shared<letter>(std::move(x));
}

} // namespace tutti::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tutti::actors::mail)
