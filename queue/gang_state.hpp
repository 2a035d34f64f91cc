// Where a gang stands in the queue, and all that is remembered while it is not at rest.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/explanation.hpp"
#include "base/ids.hpp"
#include "base/limits.hpp"
#include "base/time.hpp"
#include "protocol/messages.hpp"
#include "protocol/phases.hpp"

namespace tutti::queue {

/// S13: a pending gang is in exactly one of these. `settling` is a gang whose attempt is over while
/// the watch has not yet shown all that it bound (or whose name an older gang still uses).
///
///     gated ◀──────────────▶ queued ──────────▶ attempting ──────▶ settling ──▶ (at rest)
///       ▲                      ▲  ▲                 │                   │
///       │                      │  └─ backing_off ◀──┤                   └──▶ queued
///       └── waiting ───────────┘         ▲          │
///              ▲  └──────────────────────┘          │
///              └────────────────────────────────────┘
enum class pool : std::uint8_t { gated, queued, attempting, settling, backing_off, waiting };
inline constexpr std::size_t pool_count = 6;
std::string_view name_of(pool x);

/// Q-12 without Q-13: priority descending, then age, which is never refreshed, then who came first.
struct order_key {
  std::int32_t priority = 0;
  std::int64_t created_ms = 0;
  std::uint64_t came = 0; ///< as at `gang_entry`

  friend bool operator==(const order_key&, const order_key&) = default;
};

/// How one attempt ended.
struct past_attempt {
  std::uint64_t ordinal = 0;
  std::uint64_t try_no = 0;
  protocol::attempt_outcome outcome = protocol::attempt_outcome::refused;
  base::reason_code reason = base::reason_code::none;
  std::uint32_t bound = 0;
  base::time_point from;
  base::time_point until;
};
/// So many of them are kept per gang that is not at rest.
inline constexpr std::size_t history_longest = 20;

/// A gang that is gated is told of once nothing has changed for so long: members come one by one.
inline constexpr auto gated_told_after = std::chrono::seconds{10};
/// A gang that settles waits for the watch, or for an older gang of its name, and not for time: it
/// is only looked at again so often.
inline constexpr auto settle_interval = std::chrono::seconds{10};
/// A partition that has just begun, or whose gang actor was lost, is asked again; it ignores what
/// it has under way. First soon, then ever later, and never more often than this once it has
/// answered.
inline constexpr auto silence_longest = 2 * base::limits::resend_longest;

/// What is known of an attempt under way.
struct attempt_now {
  base::attempt_id id; ///< try_no 0 until the first word of it
  protocol::phase at = protocol::phase::planning;
  base::reason_code reason = base::reason_code::none;
  std::uint32_t members = 0;
  std::uint32_t bound = 0;     ///< as it reports
  std::uint64_t grew = 0;      ///< newest view that grew meanwhile and might help; 0 = none
  protocol::gang_ptr who;      ///< as it was offered; null if it was resumed, not asked for
  std::uint32_t conflicts = 0; ///< that were lost before it
  std::uint32_t asked = 0;     ///< how often
  base::time_point next_ask;   ///< if the partition stays silent until then
  bool has_changed = false;    ///< the gang itself changed meanwhile in a way that may help
  bool is_heard = false;
  bool had_started = false; ///< the gang, when it was first offered
  base::time_point from;
};

/// Gangs that wait for the same share its words.
using explanation_ptr = std::shared_ptr<const base::explanation>;

/// Everything about a gang that is not at rest.
struct gang_life {
  pool where = pool::gated;
  bool is_placed = false; ///< stands in `pools`
  order_key key;
  base::time_point due; ///< end of the rest, the flush, of settling, when to ask or to tell again
  base::time_point not_before; ///< end of the rest that the last failure earned
  base::time_point since;      ///< of `reason`
  base::reason_code reason = base::reason_code::none;
  std::string detail;

  std::uint32_t refused = 0;   ///< in a row (Q-15)
  std::uint32_t errors = 0;    ///< in a row (Q-16)
  std::uint32_t conflicts = 0; ///< in a row
  bool has_free_retry = true;  ///< may be tried again without rest if the view grew meanwhile
  bool is_stale = true;        ///< something changed since the last refusal
  /// The last attempt has bound what fits and said why the rest does not, and nothing that may help
  /// has happened since it was planned. The gang waits so once it has settled.
  bool knows_why_left = false;
  std::uint64_t told = 0;      ///< hash of the condition last asked for; 0 = none
  explanation_ptr why;         ///< of the last attempt that came to nothing; without its view
  std::uint64_t view_seen = 0; ///< the view that it is about
  std::unique_ptr<attempt_now> attempt; ///< set exactly in `attempting`
  std::vector<past_attempt> history;    ///< oldest first
};

} // namespace tutti::queue
