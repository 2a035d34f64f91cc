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

/// By shard and by partition. What stands here may be out of date a moment later: epochs fence what
/// an old belief makes somebody do (S8). A replica whose Lease has run out owns nothing, whatever
/// the map says.
struct ownership {
  std::string self;
  std::vector<owner> shards;
  std::vector<owner> partitions;

  friend bool operator==(const ownership&, const ownership&) = default;
};
using ownership_ptr = std::shared_ptr<const ownership>;

} // namespace tutti::protocol
