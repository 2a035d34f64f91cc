// Which roles a replica has, and how each is made. The only place that knows every role's
// constructor.
#pragma once

#include <vector>

#include "actors/scheduler.hpp"
#include "protocol/address.hpp"
#include "protocol/role.hpp"

namespace tutti::actors {

/// A role that is there from the start of the process to its end.
struct founder {
  protocol::address where;
  protocol::role_ptr role;
  bool keeps_checkpoints = false;
};

/// All founders in the order in which they begin: who keeps promises first, who asks for them
/// later, and the mirror, which brings the API server's word, last.
std::vector<founder> make_founders(const scheduler_options& how, base::wall_time wall_at_zero);

/// The role behind an address that a founder brings up: node and gang. Null for any other kind.
protocol::role_ptr make_hosted_role(const protocol::address& where, const scheduler_options& how);

} // namespace tutti::actors
