// The one durable place of a scheduler process: journal, decision log, checkpoints and identity.
//
// Two implementations: RocksDB (`rocks_store.hpp`) and a memory twin that forgets what was not
// synced (`memory_store.hpp`). Both give the same answers in the same order. FORMAT.md has the
// bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "persistence/disk_space.hpp"
#include "protocol/address.hpp"
#include "protocol/decision.hpp"
#include "protocol/effects.hpp"
#include "protocol/records.hpp"

namespace tutti::persistence {

/// Position in the journal: 1, 2, … without gaps, over all writers of one store.
using journal_index = std::uint64_t;

/// One record for the journal. `incarnation` is that of the writer's life: an entry of a retired
/// one is refused, so that nothing a dead role left in a queue lands behind its successor's start.
struct append_request {
  protocol::address writer;
  base::incarnation_no incarnation;
  protocol::record what;
  bool synced = false;
};
struct appended {
  journal_index index = 0;
};

/// Put-if-absent; with riders the fast path. All of it in one synced batch or nothing.
struct decide_request {
  protocol::decide what;
};
struct decide_outcome {
  protocol::decision_ptr winner;
  std::vector<journal_index> rider_indices; ///< PREPARED, COMMITTED of each rider, if we won
};

struct amend_request {
  protocol::amend what;
};
/// `refused` if a later epoch has adopted the decision or it is finished and members are to be
/// cancelled (then `now` is as it stands), or if there is none (`now` is null). After DONE `now`
/// has the plan for the last time: what is kept is a tombstone.
struct amend_outcome {
  bool refused = false;
  protocol::decision_ptr now;
};

/// From here on nothing of `writer` below `incarnation` is accepted. Passes through the queue.
struct retire_request {
  protocol::address writer;
  base::incarnation_no incarnation;
};
struct retired {};

/// A role's snapshot that includes all of its records up to `applied`. Written whole or not at all;
/// the journal is cut below the smallest `applied` that recovery still needs.
struct checkpoint_request {
  protocol::address writer;
  journal_index applied = 0;
  std::string bytes;
};
struct checkpointed {};

/// The gang was seen deleted: its decisions may be forgotten.
struct forget_request {
  base::gang_uid gang;
};
struct forgotten {};

/// What one role left behind.
struct role_remains {
  std::string checkpoint;                                          ///< empty = none
  journal_index applied = 0;                                       ///< of the checkpoint
  std::vector<std::pair<journal_index, protocol::record>> records; ///< above `applied`, ascending
};

/// What `writer` would find if the process began anew now. Passes through the queue: everything
/// that was queued before it, by a life that has ended since, is in it.
struct recover_request {
  protocol::address writer;
};
struct recovered_role {
  role_remains left;
  std::vector<protocol::decision_ptr> decisions; ///< of a partition: its gangs' kept ones, by slot
  base::epoch_no epoch;                          ///< of a partition: the highest ever used
};

/// Asked by probes: does the store still do its work? `journal`: one synced write without a record,
/// so that a success is the disk's. `decision_log`: one decision is read back, if there is any.
struct check_request {
  enum class part : std::uint8_t { journal, decision_log };
  part what = part::journal;
};
struct checked {};

using request = std::variant<append_request, decide_request, amend_request, retire_request,
                             checkpoint_request, forget_request, recover_request, check_request>;
using outcome = std::variant<appended, decide_outcome, amend_outcome, retired, checkpointed,
                             forgotten, recovered_role, checked>;
/// Called once per request, in the order of submission, on a thread of the store, after what the
/// request asked for is true (a `lazy` append: accepted). Must not block.
///
/// Errors: `conflict` = retired incarnation, an ordinal whose turn it is not (S7), a decision of an
/// epoch below the highest of its partition, or a checkpoint older than the one that is there;
/// `corrupt` = what `recover_request` reads is damaged; `unavailable` = closed (called by `submit`
/// itself); `io` = a write or an fsync failed (from then on every write fails until the process is
/// restarted: never retry and believe), or closed while the disk was full; `unknown_outcome` never.
/// While the disk is full nobody is answered at all: what is queued waits for space (F9).
using completion = std::function<void(base::result<outcome>)>;

/// All that recovery needs, read once at open.
struct remains {
  std::map<protocol::address, role_remains> roles;
  std::vector<protocol::decision_ptr> decisions; ///< all that are kept, by slot
  base::incarnation_no last_incarnation;         ///< of the process; the next life is one above
  std::map<std::uint32_t, base::epoch_no> partition_epochs; ///< highest ever used
};

/// Who this store belongs to. Written at the first open.
struct identity {
  std::string cluster_uid; ///< uid of the kube-system namespace; empty = not known yet
  std::uint32_t shards = 0;

  friend bool operator==(const identity&, const identity&) = default;
};

class store {
public:
  virtual ~store() = default;

  /// What was durable when the store was opened. Valid once; moves the data out.
  virtual remains take_remains() = 0;

  /// Queues one request. Thread-safe; never blocks on the disk. Requests that are queued while a
  /// sync runs share the next one.
  virtual void submit(request what, completion done) = 0;

  virtual identity who() const = 0;
  /// Sets the cluster uid of a store that had none; `foreign` if it has another.
  virtual base::result<void> claim(const std::string& cluster_uid) = 0;

  struct counters {
    std::uint64_t syncs = 0;
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
  };
  virtual counters counted() const = 0;

  /// Looks how much space the disk has now. Thread-safe; one system call.
  virtual disk_space look_at_disk() = 0;

  /// Completes what is queued, then refuses everything. Called by the destructor if nobody did. On
  /// a full disk what is queued is refused, too, and none of it is on the disk.
  virtual void close() = 0;
};

} // namespace tutti::persistence
