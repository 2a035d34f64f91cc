// A store opened for another cluster or another number of shards is refused in words.
#include "persistence/opening.hpp"

#include <fmt/core.h>

#include "base/limits.hpp"

namespace tutti::persistence {

using base::code;
using base::error;

base::result<identity> settle_identity(const recovered& found, const identity& wanted) {
  if (found.is_new)
    return identity{wanted.cluster_uid,
                    wanted.shards == 0 ? base::limits::default_shards : wanted.shards};
  const auto& has = found.all.who;
  if (wanted.shards != 0 && wanted.shards != has.shards)
    return error{
        code::bad_input,
        fmt::format("the store was made for {} shards, not for {}", has.shards, wanted.shards),
        "the number of shards is fixed when a store is made: leave it out, or use an "
        "empty directory"};
  if (wanted.cluster_uid.empty())
    return has;
  return claimed_identity(has, wanted.cluster_uid);
}

base::result<identity> claimed_identity(identity has, const std::string& cluster_uid) {
  if (!has.cluster_uid.empty() && has.cluster_uid != cluster_uid)
    return error{
        code::foreign,
        fmt::format("the store belongs to cluster {}, not to {}", has.cluster_uid, cluster_uid),
        "use one directory per cluster"};
  has.cluster_uid = cluster_uid;
  return has;
}

error closed_error() {
  return {code::unavailable, "the store is closed"};
}

error broken_error(const std::string& why) {
  return {code::io, "the store takes no writes any more: " + why,
          "free space or replace the disk, then restart the scheduler"};
}

} // namespace tutti::persistence
