// Between the protocol's words and the engine's: gangs and facts in, plans out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "placement/engine/capacity_view.hpp"
#include "placement/engine/gang_spec.hpp"
#include "protocol/facts.hpp"
#include "protocol/messages.hpp"
#include "protocol/plan.hpp"

namespace tutti::placement {

/// The gang as the engine asks for it; members in the same order. Bound members are looked up by
/// node name.
engine::gang_spec spec_of(const protocol::gang& who, const engine::capacity_view& view);

/// A node as the engine keeps it.
engine::node_info_ptr info_of(const protocol::node_facts& facts);
engine::node_state state_of(const protocol::node_facts& facts, const base::resources& free,
                            const base::port_list& ports,
                            const std::vector<base::tied_pods>& pods = {});

/// The shard that owns the node, as everybody computes it.
base::shard_id shard_of(const engine::node_info& node, std::uint32_t shards);

/// Cuts a placement into slices, ascending by shard: seats in the order of the gang's members, one
/// quote per node, ascending by node uid.
std::shared_ptr<protocol::plan> plan_of(const protocol::gang& who, const engine::placement& found,
                                        const engine::snapshot& where, std::uint32_t shards,
                                        std::uint64_t view_version);

/// The seats of a plan as room to be marked. Without ties: who is offered a seat may never come,
/// and nobody may rely on company that does not. Guards keep two plans apart until one is decided.
std::vector<engine::marked_seat> seats_of(const protocol::plan& x);

} // namespace tutti::placement
