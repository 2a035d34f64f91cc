// What a role hears from its shell.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "protocol/address.hpp"
#include "protocol/decision.hpp"
#include "protocol/effects.hpp"
#include "protocol/messages.hpp"
#include "protocol/records.hpp"

namespace tutti::protocol {

/// One record of this role's own from the journal, after `restore` and before `started`.
struct replayed {
  record what;
};

/// The role may speak now. `epoch` of what it owns, `incarnation` of this life, `seed` for jitter.
/// `open` are the decisions that concern it (partitions only): unfinished ones, and the last
/// finished ordinal per gang. `quarantined` are gangs whose actors have died too often to be hosted
/// again (partitions only).
struct started {
  base::epoch_no epoch;
  base::incarnation_no incarnation;
  std::uint64_t seed = 0;
  std::vector<decision_ptr> open;
  std::vector<base::gang_uid> quarantined;
  /// What it owns was another replica's, or nobody knows: `open` is what the decision log holds,
  /// read after the partition map was changed (2.7).
  bool is_takeover = false;
};

struct received {
  address from;
  message what;
};

/// The slot is durably taken: by us or by `winner` of somebody else.
struct decided {
  base::slot_id slot;
  decision_ptr winner;
};
/// Nothing was written: a rider named a retired incarnation (F6), or the store refuses writes.
struct decide_refused {
  base::slot_id slot;
  base::error why;
};
/// It may or may not have been written: settle by writing again.
struct decide_unknown {
  base::slot_id slot;
};

struct amended {
  base::slot_id slot;
  decision_ptr now;
};
struct amend_refused {
  base::slot_id slot;
  decision_ptr now; ///< as adopted by a later epoch; null if the slot is empty
};

struct timer_fired {
  timer_id timer;
};

struct answered {
  std::uint64_t id = 0;
  int status = 0;
  std::string body;
  std::int64_t retry_after_ms = 0; ///< from the header; 0 = none
};
struct answer_unknown {
  std::uint64_t id = 0;
  std::string why;
};
struct stream_opened {
  std::uint64_t id = 0;
};
/// One or more whole lines of a stream, each with its newline.
struct stream_lines {
  std::uint64_t id = 0;
  std::string lines;
};
struct stream_closed {
  std::uint64_t id = 0;
  std::string why; ///< empty = orderly end
};

struct child_died {
  address where;
};

/// How the disk below the store is (shards only). While it is scarce nothing new may be promised
/// (F9). Nobody is told of a disk that has always had enough.
struct disk_told {
  bool is_scarce = false;
};

using event = std::variant<replayed, started, received, decided, decide_refused, decide_unknown,
                           amended, amend_refused, timer_fired, answered, answer_unknown,
                           stream_opened, stream_lines, stream_closed, child_died, disk_told>;

} // namespace tutti::protocol
