// A run as tables for other programs.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "sim/report/results.hpp"

namespace tutti::sim::report {

/// Writes summary.csv, samples.csv, gangs.csv, waits.csv and racks.csv into a folder that is made
/// if it is not there. Nothing in them depends on the machine or the hour: the same run writes the
/// same bytes. `io` if something cannot be written.
base::result<void> write_csv(const std::string& folder, const results& of);

/// Writes a whole file, or says `io` and what went wrong.
base::result<void> write_file(const std::string& path, const std::string& bytes);

} // namespace tutti::sim::report
