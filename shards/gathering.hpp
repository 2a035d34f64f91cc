// A slice whose nodes have been asked and have not all answered yet; and what to say if one
// refuses.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/explanation.hpp"
#include "base/ids.hpp"
#include "protocol/messages.hpp"
#include "protocol/plan.hpp"
#include "shards/guards.hpp"

namespace tutti::shards {

/// Between the holds of a PREPARE (or of a COMMIT that was forgotten) and the last answer. Nothing
/// of it is durable: a shard that dies here has promised nothing. It waits for node actors only,
/// and those answer at once.
struct gathering {
  base::partition_id coordinator;
  protocol::slice_ptr asked;
  bool is_decided = false; ///< answered by an ack, and no reason but room may refuse it
  bool is_fast = false;
  bool is_finished = false; ///< DONE was heard meanwhile
  std::set<base::node_uid> waiting;
  std::set<base::node_uid> holding;     ///< have said yes
  std::vector<protocol::held> refusals; ///< have said no
  std::vector<base::node_uid> lost;     ///< died or vanished meanwhile

  bool is_complete() const { return waiting.empty(); }
  bool is_granted() const { return refusals.empty() && lost.empty(); }
};

/// A no, in the words of `vote` and `ack`.
struct refusal {
  base::explanation why;
  std::vector<base::attempt_id> holders;
};

/// The view is not to be trusted, or has moved on from what the plan saw.
refusal refuse_stale(std::string detail);
/// The node belongs to another shard by its label: nothing new is promised here.
refusal refuse_leaving(const base::node_uid& node);
/// A shard, a node actor or an epoch that cannot answer for itself now.
refusal refuse_unavailable(std::string detail);
/// Somebody else has it.
refusal refuse_conflict(std::string detail, std::vector<base::attempt_id> holders);
refusal refuse_guard(const guard_table::objection& x);
/// Nodes refused: the numbers over the whole slice, and who holds the room.
refusal refuse_nodes(const gathering& x);

} // namespace tutti::shards
