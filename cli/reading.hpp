// The verbs that only read: get, describe, explain, trace, status, top, wait, version.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/daemon.hpp"

namespace tutti::cli {

struct read_options {
  std::string space = "default";
  bool all_spaces = false;
  std::string format = "table"; ///< table, wide, json, yaml, name
  bool watches = false;         ///< get: goes on, and prints what changes
  std::string name{};           ///< get: this gang alone, in one of the forms of describe
};

/// `noun` is gangs, nodes, shards or reservations (singular and the short names too). Prints on
/// stdout, gangs and nodes by name. Gangs that are watched are printed again when they change,
/// until somebody ends the process or nobody answers any more; of the others that is `bad_input`,
/// and so is a name. `not_found` if there is no gang of that name and nobody watches for it.
base::result<void> get(const reader& from, const std::string& noun, const read_options& how,
                       const base::clock& clock);

/// "NAMESPACE/NAME" of `what`: "NAME", "gang/NAME" or "NAMESPACE/NAME".
std::string gang_name(std::string what, const read_options& how);
/// Of the gang `what`, in the same forms, on the admin address.
std::string gang_path(const std::string& what, const read_options& how);

/// Everything about one gang. `what` is "NAME", "gang/NAME" or "NAMESPACE/NAME"; `not_found` if
/// there is none of that name.
base::result<void> describe_gang(const reader& from, const std::string& what,
                                 const read_options& how);
/// Why it waits, in numbers, and what comes next. `what` as above.
base::result<void> explain_gang(const reader& from, const std::string& what,
                                const read_options& how);
/// Its recorded notes, oldest first. `what` as above; `not_found` if nothing is recorded.
base::result<void> trace_gang(const reader& from, const std::string& what, const read_options& how);
/// Frees it if it is quarantined, and has it tried now whatever it rests for. `to` posts. `what` as
/// above.
base::result<void> retry_gang(const reader& to, const std::string& what, const read_options& how);
/// The whole scheduler on one screen.
base::result<void> print_status(const reader& from, const read_options& how);
/// Use of each rack, and all of them as one bar.
base::result<void> top_racks(const reader& from, const read_options& how);
/// Of this program and, unless `from` is empty, of the scheduler behind it; that nobody answers is
/// no error.
base::result<void> print_version(const reader& from, const read_options& how);

struct wait_options {
  std::string until = "bound"; ///< bound or degraded; settled needs no gang
  int timeout_s = 60;
};
/// Polls until the gang is as wanted; `unavailable` after the timeout, with what it is instead.
/// Says so once if nobody answers, and goes on trying: the scheduler may be starting.
base::result<void> wait_for_gang(const reader& from, const std::string& what,
                                 const read_options& how, const wait_options& until,
                                 const base::clock& clock);

/// Polls until the process behind the admin address has nothing left to do.
base::result<void> wait_until_settled(const reader& from, const wait_options& until,
                                      const base::clock& clock);

} // namespace tutti::cli
