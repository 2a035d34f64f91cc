// Answers the requests of a store from memory and says what must be written: the rules, no disk.
//
// Two stores that must give the same answers would drift apart if each had the rules. So the rules
// are here, once: a store takes requests from its queue, lets the book answer them into one batch,
// writes the batch, and only then hands the answers out. Nothing is read back while running,
// but for a role that is made anew (`recover_role`).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "persistence/format.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence {

/// What one write puts on the disk, whole or not at all. Deletions come after the puts.
struct batch {
  struct put {
    family where = family::meta;
    std::string key;
    std::string value;
  };
  std::vector<put> puts;
  std::vector<std::pair<family, std::string>> removals;
  journal_index cut_from = 0;  ///< records from here …
  journal_index cut_below = 0; ///< … to below here go; equal = none
  bool synced = false;         ///< answers may leave only when it is durable
  std::uint64_t number = 0;    ///< set by `seal`
  std::uint64_t records = 0;   ///< journal records in it

  bool has_cut() const { return cut_from < cut_below; }
};

/// A decision as it is kept.
struct kept_decision {
  protocol::decision_ptr what;
  bool forget_when_done = false;
};

/// What a store holds, as far as answering needs it. Filled by recovery, changed by the book only.
struct contents {
  /// One writer of records or checkpoints.
  struct role {
    base::incarnation_no lowest; ///< anything below is refused; not durable: a process ends it
    bool has_checkpoint = false;
    journal_index applied = 0;
    std::deque<journal_index> unapplied; ///< its records that recovery still needs, ascending
  };

  identity who;
  tail ends;
  epoch_map epochs;
  std::map<protocol::address, role> roles;
  std::map<base::slot_id, kept_decision> decisions;
};

/// Upholds S2 (write-once decisions), S7 (one ordinal after the other) and the refusal of retired
/// incarnations. Not thread-safe: one thread owns it.
///
/// The book runs ahead of the disk by what is in the batches that are not written yet. If a write
/// fails, the book is of no use any more, and neither is the store.
class book {
public:
  /// Finished decisions kept per gang, so that late inquiries find their answer; older ones go. A
  /// gang that needs more has been tried so often that nobody asks for the first any more.
  static constexpr std::size_t finished_kept_per_gang = 64;

  explicit book(contents all) : all_(std::move(all)) {}

  /// The answer that becomes true with `into`. On an error nothing was added to `into`.
  /// A `recover_request` is not for the book alone: see `recover_role`.
  base::result<outcome> answer(const request& what, batch& into);

  /// Begins a life of the process one above every earlier one.
  void begin_life(batch& into);
  /// Writes down the identity.
  void set_identity(identity who, batch& into);

  /// Numbers the batch and puts the tail into it. False, and `b` is unchanged, if there is nothing
  /// to write.
  bool seal(batch& b);
  /// Batch `number` and all before it are durable.
  void was_synced(std::uint64_t number);
  /// A batch that says how far the store is durable, if none has said it yet: recovery then knows a
  /// torn tail from a damaged middle. It needs no sync of its own. False if it is said already.
  bool say_synced(batch& b);

  const identity& who() const { return all_.who; }
  const contents& all() const { return all_; }

private:
  base::result<outcome> answer_one(const append_request& x, batch& into);
  base::result<outcome> answer_one(const decide_request& x, batch& into);
  base::result<outcome> answer_one(const amend_request& x, batch& into);
  base::result<outcome> answer_one(const retire_request& x, batch& into);
  base::result<outcome> answer_one(const checkpoint_request& x, batch& into);
  base::result<outcome> answer_one(const forget_request& x, batch& into);
  base::result<outcome> answer_one(const recover_request& x, batch& into);
  base::result<outcome> answer_one(const check_request& x, batch& into);

  base::result<void> check_life(const protocol::address& writer, base::incarnation_no x);
  base::result<void> check_epoch(const base::attempt_id& by) const;
  base::result<void> check_slot_is_next(const base::slot_id& slot) const;
  journal_index put_record(const protocol::address& writer, const protocol::record& x, batch& into);
  void put_decision(const base::slot_id& slot, const kept_decision& x, batch& into);
  void drop_decision(const base::slot_id& slot, batch& into);
  void drop_oldest_finished(const base::gang_uid& gang, batch& into);
  void note_epoch(base::partition_id partition, base::epoch_no x, batch& into);
  void note_incarnation(base::incarnation_no x);
  void cut_journal(batch& into);
  void put_tail(batch& b);

  contents all_;
  std::uint64_t said_synced_ = 0; // in the tail of the last sealed batch
};

/// True if recovery must have this record until its writer has a checkpoint that includes it. What
/// a partition writes about its lives stands in `meta/epochs` as well, and partitions take no
/// checkpoints: those records must not hold the journal for ever.
bool holds_journal(const protocol::address& writer, const protocol::record& x);

} // namespace tutti::persistence
