// Named places at which a test can make the process die: faults are data, not code in the test.
#pragma once

#include <string_view>

namespace tutti::base {

/// Arms one fault point by `text` = "ID" or "ID:N": the N-th time (default 1) that `ID` is passed,
/// the process ends as by kill -9. An empty text arms nothing. Returns false if `text` has no ID or
/// N is not a positive number; then nothing is armed. Call before any thread starts.
bool arm_fault(std::string_view text);

/// Passes the fault point `id`. Inert unless armed. `id` is a row of the crash table, e.g. "C4".
/// Thread-safe.
void pass_fault(std::string_view id);

/// Called once with the armed id just before the process dies there, on the thread that passes it.
/// Set before any thread starts; may block for a moment.
using fault_hook = void (*)(std::string_view id);
void set_fault_hook(fault_hook hook);

} // namespace tutti::base
