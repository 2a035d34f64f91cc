// `tutti cancel`: the one verb with which an operator overrides the scheduler.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/reading.hpp"

namespace tutti::cli {

struct cancel_options {
  std::vector<std::string> members; ///< names of pods; empty = all that can be given up
  std::string reason;               ///< written into an event and the notes
};

/// Takes back what is under way of one gang: its attempt while that is undecided, afterwards the
/// members of its plan that are not bound. `what` is "NAME", "gang/NAME" or "NAMESPACE/NAME".
/// Prints what was done; `conflict` with the scheduler's words if nothing could be, `bad_input` for
/// an empty reason.
base::result<void> cancel_gang(const reader& daemon, const std::string& what,
                               const read_options& how, const cancel_options& about);

} // namespace tutti::cli
