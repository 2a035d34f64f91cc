// Copies field by field: neither side knows the types of the other.
#include "placement/convert.hpp"

#include <map>
#include <memory>
#include <utility>

#include "base/ensure.hpp"
#include "protocol/sharding.hpp"

namespace tutti::placement {

engine::gang_spec spec_of(const protocol::gang& who, const engine::capacity_view& view) {
  engine::gang_spec out;
  out.groups.reserve(who.groups.size());
  for (const auto& g : who.groups)
    out.groups.push_back({g.name, g.min_count, g.topology_key});
  out.members.reserve(who.members.size());
  for (const auto& m : who.members) {
    engine::member_spec member{m.name, m.group, m.kind, engine::member_spec::state::pending,
                               {},     m.ties};
    if (!m.node.value.empty()) {
      const auto at = view.find(m.node);
      member.is =
          at ? engine::member_spec::state::bound : engine::member_spec::state::bound_elsewhere;
      member.node = at.value_or(engine::node_ref{});
    }
    out.members.push_back(std::move(member));
  }
  return out;
}

engine::node_info_ptr info_of(const protocol::node_facts& facts) {
  return std::make_shared<const engine::node_info>(
      engine::node_info{facts.uid, facts.name, facts.host_name, facts.domains, facts.facts_hash});
}

engine::node_state state_of(const protocol::node_facts& facts, const base::resources& free,
                            const base::port_list& ports,
                            const std::vector<base::tied_pods>& pods) {
  return {info_of(facts), facts.kind, facts.allocatable, free, ports, pods};
}

base::shard_id shard_of(const engine::node_info& node, std::uint32_t shards) {
  protocol::node_facts facts;
  facts.uid = node.uid;
  facts.domains = node.domains;
  return protocol::shard_of(facts, shards);
}

std::shared_ptr<protocol::plan> plan_of(const protocol::gang& who, const engine::placement& found,
                                        const engine::snapshot& where, std::uint32_t shards,
                                        std::uint64_t view_version) {
  std::map<base::shard_id, std::map<base::node_uid, std::uint64_t>> quotes;
  std::map<engine::node_ref, base::shard_id> shard_of_node;
  for (const auto& s : found.seats) {
    auto [pos, is_new] = shard_of_node.try_emplace(s.node);
    if (!is_new)
      continue;
    const auto& info = where.node(s.node);
    pos->second = shard_of(info, shards);
    quotes[pos->second].emplace(info.uid, info.facts_hash);
  }
  auto out = std::make_shared<protocol::plan>();
  std::map<base::shard_id, std::size_t> slice_of;
  for (const auto& [shard, nodes] : quotes) {
    slice_of[shard] = out->slices.size();
    protocol::slice slice;
    slice.shard = shard;
    for (const auto& [node, hash] : nodes)
      slice.quotes.push_back({node, hash});
    out->slices.push_back(std::move(slice));
  }
  for (const auto& s : found.seats) {
    ensure(s.member < who.members.size(), s.member, who.members.size());
    const auto& m = who.members[s.member];
    const auto& info = where.node(s.node);
    out->slices[slice_of[shard_of_node[s.node]]].seats.push_back(
        {m.uid, m.name, m.group, info.uid, info.name, m.kind->takes, {}, m.ties});
  }
  out->domains = found.domains;
  out->score = found.score;
  out->view_version = view_version;
  ensure(out->seat_count() == found.seats.size(), out->seat_count(), found.seats.size());
  return out;
}

std::vector<engine::marked_seat> seats_of(const protocol::plan& x) {
  std::vector<engine::marked_seat> out;
  for (const auto& slice : x.slices)
    for (const auto& s : slice.seats) {
      auto& added = out.emplace_back();
      added.node = s.node;
      added.takes = s.takes;
    }
  return out;
}

} // namespace tutti::placement
