// The operator's choice that a degraded gang goes: its members that run are evicted, so that they
// do not hold room for work that cannot be done.
#include "queue/queue_role.hpp"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/mutant.hpp"
#include "protocol/sharding.hpp"

namespace tutti::queue {

namespace {

/// No repair is under way or about to begin: the last one came to nothing, or there is nobody to
/// repair it with.
bool is_repair_at_rest(const gang_life& life) {
  if (!life.is_placed)
    return false;
  switch (life.where) {
  case pool::gated:
  case pool::waiting:
    return true;
  case pool::backing_off:
    return life.errors > 0;
  case pool::queued:
  case pool::attempting:
  case pool::settling:
    return false;
  }
  return false;
}

std::string words(const gang_entry& g, const tally& t) {
  return fmt::format("gang {} is degraded: {}/{} members run, and it could not be repaired",
                     to_text(g.name()), t.bound, g.min_count());
}

} // namespace

/// Upholds S9: only what the API server itself shows as degraded. So people saw it first, and a
/// crash on either side of the eviction finds the same grounds.
bool queue_role::may_be_evicted(const gang_entry& g) const {
  if (!is_here(g) || !g.group->facts || g.group->facts->is_deleting || count(g).bound == 0)
    return false;
  if (evictions_.contains(g.group->name))
    return true; // begun: half a gang is of no more use than two thirds
  const bool is_shown =
      g.group->facts->is_degraded || base::is_planted(base::mutant::evict_before_it_is_shown);
  return is_shown && g.life && is_repair_at_rest(*g.life);
}

/// An attempt would count on members that are about to go.
bool queue_role::is_being_evicted(const gang_entry& g) const {
  return !g.is_lone_pod() && evictions_.contains(g.group->name) && count(g).bound > 0;
}

/// Said once a while until the watch shows them terminating or gone. A gang that was healed by
/// somebody else meanwhile is let alone.
void queue_role::evict_degraded() {
  if (!how_.evicts_degraded || !is_synced_)
    return;
  std::vector<gang_entry*> over;
  for (auto pos = evictions_.begin(); pos != evictions_.end();) {
    auto* g = registry_.find_group(pos->first);
    if (g && degraded_.contains(pos->first) && may_be_evicted(*g)) {
      ++pos;
      continue;
    }
    if (g)
      over.push_back(g);
    pos = evictions_.erase(pos);
  }
  for (auto* g : over)
    reconsider(*g, true);
  for (const auto& name : std::vector(degraded_.begin(), degraded_.end()))
    if (auto* g = registry_.find_group(name); g && may_be_evicted(*g))
      evict_members(*g);
}

void queue_role::evict_members(gang_entry& g) {
  const auto [pos, is_first] = evictions_.try_emplace(g.group->name, now_);
  if (pos->second > now_)
    return;
  pos->second = now_ + silence_longest;
  const auto t = count(g);
  protocol::evict_degraded asked{g.uid(), g.name(), {}, words(g, t)};
  for (const auto* pod : g.members)
    if (pod->is_bound())
      asked.members.push_back({.pod = {pod->uid.text()},
                               .pod_name = {g.space(), pod->name},
                               .node = {},
                               .priority = pod->priority});
  if (is_first) {
    out_.add(protocol::note{
        "queue.evicts_degraded",
        {{"gang", to_text(g.name())}, {"members", static_cast<std::int64_t>(t.bound)}}});
    out_.tell(protocol::to(protocol::role_kind::status),
              protocol::emit_event{
                  .about = g.name(),
                  .is_pod = false,
                  .uid = g.uid().value,
                  .is_warning = true,
                  .reason = "GangDegraded",
                  .action = "Evicting",
                  .text = fmt::format("Evicting {} members that run: {}", t.bound, asked.why)});
  }
  out_.tell(protocol::to_partition(protocol::partition_of(g.uid())), std::move(asked));
  if (is_first)
    reconsider(g, false); // it is not tried before they are gone
}

} // namespace tutti::queue
