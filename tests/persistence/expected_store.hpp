// What a store must hold after a crash, told by its memory twin: some prefix of what it was asked,
// not shorter than what it has acknowledged as durable, and cut between two batches.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "persistence/memory_store.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence::testing {

class expected_store {
public:
  /// A batch that the store is asked to write.
  void asks(const std::vector<request>& batch);
  /// The store has answered the last batch. If that one had to be synced, it is durable now, and so
  /// is all before it.
  void is_acknowledged();
  /// The index of the last record, if everything that was asked is there.
  journal_index last_index() const;

  /// True if `found` is one of the states that may be there; from now on it is the one that is.
  bool accepts(const remains& found);
  /// What would have been accepted, for a person.
  std::string story() const;

private:
  std::vector<disk> states_{disk{}}; ///< after each batch, from the beginning of this life
  std::size_t durable_ = 0;          ///< index of the first state that may be found
  bool last_needs_sync_ = false;
};

/// All of `x` but the number of its life: a life that died while it began counts or does not.
std::string lasting_story_of(const remains& x);

} // namespace tutti::persistence::testing
