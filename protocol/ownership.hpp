// Who owns which shard and which coordinator partition, as one replica believes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace tutti::protocol {

/// Nobody owns it if `replica` is empty; `epoch` is then that of the last owner.
struct owner {
  std::string replica;
  base::epoch_no epoch;

  friend bool operator==(const owner&, const owner&) = default;
};

/// A replica whose Lease is alive; `reached_at` is where its link listens, as its Lease says; empty
/// where links need no address.
struct peer {
  std::string replica;
  std::string reached_at;

  friend bool operator==(const peer&, const peer&) = default;
};

/// By shard and by partition. What stands here may be out of date a moment later: epochs fence what
/// an old belief makes somebody do (S8). A replica whose Lease has run out owns nothing, whatever
/// the map says.
struct ownership {
  std::string self;
  std::vector<owner> shards;
  std::vector<owner> partitions;
  std::vector<peer> live; ///< the other replicas that are alive, by name

  friend bool operator==(const ownership&, const ownership&) = default;
};
using ownership_ptr = std::shared_ptr<const ownership>;

} // namespace tutti::protocol
