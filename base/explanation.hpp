// Why a gang waits, in numbers: the plain types that the engine fills and everyone prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::base {

/// The closed list of reasons (docs/reference/reasons.md has an anchor per word).
enum class reason_code {
  none,
  waiting_for_members,
  gated,
  queued_behind,
  quota_exceeded,
  insufficient_resources,
  topology_too_fragmented,
  node_constraints_unmet,
  never_fits,
  reserving,
  reservation_conflict,
  shard_unavailable,
  view_stale,
  waiting_for_victims,
  preemption_not_allowed,
  preemption_would_not_help,
  backing_off,
  binding,
  bind_refused,
  degraded,
  api_unavailable,
  api_forbidden,
  undecided,
  paused,
  scheduler_error
};

/// "InsufficientResources" and so on; "<none>" for `none`.
std::string_view name_of(reason_code c);

/// How many nodes one cause rules out. Each node is counted once per cause that holds for it.
struct node_count {
  std::string
      cause; ///< "Insufficient cpu", "untolerated taint {key: value}", …, as kube-scheduler says it
  std::int64_t nodes = 0;

  friend bool operator==(const node_count&, const node_count&) = default;
};

/// How near one topology domain (or the whole cluster, `domain` empty) comes.
struct domain_fit {
  std::string level;       ///< label key; empty for the whole cluster
  std::string domain;      ///< label value
  std::int64_t wanted = 0; ///< members that must be placed
  std::int64_t placed = 0; ///< members that can be placed there now

  friend bool operator==(const domain_fit&, const domain_fit&) = default;
};

/// The whole answer to "why not?". Numbers are fields, never prose.
struct explanation {
  reason_code primary = reason_code::none;
  std::vector<reason_code> others;
  std::int64_t nodes_seen = 0;
  std::int64_t nodes_fit = 0; ///< nodes on which at least one member fits now
  std::vector<node_count> rejected;
  std::vector<domain_fit> closest; ///< best first, at most three
  std::int64_t wanted = 0;         ///< members that must be placed together
  std::int64_t placed = 0;         ///< the most that can be placed now
  std::string dimension;           ///< the resource that is short most often; empty if none is
  std::int64_t short_by = 0;       ///< of `dimension`, in its exact unit, over the whole gang
  std::string detail;              ///< a member, a holder, a limit: what the code alone cannot say
  std::uint64_t view_version = 0;  ///< of the capacity view that was looked at

  friend bool operator==(const explanation&, const explanation&) = default;
};

/// One line for a condition or a terminal: "0/9 nodes are available: 4 Insufficient cpu, …"
/// preceded by the primary reason's own numbers.
std::string to_text(const explanation& x);

} // namespace tutti::base
