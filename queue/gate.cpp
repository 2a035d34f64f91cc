// The gates in the order in which they are asked.
#include "queue/gate.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace tutti::queue {

namespace {

using base::reason_code;
using kind = gate_verdict::kind;

gate_verdict judge_lone_pod(const gang_entry& g) {
  const auto& pod = *g.members.front();
  if (pod.scheduler < 0 || !pod.is_live() || pod.is_bound())
    return {};
  if (pod.is_gated)
    return {kind::closed, reason_code::gated, "the pod has scheduling gates"};
  if (pod.refused)
    return {kind::broken, reason_code::scheduler_error, "the pod " + *pod.refused};
  return {kind::open, reason_code::none, {}};
}

/// The first pending member that cannot be scheduled, and why: a gang is whole or not at all. What
/// is bound already was somebody's choice; what is gated may still change.
std::string refused_member(const gang_entry& g) {
  for (const auto* pod : g.members)
    if (pod->is_pending() && pod->refused)
      return fmt::format("pod {} {}", pod->name, *pod->refused);
  return {};
}

/// O-7: pending and bound members must agree with each other and with the group. Names the first
/// that does not; empty if all do.
std::string disagreement(const gang_entry& g, const options& how) {
  const pod_entry* first = nullptr;
  for (const auto* pod : g.members) {
    if (!pod->is_live())
      continue;
    if (pod->scheduler < 0)
      return fmt::format("pod {} names the scheduler {}, not {}", pod->name,
                         pod->refused ? *pod->refused : "\"\"", how.schedulers.front());
    if (!first)
      first = pod;
    if (pod->scheduler != first->scheduler)
      return fmt::format("pods {} and {} name different schedulers", first->name, pod->name);
    if (!how.refuses_mixed_priorities)
      continue;
    if (pod->priority != g.priority())
      return fmt::format("pod {} has priority {}, its PodGroup {}", pod->name, pod->priority,
                         g.priority());
    if (pod->never_preempts != first->never_preempts)
      return fmt::format("pods {} and {} have different preemption policies", first->name,
                         pod->name);
  }
  return {};
}

/// Whoever grows while it waits for room is to be placed as a whole (L-5 is about gangs that could
/// start at once).
bool is_held_back(const gang_entry& g) {
  return std::any_of(g.members.begin(), g.members.end(),
                     [](const pod_entry* pod) { return pod->is_holding_back(); });
}

} // namespace

gate_verdict judge(const gang_entry& g, const options& how) {
  if (g.is_lone_pod())
    return judge_lone_pod(g);
  const auto t = count(g);
  if (!g.members.empty() && t.ours == 0)
    return {};
  if (!g.group->facts)
    return {kind::closed, reason_code::waiting_for_members,
            fmt::format("PodGroup {} does not exist", protocol::to_text(g.group->name))};
  const auto& facts = *g.group->facts;
  // Members that have finished did their part: with nobody left to place, the gang waits for
  // nobody.
  if (t.pending == 0
      && (t.bound + t.finished >= facts.min_count || (t.live() == 0 && t.finished > 0)))
    return {};
  if (facts.is_deleting)
    return {kind::closed, reason_code::gated, "the PodGroup is being deleted"};
  if (!facts.refused.empty())
    return {kind::broken, reason_code::scheduler_error, facts.refused};
  if (auto text = disagreement(g, how); !text.empty())
    return {kind::broken, reason_code::scheduler_error, std::move(text)};
  if (auto text = refused_member(g); !text.empty())
    return {kind::broken, reason_code::scheduler_error, std::move(text)};
  const auto have = t.pending + t.bound;
  if (t.pending > 0 && is_held_back(g))
    return {kind::closed, reason_code::gated,
            fmt::format("{} of {} members have scheduling gates, and have joined while the others "
                        "waited for room",
                        t.gated, t.live())};
  if (t.pending > 0 && have >= facts.min_count)
    return {kind::open, reason_code::none, {}};
  if (t.gated > 0 && have + t.gated >= facts.min_count)
    return {kind::closed, reason_code::gated,
            fmt::format("{} of {} members have scheduling gates", t.gated, t.live())};
  return {kind::closed, reason_code::waiting_for_members,
          fmt::format("{}/{} members", have, facts.min_count)};
}

} // namespace tutti::queue
