// Which roles a replica has, and how each is made. The only place that knows every role's
// constructor.
#pragma once

#include <memory>
#include <vector>

#include "actors/options.hpp"
#include "protocol/address.hpp"
#include "protocol/role.hpp"

namespace tutti::placement {
class search_board;
}

namespace tutti::actors {

/// A role that is there from the start of the process to its end.
struct founder {
  protocol::address where;
  protocol::role_ptr role;
  bool keeps_checkpoints = false;
  bool keeps_journal = true;
};

/// Shards and partitions: what several replicas share out among them.
bool is_shared_out(const protocol::address& where);

/// Shards and the queue: their snapshots are written now and then, and at a stop.
bool keeps_checkpoints(const protocol::address& where);

/// Makes founders, at the start of the process and again when one has died.
class founding {
public:
  founding(scheduler_options how, base::wall_time wall_at_zero);

  /// All founders in the order in which they begin: who keeps promises first, who asks for them
  /// later, and the mirror, which brings the API server's word, last. With several replicas shards
  /// and partitions are none of them: they begin when the keeper says so.
  std::vector<protocol::address> all() const;
  /// A new role for one of them. Thread-safe.
  founder make(const protocol::address& where) const;

private:
  protocol::role_ptr make_role(const protocol::address& where) const;

  const scheduler_options how_;
  const base::wall_time wall_at_zero_;
  const std::shared_ptr<placement::search_board> board_; ///< where the topology and planners meet
};

/// All founders at once, in this order.
std::vector<founder> make_founders(const scheduler_options& how, base::wall_time wall_at_zero);

/// The role behind an address that a founder brings up: node and gang. Null for any other kind.
protocol::role_ptr make_hosted_role(const protocol::address& where, const scheduler_options& how);

} // namespace tutti::actors
