// What a role has asked the decision log for and was not answered yet, where the log is API
// objects.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"

namespace tutti::actors {

/// How often a role's shell repeats what the decision log has not answered: the log may have died
/// with the question. Far above a healthy answer; a copy costs one message.
inline constexpr base::duration log_resend = std::chrono::seconds{5};

/// A store answers the life that asked. The log's role answers an address, and there may be another
/// life by then: what was said to the former one must not pass for an answer to this one. So only
/// what agrees with an open question is taken; about a slot the log never says two things.
class log_words {
public:
  /// The words for the log.
  protocol::message ask(const protocol::decide& x, base::time_point now);
  protocol::message ask(const protocol::amend& x);
  /// The event that `what` means to the role; nothing if it answers no open question.
  std::optional<protocol::event> take(const protocol::slot_decided& what);
  std::optional<protocol::event> take(const protocol::slot_amended& what);

  bool empty() const { return decides_.empty() && amends_.empty(); }
  /// All open questions once more.
  std::vector<protocol::message> open() const;
  /// How long the decision that was answered last has taken.
  base::duration took(base::time_point now) const { return now - since_; }

private:
  struct question {
    protocol::decision_ptr what;
    base::time_point since;
  };
  std::map<base::slot_id, question> decides_;
  std::map<base::slot_id, protocol::amendment> amends_;
  base::time_point since_{};
};

} // namespace tutti::actors
