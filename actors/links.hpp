// Messages between replicas: where a message goes, and what carries it there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "protocol/address.hpp"
#include "protocol/messages_codec.hpp"
#include "protocol/ownership.hpp"

namespace tutti::actors {

/// The link to one other replica, for people and metrics.
struct link_state {
  std::string replica;
  std::string reached_at;    ///< as its Lease says
  bool is_up = false;        ///< what is said to it leaves
  std::string trouble;       ///< why it is not up; empty if nothing is wrong
  std::uint64_t sent = 0;    ///< frames that were taken to be sent
  std::uint64_t dropped = 0; ///< frames that were not: it was not up, or too much waited
  std::uint64_t heard = 0;   ///< frames that it sent
};

/// Carries frames to other replicas: sockets in production, the simulated network elsewhere.
class link_carrier {
public:
  virtual ~link_carrier() = default;
  /// One frame for the replica of this name, unordered and perhaps in vain: whoever sends says
  /// again what must be known. Thread-safe; never blocks. Drops what a peer that is not reached
  /// cannot take.
  virtual void carry(const std::string& replica, std::string frame) = 0;
  /// Who else lives, and where: others need not be reached any more. Thread-safe.
  virtual void reach(const std::vector<protocol::peer>& live) { (void)live; }
  /// By name. Thread-safe.
  virtual std::vector<link_state> states() const { return {}; }
};

/// Where one message goes. More than one place only for what every replica must know.
struct way {
  bool is_here = false;
  bool is_for_all_others = false; ///< a copy to every other live replica
  std::string replica;            ///< empty = to none by name
};

/// Pure. Shards, partitions and gangs are with their owner, nodes with their shard's. A shard's
/// view is for the topology of every replica. Every other role is the replica's own, unless the
/// address names another replica in its `key`, as the sender of an answered question does.
way way_of(const protocol::ownership& whose, const protocol::address& from,
           const protocol::address& to);

/// True for roles that each replica has for itself: an address names them by kind and, from
/// elsewhere, by replica.
bool is_replicas_own(protocol::role_kind kind);

/// The bytes of a message that leaves this replica: its sender can be answered from there.
std::string make_frame(const protocol::ownership& whose, protocol::envelope x);

/// What arrived from the replica `from`. Errors of `decode_envelope`; `foreign` if it is for a role
/// that no other replica speaks to.
base::result<protocol::envelope> open_frame(const std::string& from, std::string_view frame);

} // namespace tutti::actors
