// Every bound of the system in one place, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tutti::base::limits {

/// A vote that takes longer means a dead or hung shard; the gang is better off planned elsewhere.
inline constexpr auto prepare_timeout = std::chrono::seconds{2};
/// First resend of an unanswered message: above any healthy round trip, sync included.
inline constexpr auto resend_first = std::chrono::milliseconds{200};
/// Resends double up to here, so that a dead peer costs next to nothing.
inline constexpr auto resend_longest = std::chrono::seconds{5};
/// How long a gang that lost members after its decision may be repaired before it is Degraded.
inline constexpr auto repair_deadline = std::chrono::seconds{60};
/// A node that refuses a decided member for so long was filled by somebody else, and not for a
/// moment: the member is better off planned elsewhere.
inline constexpr auto leave_patience = std::chrono::seconds{10};
/// Added to the victims' grace before an attempt that waits for them is withdrawn.
inline constexpr auto victim_slack = std::chrono::seconds{60};
/// DONE records are kept so long that every late inquiry still finds its answer.
inline constexpr auto done_retention = std::chrono::minutes{10};
/// Back-off after a refused attempt doubles from here (semantics Q-21).
inline constexpr auto backoff_first = std::chrono::seconds{1};
/// … up to here for a lone pod, times sqrt(size) for a group.
inline constexpr auto backoff_cap = std::chrono::seconds{10};
/// Gangs that no event woke are tried again after this.
inline constexpr auto flush_interval = std::chrono::minutes{5};
/// A quarantined gang is left alone for so long; then it is tried once more. As long as its deaths
/// are counted together (`actors/supervisor.hpp`): a partition that dies of it does so seldom.
inline constexpr auto quarantine_rest = std::chrono::seconds{60};
/// Nobody is tried before the queue has heard of nothing new to place for so long: what was created
/// in one moment comes in several watches, some milliseconds apart, and is tried in one order.
inline constexpr auto burst_pause = std::chrono::milliseconds{3};
/// … and not for longer than this after the first of it, however much is created.
inline constexpr auto burst_longest = std::chrono::milliseconds{20};
/// A view without event or bookmark for this long is stale (F19): servers bookmark once a minute.
inline constexpr auto view_stale_after = std::chrono::seconds{90};

/// Coordinator partitions; fixed by the design, a multiple of any sensible number of replicas.
inline constexpr std::uint32_t partitions = 64;
/// Shards, unless the cluster's identity says otherwise.
inline constexpr std::uint32_t default_shards = 8;

/// After so many lost conflicts shards are prepared one after another, so that one rival advances.
inline constexpr std::uint32_t conflicts_before_sequential = 3;
/// Gangs that may be between `planning` and `bound` at once: bounds mailboxes and marks.
inline constexpr std::size_t attempts_in_flight = 256;
/// HTTP requests the binder keeps in flight.
inline constexpr std::size_t bindings_in_flight = 128;
/// Largest amount of one resource that enters arithmetic; eight of them still fit into int64.
inline constexpr std::int64_t amount_max = (std::int64_t{1} << 60) - 1;
/// Longest message between processes, in bytes: a gang of 10,000 members fits ten times.
inline constexpr std::size_t frame_bytes_max = 64u << 20;

} // namespace tutti::base::limits
