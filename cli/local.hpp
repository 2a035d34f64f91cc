// `tutti local`: the whole scheduler on an API server inside the process, or either half alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/api_access.hpp"
#include "cli/daemon.hpp"
#include "cli/replica_links.hpp"
#include "persistence/disk_space.hpp"
#include "placement/preemption_options.hpp"

namespace tutti::cli {

struct local_options {
  std::vector<std::string> files;
  std::string until;                  ///< "settled" or empty: until SIGINT or SIGTERM
  std::string listen;                 ///< API address for kubectl; empty = none
  std::string admin = default_server; ///< for the reading verbs; empty = none
  std::string data_dir;               ///< empty = a temporary one, removed at the end
  /// Empty = the newest; of a server elsewhere what that one says of itself.
  std::string kubernetes;
  api_flags elsewhere;     ///< an API server elsewhere: the scheduler alone
  unsigned qps = 0;        ///< writes per second to an API server elsewhere; 0 = no limit
  unsigned burst = 0;      ///< of them at once; 0 = as many as in a second
  bool is_replica = false; ///< `tutti scheduler`: never an API server of its own
  replica_flags replica;   ///< of `tutti scheduler`: one of several
  bool serve_only = false; ///< the API server alone
  /// Free bytes of the disk below which nothing new is begun.
  std::uint64_t disk_reserve = persistence::disk_reserve_default;
  bool long_path = false;   ///< every promise on disk before the decision: for tests of recovery
  bool step_events = false; ///< GangReserved and GangCommitted as Events, too
  std::vector<std::string> levels;
  std::vector<std::string> scheduler_names{"tutti"}; ///< pods that name one of these are ours
  unsigned shards = 0;            ///< 0 = what the store has; the default number in a new one
  unsigned repair_deadline_s = 0; ///< 0 = the default
  bool evicts_degraded = false;   ///< members of a gang that could not be repaired in time go
  placement::preemption_options preemption; ///< who may be evicted for a gang
  std::string exempt_pods;                  ///< label selector of pods that never are; empty = none
  std::optional<std::uint64_t> seed; ///< of a new cluster's uids; none = drawn, or the store's own
  bool quiet = false;

  /// The API server is another process.
  bool is_elsewhere() const {
    return is_replica || !elsewhere.server.empty() || !elsewhere.kubeconfig.empty()
           || !elsewhere.context.empty();
  }
};

/// `bad_input` for what no run can make sense of, before anything is opened: addresses that cannot
/// be read, flags that exclude each other, a `fault` (text of $TUTTI_FAULT) that is no fault point.
base::result<void> check_local(const local_options& how, const std::string& fault);

/// `bad_input` for label keys that are empty or there twice.
base::result<void> check_levels(const std::vector<std::string>& levels);
/// `bad_input` for an address that is neither empty nor HOST:PORT.
base::result<void> check_address(const std::string& text);

/// `already_exists` if the port of --listen is taken, before anything is opened.
base::result<void> try_listen(const local_options& how);

/// Warns of addresses that other machines reach: whoever reaches one may read and change all.
void warn_of_strangers(const local_options& how);

/// Takes what `check_local` let through. Runs until told to stop, then finishes the current step
/// and checkpoints. Returns what ended it if it was not a signal or `until`.
base::result<void> run_local(const local_options& how);

} // namespace tutti::cli
