// The metrics of one scheduler in Prometheus' text form.
#pragma once

#include <string>

#include "actors/scheduler.hpp"

namespace tutti::actors {

/// All metrics of docs/reference/metrics.md with their values of this moment. Labels have known
/// values only: never the name of a pod, node or gang.
std::string metrics_text(scheduler& who);

} // namespace tutti::actors
