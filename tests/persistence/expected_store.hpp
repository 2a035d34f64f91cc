// What a store must hold after a crash, told by its memory twin: some prefix of what it was asked,
// not shorter than what it has acknowledged as durable, and cut between two requests.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "persistence/memory_store.hpp"
#include "persistence/store.hpp"

namespace tutti::persistence::testing {

class expected_store {
public:
  /// What the store is asked at once: it may write it as one batch or as several.
  void asks(const std::vector<request>& all);
  /// The store has answered all that it was asked, or all but so many of the last. What is before
  /// the last of them that had to be synced is durable now, and so is that one.
  void is_acknowledged(std::size_t but_the_last = 0);
  /// The index of the last record, if everything that was asked is there.
  journal_index last_index() const;

  /// True if `found` is one of the states that may be there; from now on it is one of those that
  /// look like it.
  bool accepts(const remains& found);
  /// What would have been accepted, for a person.
  std::string story() const;

private:
  /// Two states may look the same and differ in what becomes of them: a decision that is to be
  /// forgotten once it is done shows nothing of it.
  struct branch {
    std::vector<disk> states;           ///< after each request, from the beginning of this life
    std::size_t durable = 0;            ///< index of the first state that may be found
    std::vector<bool> is_synced{false}; ///< what led to each state had to be synced
  };
  std::vector<branch> branches_{{{disk{}}}};
};

/// All of `x` but the number of its life: a life that died while it began counts or does not.
std::string lasting_story_of(const remains& x);

} // namespace tutti::persistence::testing
