// The pools in which gangs stand, each in the order in which its gangs will be tried.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "base/time.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// Priority descending, then age, then whose first pod came first, then name, then uid. Reads the
/// key kept in `life`.
struct tried_earlier {
  bool operator()(const gang_entry* a, const gang_entry* b) const;
};

/// Upholds S13: a gang is in one pool or in none, and its `life` says in which. All but queued
/// gangs also stand in the order in which their time comes.
class pools {
public:
  using ordered = std::set<gang_entry*, tried_earlier>;

  /// Puts a gang that is in no pool into `where`, by its facts of this moment. `due` is read for
  /// the pools that have one.
  void enter(gang_entry& g, pool where, base::time_point due = {});
  /// Takes a gang out of its pool; one that is in none stays so.
  void leave(gang_entry& g);
  /// Leaves and enters; the edge must be one of those drawn at `pool`.
  void move(gang_entry& g, pool where, base::time_point due = {});
  /// Another `due` for a gang that has one.
  void delay(gang_entry& g, base::time_point due);
  /// The facts behind the order have changed; the pool stays.
  void reorder(gang_entry& g);

  const ordered& in(pool x) const { return by_pool_[static_cast<std::size_t>(x)]; }
  std::size_t size(pool x) const { return in(x).size(); }
  std::size_t size() const;
  /// A `due` that does not come.
  static constexpr base::time_point never = base::time_point::max();
  /// The earliest `due`; nothing if no gang waits for a time.
  std::optional<base::time_point> next_due() const;
  /// Gangs whose time has come, in the order in which they are to be tried.
  std::vector<gang_entry*> due_at(base::time_point now) const;
  /// Sums and back references: for slow checks.
  bool is_consistent() const;

private:
  struct due_earlier {
    bool operator()(const gang_entry* a, const gang_entry* b) const;
  };
  ordered& at(pool x) { return by_pool_[static_cast<std::size_t>(x)]; }

  std::array<ordered, pool_count> by_pool_;
  std::set<gang_entry*, due_earlier> by_due_;
};

} // namespace tutti::queue
