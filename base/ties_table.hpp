// One object per kind of ties in a process, for as long as anybody has it.
#pragma once

#include "base/kinds.hpp"

namespace tutti::base {

/// The object of this process that equals `x`; `x` itself becomes it if there is none. Thousands of
/// pods have equal ties, and messages of other replicas bring copies of them. Thread-safe. Two
/// unequal ties of one id are both right, and only one is shared.
ties_ptr shared(ties x);

} // namespace tutti::base
