// What shards said that they hold, against what labels say.
#include "bridge/node_homes.hpp"

#include "base/ensure.hpp"
#include "protocol/sharding.hpp"

namespace tutti::bridge {

node_homes::node_homes(std::uint32_t shards, bool only_expected) : shards_(shards) {
  ensure(shards > 0);
  for (std::uint32_t i = 0; i < shards && !only_expected; ++i)
    unheard_.insert({i});
}

bool node_homes::hear(const protocol::nodes_held& x) {
  if (unheard_.erase(x.shard) == 0)
    return false;
  for (const auto& node : x.nodes)
    holders_[node].insert(x.shard);
  return unheard_.empty();
}

void node_homes::is_gone(base::shard_id shard) {
  unheard_.erase(shard);
  for (auto& [node, holders] : holders_)
    holders.erase(shard);
  std::erase_if(holders_, [](const auto& x) { return x.second.empty(); });
}

base::shard_id node_homes::home_of(const protocol::node_facts& node) const {
  return protocol::shard_of(node, shards_);
}

base::shard_id node_homes::place_of(const protocol::node_facts& node) const {
  const auto home = home_of(node);
  if (const auto pos = holders_.find(node.uid); pos != holders_.end())
    for (const auto& shard : pos->second)
      if (shard != home)
        return shard;
  return home;
}

void node_homes::is_idle(base::shard_id shard, const base::node_uid& node) {
  const auto pos = holders_.find(node);
  if (pos == holders_.end())
    return;
  pos->second.erase(shard);
  if (pos->second.empty())
    holders_.erase(pos);
}

} // namespace tutti::bridge
