// The memory twin of the store: it forgets what was not synced, and works only when told to.
//
// For the simulator and for tests. It holds the same bytes under the same keys as the real store
// and reads them back by the same recovery.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "persistence/book.hpp"
#include "persistence/recovery.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence {

/// What survives a crash: the keys and values of a store. Copyable; tests may damage it.
class disk {
public:
  using values = std::map<std::string, std::string>;

  values& of(family x) { return families_.at(static_cast<std::size_t>(x)); }
  const values& of(family x) const { return families_.at(static_cast<std::size_t>(x)); }

  /// Carries out a whole batch.
  void apply(const batch& b);

  friend bool operator==(const disk&, const disk&) = default;

private:
  std::array<values, family_count> families_;
};

struct memory_options {
  std::uint32_t shards = 0; ///< 0 = as the store says; the default number in a new one
  std::string cluster_uid;  ///< empty = not known yet
  /// Bytes that are free on the disk now; empty = there is no end of them. With `reserve` it
  /// decides as in the real store.
  std::function<std::uint64_t()> free_bytes;
  std::uint64_t reserve = disk_reserve_default;
};

class memory_store final : public store {
public:
  /// Opens what is on `on`, with the errors of the real store: `corrupt`, `newer_format`,
  /// `foreign`, `bad_input` (another number of shards), `io` (the disk is full).
  static base::result<std::unique_ptr<memory_store>> open(disk on, memory_options how = {});
  ~memory_store() override;

  remains take_remains() override;
  void submit(request what, completion done) override;
  identity who() const override;
  base::result<void> claim(const std::string& cluster_uid) override;
  disk_space look_at_disk() override;
  counters counted() const override;
  void close() override;

  /// Writes and completes the oldest queued request, with a sync if it needs one. False if nothing
  /// was queued, or the disk is full. Completions run inside, on the caller's thread, and may
  /// submit.
  bool run_one();
  /// Writes everything queued as one group with at most one sync, then completes it in order; again
  /// until nothing is queued. Does nothing while the disk is full.
  void run_all();
  /// Requests that wait for `run_one`.
  std::size_t queued() const;

  /// Batches that a crash now may lose: written without a sync, then those still queued, which may
  /// have reached the disk although nobody was told.
  std::size_t at_risk() const;

  /// Ends the store as a power cut does: no completion is called any more. Returns what is on the
  /// disk then: all that was synced, and the first `kept` of the `at_risk()` batches (all if there
  /// are fewer). A batch survives whole or not at all, as checksums see to it.
  disk crash(std::size_t kept = 0);

  /// Called for every batch at the moment at which it is durable, on the thread that runs the
  /// store, before its completions. Not for what a crash leaves: `crash` returns that.
  void on_durable(std::function<void(const batch&)> hear) { hear_durable_ = std::move(hear); }

  /// What a reader of the disk would find now if nothing unsynced had survived.
  const disk& durable() const { return durable_; }

  enum class failure : std::uint8_t {
    disk_full, ///< the batch does not reach the disk: somebody took the space that was there
    sync_fails ///< it may or may not have
  };
  /// The next write fails, and every one after it (F9, F10).
  void fail(failure how);
  /// … unless none has been tried since: then it is as if nothing had been said.
  void mend() { fails_next_ = false; }

private:
  struct entry {
    request what;
    completion done;
  };

  memory_store(disk on, recovered from, memory_options how);
  void run_group(std::vector<entry> group);
  void make_durable(const batch& b);
  base::result<outcome> read(const recover_request& x) const;
  base::result<void> write(batch& b);
  std::vector<entry> take_group(std::size_t most);

  disk durable_;
  const std::function<std::uint64_t()> free_bytes_;
  space_gauge gauge_;
  std::function<void(const batch&)> hear_durable_;
  std::vector<batch> unsynced_;
  book book_;
  remains remains_;
  bool has_taken_remains_ = false;
  counters counted_;
  bool fails_next_ = false;
  failure how_it_fails_ = failure::disk_full;
  bool is_broken_ = false;
  bool is_dead_ = false; // crashed or closed

  mutable std::mutex mutex_; // guards queue_ and is_dead_: submit may come from any thread
  std::deque<entry> queue_;
};

} // namespace tutti::persistence
