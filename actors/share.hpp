// What of the cluster this replica runs, as its keeper says: shards and partitions begin and end.
#pragma once

#include <map>

#include "actors/links.hpp"
#include "actors/router.hpp"
#include "actors/supervisor.hpp"
#include "base/ids.hpp"
#include "protocol/effects.hpp"

namespace tutti::actors {

/// The shell's side of the effect `own`. What is not owned any more, or under another epoch, is
/// ended first; then the router learns who owns what; then what is new begins, each with the
/// decisions that concern it. A replica that has lost everything at once has lost its Lease: its
/// writers are made anew, so that what they had under way ends, too. Used by the keeper's actor
/// only.
class share {
public:
  /// All of it outlives the share. `links` may be null: then there is no way to other replicas.
  share(router& routes, supervisor& lives, link_carrier* links)
      : routes_(routes), lives_(lives), links_(links) {}

  void take(protocol::own x);

private:
  void end_lost(const protocol::ownership& now);

  router& routes_;
  supervisor& lives_;
  link_carrier* links_;
  std::map<protocol::address, base::epoch_no> running_;
};

} // namespace tutti::actors
