// The verbs that only read: get, describe, explain, trace, status, top, wait, version.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/daemon.hpp"

namespace tutti::cli {

struct read_options {
  std::string space = "default";
  bool all_spaces = false;
  std::string format = "table"; ///< table, wide, json, yaml, name
};

/// `noun` is gangs, nodes or shards (singular and the short names too). Prints on stdout.
base::result<void> get(const reader& from, const std::string& noun, const read_options& how);

/// `what` is "NAME", "gang/NAME" or "NAMESPACE/NAME".
base::result<void> describe_gang(const reader& from, const std::string& what,
                                 const read_options& how);
base::result<void> explain_gang(const reader& from, const std::string& what,
                                const read_options& how);
base::result<void> trace_gang(const reader& from, const std::string& what, const read_options& how);
base::result<void> print_status(const reader& from, const read_options& how);
base::result<void> top_racks(const reader& from, const read_options& how);
/// Of this program and, unless `from` is empty, of the scheduler behind it; that nobody answers is
/// no error.
base::result<void> print_version(const reader& from, const read_options& how);

struct wait_options {
  std::string until = "bound"; ///< bound or degraded; settled needs no gang
  int timeout_s = 60;
};
/// Polls until the gang is as wanted; `unavailable` after the timeout, with what it is instead.
base::result<void> wait_for_gang(const reader& from, const std::string& what,
                                 const read_options& how, const wait_options& until);

/// Polls until the process behind the admin address has nothing left to do.
base::result<void> wait_until_settled(const reader& from, const wait_options& until);

} // namespace tutti::cli
