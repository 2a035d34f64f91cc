// A gang that has started and then falls below its minimum: how long it may, and who is told.
#include "queue/queue_role.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/limits.hpp"
#include "queue/announce.hpp"

namespace tutti::queue {

namespace {

constexpr const char* degraded_condition = "tutti.dev/Degraded";

/// Members that run, have run to their end, or are bound and not shown by the watch yet.
std::uint32_t standing(const gang_entry& g, const tally& t) {
  return t.bound + t.finished + g.owed();
}

protocol::set_condition condition_of(const gang_entry& g) {
  return {.name = g.name(), .is_pod = false, .uid = g.uid().value};
}

/// The same words as a gang's attempt says after its decision: whoever comes second changes
/// nothing.
void say_started(const gang_entry& g, const options& how, protocol::effects& out) {
  auto said = condition_of(g);
  said.type = how.group_condition;
  said.status = true;
  said.reason = "Scheduled";
  out.tell(protocol::to(protocol::role_kind::status), std::move(said));
}

std::string degraded_text(const gang_entry& g) {
  return fmt::format("{}/{} members are bound", standing(g, count(g)), g.min_count());
}

void say_degraded(const gang_entry& g, protocol::effects& out) {
  auto said = condition_of(g);
  said.type = degraded_condition;
  said.status = g.is_degraded;
  said.reason = g.is_degraded ? "BelowMinimum" : "MinimumBound";
  said.message = degraded_text(g);
  out.tell(protocol::to(protocol::role_kind::status), std::move(said));
}

/// Somebody of it has been on a node: a minimum that stands is one that has started.
bool has_been_somewhere(const gang_entry& g) {
  return std::any_of(g.members.begin(), g.members.end(),
                     [](const pod_entry* pod) { return !pod->is_deleting && pod->has_node; });
}

} // namespace

/// Keeps the gang's clock. It runs while the gang has started, some member is bound, and fewer than
/// the minimum are: the gang is being repaired then, by attempts that count the bound ones. A gang
/// of which nothing runs is not degraded but pending; members that finished did their part.
void queue_role::watch_minimum(gang_entry& g) {
  if (g.is_lone_pod() || !g.group->facts)
    return;
  if (!is_here(g)) {
    repairs_.erase(g.group->name);
    return;
  }
  const auto& facts = *g.group->facts;
  const auto t = count(g);
  if (standing(g, t) >= facts.min_count) {
    repairs_.erase(g.group->name);
    g.has_run |= t.bound > 0;
    g.is_degraded = false;
    say_standing(g);
    return;
  }
  // Said in an earlier life, unless this one has just taken it back.
  g.is_degraded |= facts.is_degraded && g.group->degraded_said.value_or(true);
  say_standing(g);
  const bool has_started = g.has_run || facts.has_started;
  if (!has_started || t.bound == 0 || facts.is_deleting || g.is_degraded)
    repairs_.erase(g.group->name);
  else if (repairs_.try_emplace(g.group->name, now_ + how_.repair_deadline).second)
    hurry(g);
}

/// What runs waits for the rest: the first repair is not behind a rest that was earned before the
/// gang fell short, in this life or in one before.
void queue_role::hurry(gang_entry& g) {
  if (!g.life && !remembered_.contains(g.uid()))
    return;
  auto& life = life_of(g);
  life.not_before = std::min(life.not_before, now_);
  if (life.is_placed && life.where == pool::backing_off)
    pools_.delay(g, now_);
}

/// A crash may lose any word on its way. So what the object says is compared with what is so, and
/// where they differ it is said, once per news of the object.
void queue_role::say_standing(gang_entry& g) {
  auto& part = *g.group;
  if (g.is_degraded)
    degraded_.insert(part.name);
  else
    degraded_.erase(part.name);
  const auto t = count(g);
  if (!how_.has_group_objects() || t.ours == 0)
    return;
  const bool has_started = standing(g, t) >= part.facts->min_count && has_been_somewhere(g);
  if (has_started && !part.facts->has_started && !part.is_start_said) {
    part.is_start_said = true;
    say_started(g, how_, out_);
  }
  if (part.degraded_said.value_or(part.facts->is_degraded) != g.is_degraded) {
    part.degraded_said = g.is_degraded;
    say_degraded(g, out_);
  }
}

/// Words on their way to the API server were lost: whatever people must know is said again, and
/// written only where it is not there already.
void queue_role::hear(const protocol::view_wanted&) {
  for (auto* g : registry_.all()) {
    for (auto* pod : g->members)
      pod->told = 0;
    if (!g->is_lone_pod()) {
      g->group->is_start_said = false;
      g->group->degraded_said.reset();
      watch_minimum(*g);
    }
    if (!g->life)
      continue;
    g->life->told = 0;
    if (g->life->where == pool::waiting)
      announce_refusal(*g, *g->life->why, how_, out_);
    else if (g->life->where == pool::gated)
      tell_gated_again(*g);
  }
}

void queue_role::tell_gated_again(gang_entry& g) {
  reconsider(g, false);
  if (g.life && g.life->where == pool::gated && g.life->due == pools::never)
    pools_.delay(g, now_);
}

void queue_role::forget_minimum(gang_entry& g) {
  g.is_degraded = g.has_run = false;
  if (g.is_lone_pod())
    return;
  repairs_.erase(g.group->name);
  degraded_.erase(g.group->name);
  evictions_.erase(g.group->name);
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
    out_.add(protocol::note{"queue.degraded", {{"gang", to_text(g->name())}}});
    say_standing(*g);
    if (how_.has_group_objects())
      out_.tell(protocol::to(protocol::role_kind::status),
                protocol::emit_event{.about = g->name(),
                                     .is_pod = false,
                                     .uid = g->uid().value,
                                     .is_warning = true,
                                     .reason = "GangDegraded",
                                     .action = "Repairing",
                                     .text = degraded_text(*g)});
  }
}

std::optional<base::time_point> queue_role::next_repair() const {
  std::optional<base::time_point> first;
  for (const auto& [name, due] : repairs_)
    first = first ? std::min(*first, due) : due;
  return first;
}

} // namespace tutti::queue
