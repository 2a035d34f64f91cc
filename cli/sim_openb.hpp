// `tutti sim openb`: the published experiment with shared GPUs, for any policies.
#pragma once

#include <string>

namespace tutti::cli {

struct openb_options {
  std::string data;                  ///< folder of the tables
  std::string policies;              ///< names with commas; empty = all
  std::string workloads = "default"; ///< names with commas
  std::string seeds = "42-51";       ///< FIRST-LAST, or one
  double arrival = 1.3;
  std::string format; ///< "" or json
};

/// Returns an exit code; says what is wrong on stderr.
int run_openb(const openb_options& how);

} // namespace tutti::cli
