// How kinds of roles, phases, verdicts and messages are called in traces.
#include "protocol/address.hpp"
#include "protocol/messages.hpp"
#include "protocol/phases.hpp"

#include <array>

#include <fmt/core.h>

namespace tutti::protocol {

std::string to_text(const object_name& x) {
  return x.space + "/" + x.name;
}

std::string to_text(const address& x) {
  static constexpr std::array<std::string_view, role_kind_count> names{
      "node",   "shard",  "partition", "gang",   "topology", "planner", "queue",    "preemption",
      "mirror", "binder", "evictor",   "status", "admin",    "keeper",  "decisions"};
  const auto name = names.at(static_cast<std::size_t>(x.kind));
  if (!x.key.empty())
    return fmt::format("{}({})", name, x.key);
  const bool has_index =
      x.kind == role_kind::shard || x.kind == role_kind::partition || x.kind == role_kind::planner;
  return has_index ? fmt::format("{}({})", name, x.index) : std::string{name};
}

std::string_view name_of(phase x) {
  static constexpr std::array<std::string_view, phase_count> names{
      "Gated",    "Queued",  "BackingOff", "Planning",    "Preparing", "Decided",
      "Evicting", "Binding", "Bound",      "Withdrawing", "Degraded"};
  return names.at(static_cast<std::size_t>(x));
}

std::string_view name_of(attempt_outcome x) {
  static constexpr std::array<std::string_view, 6> names{"bound",     "refused",  "conflict",
                                                         "withdrawn", "degraded", "stopped"};
  return names.at(static_cast<std::size_t>(x));
}

std::string_view name_of(bind_verdict v) {
  static constexpr std::array<std::string_view, 8> names{
      "bound",       "moved", "BoundElsewhere", "PodGone",
      "PodReplaced", "gated", "ApiForbidden",   "refused"};
  return names.at(static_cast<std::size_t>(v));
}

namespace {

/// In the order of the alternatives.
constexpr std::array<std::string_view, std::variant_size_v<message>> message_names{
    "try_gang",
    "begin_attempt",
    "resume_decision",
    "attempt_over",
    "gang_progress",
    "last_look",
    "last_look_answer",
    "plan_request",
    "plan_answer",
    "plan_dropped",
    "view_grew",
    "prepare",
    "vote",
    "commit",
    "ack",
    "abort_attempt",
    "release",
    "released",
    "finish",
    "inquiry",
    "inquiry_answer",
    "pressure",
    "new_epoch",
    "hold",
    "held",
    "let_go",
    "node_begin",
    "node_changed",
    "pod_arrived",
    "pod_left",
    "room",
    "may_bind",
    "may_bind_answer",
    "view_delta",
    "view_wanted",
    "node_seen",
    "node_gone",
    "view_trust",
    "pod_seen",
    "pod_gone",
    "group_seen",
    "group_gone",
    "facts_synced",
    "bind",
    "bind_answer",
    "read_pod",
    "touch",
    "pod_read",
    "evict",
    "victim_gone",
    "stop_evicting",
    "eviction_stopped",
    "set_condition",
    "emit_event",
    "victims_wanted",
    "victims_answer",
    "inspect",
    "inspected",
    "gang_deleted",
    "gangs_kept",
    "fence_found",
    "node_leaves",
    "node_idle",
    "nodes_held",
    "plan_order",
    "slot_decide",
    "slot_decided",
    "slot_amend",
    "slot_amended",
    "slots_forget",
    "slots_wanted",
    "slots_told",
    "map_wanted",
    "map_told",
    "evict_degraded",
    "cancel_gang",
    "gang_cancelled",
    "pods_awaited",
    "guards_seen",
    "offers_wanted",
    "offers",
    "named_wanted",
    "named_told"};

} // namespace

std::string_view name_of(const message& m) {
  return message_names.at(m.index());
}

} // namespace tutti::protocol
