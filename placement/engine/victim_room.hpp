// The cluster with some pods gone: they are taken out of a snapshot and put back.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "placement/engine/victim_units.hpp"

namespace tutti::placement::engine {

/// A copy of a snapshot of which the blocks that are written to are its own.
class victim_room {
public:
  explicit victim_room(const snapshot& where);

  /// Gives back what the unit's pods take; each must be there.
  void remove(const disruption_unit& x) { change(x, +1); }
  void put_back(const disruption_unit& x) { change(x, -1); }

  /// Free amounts and ports are right at any time; the summaries, and versions that no cache has
  /// seen, only here. The reference is good for the life of the object.
  const snapshot& now();
  const snapshot& unsummed() const { return state_; }

private:
  void change(const disruption_unit& x, std::int64_t sign);
  void change_ties(block& b, node_ref node, const base::ties& kind, std::int64_t sign);
  block& writable(std::uint32_t number);

  snapshot before_;
  snapshot state_;
  std::vector<std::shared_ptr<block>> mine_; // by number; null = never written
  std::vector<std::uint32_t> written_;       // since `now`
  std::vector<bool> is_written_;
};

} // namespace tutti::placement::engine
