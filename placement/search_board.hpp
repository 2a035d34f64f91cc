// Where the topology leaves the snapshot for a planner to take: the one thing too large to send.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "base/ids.hpp"
#include "placement/engine/gang_spec.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement {

/// A search that takes more than the topology can spend between two easy gangs. The snapshot stands
/// still while the view goes on: blocks are copied on write.
struct long_search {
  engine::snapshot where;
  engine::gang_spec what;
  std::uint64_t view_version = 0;
};

/// Shared by the topology and the planners of one process, made where they are wired. The topology
/// puts a search there *before* it sends the `plan_request` that names it; one planner takes it.
/// Thread-safe.
class search_board {
public:
  void put(const base::attempt_id& attempt, long_search what);
  /// Nothing if it was taken back, or taken already.
  std::optional<long_search> take(const base::attempt_id& attempt);
  void drop(const base::attempt_id& attempt);

private:
  std::mutex guard_;
  std::map<base::attempt_id, long_search> open_;
};
using search_board_ptr = std::shared_ptr<search_board>;

} // namespace tutti::placement
