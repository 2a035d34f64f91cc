// What `tutti chaos` does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace tutti::cli {

struct chaos_options {
  std::uint64_t first_seed = 1;
  std::uint64_t seeds = 300;
  std::uint64_t runs = 20;          ///< of each row of the outage table
  std::uint32_t replicas = 1;       ///< of worlds that are drawn from a seed
  std::vector<std::string> faults;  ///< actions that may fail; empty = all
  std::string what;                 ///< a seed or a file
  std::string other;                ///< the second one of diff-trace
  std::string save;                 ///< write the shrunk schedule here; of mutants: a folder
  std::vector<std::string> mutants; ///< planted bugs to look for; empty = all
  std::string mutant;               ///< a planted bug that is switched on; empty = none
  std::string only;                 ///< rows of the outage table whose names contain it
  bool is_quiet = false;            ///< no progress
  bool is_long = false;             ///< the whole trace
  bool is_markdown = false;         ///< a table for a page
};

/// Switches on the planted bug that `how` names, for the rest of the process. `bad_input` if there
/// is none of this name, or none at all in this build.
base::result<void> switch_on_mutant(const chaos_options& how);

/// Each returns the exit code: 0 nothing broke, 1 something did, 3 a file is wrong.
int chaos_run(const chaos_options& how);
int chaos_replay(const chaos_options& how);
int chaos_shrink(const chaos_options& how);
int chaos_diff(const chaos_options& how);
/// Prints how often each fault met each state.
int chaos_coverage(const chaos_options& how);
/// 1 if a gang waited for longer than the limit of its row, or was not decided at all.
int chaos_outage(const chaos_options& how);
int chaos_list();
/// 1 if a planted bug was not found; 2 if this build has none.
int chaos_mutants(const chaos_options& how);

} // namespace tutti::cli
