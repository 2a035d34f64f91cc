// Compares what runs with what is owned.
#include "actors/share.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors {

using protocol::address;
using protocol::role_kind;

namespace {

/// For a replica that was given no way to others.
class no_links final : public link_carrier {
public:
  void carry(const std::string&, std::string) override {}
};

std::map<address, base::epoch_no> owned_by_self(const protocol::ownership& now) {
  std::map<address, base::epoch_no> out;
  for (std::uint32_t i = 0; i < now.shards.size(); ++i)
    if (now.shards[i].replica == now.self)
      out[protocol::to_shard({i})] = now.shards[i].epoch;
  for (std::uint32_t i = 0; i < now.partitions.size(); ++i)
    if (now.partitions[i].replica == now.self)
      out[protocol::to_partition({i})] = now.partitions[i].epoch;
  return out;
}

/// A partition must know the latest slot of each of its gangs; a shard, what is to be held on it.
bool concerns(const address& unit, const protocol::decision& d) {
  if (unit.kind == role_kind::partition)
    return protocol::partition_of(d.by.gang).value == unit.index;
  if (d.what != protocol::verdict::committed || d.is_done)
    return false;
  return std::any_of(d.chosen.slices.begin(), d.chosen.slices.end(),
                     [&](const auto& s) { return s.shard.value == unit.index; });
}

} // namespace

void share::take(protocol::own x) {
  ensure(x.what != nullptr);
  static no_links nowhere;
  end_lost(*x.what);
  if (links_ != nullptr)
    links_->reach(x.what->live);
  routes_.belongs(x.what, links_ != nullptr ? *links_ : nowhere);
  for (const auto& [unit, epoch] : owned_by_self(*x.what)) {
    if (running_.contains(unit))
      continue;
    running_[unit] = epoch;
    std::vector<protocol::decision_ptr> open;
    for (const auto& d : x.open)
      if (concerns(unit, *d))
        open.push_back(d);
    lives_.begin_owned(unit, epoch, std::move(open));
  }
}

void share::end_lost(const protocol::ownership& now) {
  const auto owned = owned_by_self(now);
  const bool has_lost_all = !running_.empty() && owned.empty();
  std::erase_if(running_, [&](const auto& x) {
    const auto pos = owned.find(x.first);
    if (pos != owned.end() && pos->second == x.second)
      return false;
    lives_.end_owned(x.first);
    if (x.first.kind == role_kind::partition)
      routes_.deliver(x.first, protocol::to(role_kind::queue),
                      protocol::new_epoch{{x.first.index}, {}, 0});
    return true;
  });
  if (has_lost_all)
    for (const auto kind : {role_kind::binder, role_kind::evictor})
      lives_.replace(protocol::to(kind));
}

} // namespace tutti::actors
