// All objects in memory, what changed lately, and what of it is safe on disk.
//
// A write is applied here at once and gets its revision; it may be *shown* (answered, watched,
// read by somebody else) only once `durable()` has reached that revision. Whoever writes to disk
// takes the writes in batches and says when they are synced; without a disk they count at once.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/api_server/object.hpp"

namespace tutti::sim::api_server {

enum class change : std::uint8_t { added, modified, deleted };

/// One change of one object. `now` of a deletion is the object's last state with the deletion's
/// revision.
struct event {
  change what = change::added;
  object_ptr now;
  object_ptr before; ///< null if added
};

/// For the disk: the object under (kind, key) is now `now`, or gone.
struct pending_write {
  kind_id kind = kind_id::pods;
  object_ptr now;
  bool is_gone = false;
};

class store {
public:
  using table = std::map<std::string, object_ptr, std::less<>>;

  struct options {
    std::size_t events_max = 100'000;   ///< history per kind: minutes of the busiest cluster
    std::size_t bytes_max = 256u << 20; ///< … but not more memory than this
    bool is_durable_at_once = true;     ///< no disk behind it
  };
  explicit store(options o) : options_(o) {}
  store() : store(options{}) {}
  store(const store&) = delete;
  store& operator=(const store&) = delete;

  /// The revision of the last write, and of the next one.
  revision last() const { return last_; }
  revision next() const { return last_ + 1; }
  /// Everything up to here is on disk.
  revision durable() const { return durable_; }

  object_ptr find(kind_id kind, std::string_view key) const;
  const table& all(kind_id kind) const { return of(kind).objects; }

  /// Adds or replaces. `now->rev` is `next()`.
  void put(kind_id kind, object_ptr now);
  /// Removes; `last_state->rev` is `next()`.
  void erase(kind_id kind, object_ptr last_state);

  /// What was written since the last call, in order.
  std::vector<pending_write> take_writes();
  bool has_writes() const { return !writes_.empty(); }
  void mark_durable(revision r);

  /// Puts back what the disk holds, before the first request.
  void restore(kind_id kind, object_ptr x);
  void restored(revision last);

  /// The history of a kind as a numbered sequence: [first_event, end_event).
  std::size_t first_event(kind_id kind) const { return of(kind).dropped; }
  std::size_t end_event(kind_id kind) const { return of(kind).dropped + of(kind).history.size(); }
  const event& event_at(kind_id kind, std::size_t i) const;
  /// Index of the first event after `r`.
  std::size_t event_after(kind_id kind, revision r) const;
  /// Watches and exact lists can start at this revision or later.
  revision window_start(kind_id kind) const { return of(kind).window_start; }

  /// What differed from now at revision `r`: null = it was not there. Nothing if `r` is older than
  /// the window.
  std::optional<std::map<std::string, object_ptr, std::less<>>> difference_to(kind_id kind,
                                                                              revision r) const;

private:
  struct slot {
    table objects;
    std::deque<event> history;
    std::size_t dropped = 0; ///< events that left the window
    std::size_t bytes = 0;
    revision window_start = 0;
  };
  const slot& of(kind_id kind) const { return slots_[static_cast<std::size_t>(kind)]; }
  slot& of(kind_id kind) { return slots_[static_cast<std::size_t>(kind)]; }
  void record(kind_id kind, event e);

  options options_;
  std::array<slot, kind_count> slots_;
  revision last_ = 0;
  revision durable_ = 0;
  std::vector<pending_write> writes_;
};

} // namespace tutti::sim::api_server
