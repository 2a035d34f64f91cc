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

} // namespace tutti::base
