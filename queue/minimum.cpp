// A gang that has started and then falls below its minimum: how long it may, and who is told.
#include "queue/queue_role.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/limits.hpp"

namespace tutti::queue {

namespace {

constexpr const char* degraded_condition = "tutti.dev/Degraded";

/// Members that run, have run to their end, or are bound and not shown by the watch yet.
std::uint32_t standing(const gang_entry& g, const tally& t) {
  return t.bound + t.finished + g.owed;
}

void say_degraded(const gang_entry& g, const options& how, protocol::effects& out) {
  if (!how.has_group_objects())
    return;
  const auto text = fmt::format("{}/{} members are bound", standing(g, count(g)), g.min_count());
  out.tell(protocol::to(protocol::role_kind::status),
           protocol::set_condition{.name = g.name(),
                                   .is_pod = false,
                                   .uid = g.uid().value,
                                   .type = degraded_condition,
                                   .status = g.is_degraded,
                                   .reason = g.is_degraded ? "BelowMinimum" : "MinimumBound",
                                   .message = text});
  if (!g.is_degraded)
    return;
  out.tell(protocol::to(protocol::role_kind::status), protocol::emit_event{.about = g.name(),
                                                                           .is_pod = false,
                                                                           .uid = g.uid().value,
                                                                           .is_warning = true,
                                                                           .reason = "GangDegraded",
                                                                           .action = "Repairing",
                                                                           .text = text});
}

} // namespace

/// Keeps the gang's clock. It runs while the gang has started, some member is bound, and fewer than
/// the minimum are: the gang is being repaired then, by attempts that count the bound ones. A gang
/// of which nothing runs is not degraded but pending; members that finished did their part.
void queue_role::watch_minimum(gang_entry& g) {
  if (g.is_lone_pod() || !g.group->facts)
    return;
  auto& facts = *g.group->facts;
  const auto t = count(g);
  if (standing(g, t) >= facts.min_count) {
    repairs_.erase(g.group->name);
    g.has_run |= t.bound > 0;
    if (!g.is_degraded && !facts.is_degraded)
      return;
    g.is_degraded = facts.is_degraded = false;
    say_degraded(g, how_, out_);
    return;
  }
  g.is_degraded |= facts.is_degraded; // said in an earlier life
  const bool has_started = g.has_run || facts.has_started;
  if (has_started && t.bound > 0 && !facts.is_deleting && !g.is_degraded)
    repairs_.try_emplace(g.group->name, now_ + base::limits::repair_deadline);
  else
    repairs_.erase(g.group->name);
}

void queue_role::forget_minimum(gang_entry& g) {
  g.is_degraded = g.has_run = false;
  if (!g.is_lone_pod())
    repairs_.erase(g.group->name);
}

/// The repair deadline has passed: from here on people are told. Attempts go on.
void queue_role::fire_repairs() {
  for (auto pos = repairs_.begin(); pos != repairs_.end();) {
    if (pos->second > now_) {
      ++pos;
      continue;
    }
    auto* g = registry_.find_group(pos->first);
    pos = repairs_.erase(pos);
    if (!g || !g->group->facts)
      continue;
    g->is_degraded = true;
    say_degraded(*g, how_, out_);
  }
}

std::optional<base::time_point> queue_role::next_repair() const {
  std::optional<base::time_point> first;
  for (const auto& [name, due] : repairs_)
    first = first ? std::min(*first, due) : due;
  return first;
}

} // namespace tutti::queue
