// The store of the small world: the rules and bytes of the real one, every request answered at
// once.
#pragma once

#include <cstdint>
#include <vector>

#include "persistence/book.hpp"
#include "persistence/memory_store.hpp"
#include "persistence/recovery.hpp"

namespace tutti::chaos::small {

/// A search copies the whole world at every step, and `memory_store` cannot be copied. Here the
/// same book answers, the same bytes stand on the same disk, and the same recovery reads them.
///
/// A request is answered in the step that makes it. That loses no crash: a process that dies
/// between the step and the sync keeps what it kept before the step, and it is crashed there, too.
class log {
public:
  /// Recovers what is on `on` and begins the next life of the process. Aborts if it cannot be read:
  /// no fault here damages what was synced.
  explicit log(persistence::disk on);

  base::result<persistence::outcome> submit(const persistence::request& what);

  /// Batches that a crash now may lose.
  std::size_t at_risk() const { return unsynced_.size(); }
  /// The disk after a crash that keeps the first `kept` of them.
  persistence::disk crash(std::size_t kept) const;
  /// The disk as it was opened.
  const persistence::disk& first() const { return first_; }

  /// What was found when it was opened.
  const persistence::remains& found() const { return found_; }
  const persistence::contents& all() const { return book_.all(); }

  /// What recovery would make of it, with and without the unsynced tail; not the order in which
  /// different roles have written, which recovery does not see.
  std::uint64_t state_hash() const { return hash_; }

private:
  persistence::recovered_role recover(const protocol::address& writer) const;
  void write(persistence::batch& b);
  void rehash();

  persistence::disk first_;
  persistence::disk durable_;
  std::vector<persistence::batch> unsynced_;
  persistence::book book_;
  persistence::remains found_;
  std::uint64_t hash_ = 0;
};

} // namespace tutti::chaos::small
