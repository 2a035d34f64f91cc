// The life of one attempt as its coordinator sees it: states, and the edges that exist between
// them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "protocol/phases.hpp"

namespace tutti::protocol {

/// Where an attempt stands. Everything above the line may be forgotten at any moment (presumed
/// abort); everything below it is rolled forward, or withdrawn whole.
///
///     planning ──▶ seeking_victims ──▶ over                       no placement
///        │               │
///        ▼               ▼
///     preparing ──────────────────────▶ over                      a no, or silence: ABORT told
///     lazily
///        │ all yes
///        ▼
///     looking ────────────────────────▶ over                      the gang is not what was planned
///        │ last look holds
///        ▼
///     deciding ───────────────────────▶ over                      a rival won the slot
///     ═══╪═══════════════════════════════════════════════════ the decision record is durable ═══
///        ▼
///     committing ─┬─▶ evicting ─┬─▶ binding ──▶ finishing ──▶ over
///        │        └─────────────┘    ▲ │           ▲
///        └───────────▶ withdrawing ──┘◀┘───────────┘
///                      (withdrawing → binding: a member turned out to be bound)
///
/// committing → evicting/binding needs cover: acks of the slices that, with the members already
/// bound, reach every group's minimum. binding → withdrawing needs that no member of this plan is
/// bound. finishing writes DONE, which must be durable before the shards hear `finish`.
enum class attempt_state : std::uint8_t {
  planning,
  seeking_victims,
  preparing,
  looking,
  deciding,
  committing,
  evicting,
  binding,
  withdrawing,
  finishing,
  over
};

inline constexpr std::array attempt_edges{
    std::pair{attempt_state::planning, attempt_state::preparing},
    std::pair{attempt_state::planning, attempt_state::seeking_victims},
    std::pair{attempt_state::planning, attempt_state::committing}, // a resumed decision
    std::pair{attempt_state::planning, attempt_state::over},
    std::pair{attempt_state::seeking_victims, attempt_state::preparing},
    std::pair{attempt_state::seeking_victims, attempt_state::over},
    std::pair{attempt_state::preparing, attempt_state::looking},
    std::pair{attempt_state::preparing, attempt_state::over},
    std::pair{attempt_state::looking, attempt_state::deciding},
    std::pair{attempt_state::looking, attempt_state::over},
    std::pair{attempt_state::deciding, attempt_state::committing},
    std::pair{attempt_state::deciding, attempt_state::over},
    std::pair{attempt_state::committing, attempt_state::evicting},
    std::pair{attempt_state::committing, attempt_state::binding},
    std::pair{attempt_state::committing, attempt_state::withdrawing},
    std::pair{attempt_state::evicting, attempt_state::binding},
    std::pair{attempt_state::evicting, attempt_state::withdrawing},
    std::pair{attempt_state::binding, attempt_state::withdrawing},
    std::pair{attempt_state::binding, attempt_state::finishing},
    std::pair{attempt_state::withdrawing, attempt_state::binding},
    std::pair{attempt_state::withdrawing, attempt_state::finishing},
    std::pair{attempt_state::finishing, attempt_state::over},
    // A later owner has adopted the decision: this one stops wherever it is.
    std::pair{attempt_state::committing, attempt_state::over},
    std::pair{attempt_state::evicting, attempt_state::over},
    std::pair{attempt_state::binding, attempt_state::over},
    std::pair{attempt_state::withdrawing, attempt_state::over},
};

constexpr bool may_follow(attempt_state from, attempt_state to) {
  for (const auto& [a, b] : attempt_edges)
    if (a == from && b == to)
      return true;
  return false;
}

constexpr bool is_decided(attempt_state x) {
  return x >= attempt_state::committing;
}

std::string_view name_of(attempt_state x);
/// The word that users see.
phase phase_of(attempt_state x);

/// One member of a committed plan.
///
///     reading ──▶ waiting ──▶ checking ──▶ posting ──▶ bound
///        │           │            │            │
///        └───────────┴────────────┴────────────┴──▶ cancelling ─▶ fencing ─▶ releasing ─▶ given_up
///                                                      (a)           (b)        (c)
///
/// (a) CANCEL becomes durable, (b) the pod is touched, (c) the room is released: in this order,
/// always (rule 7). (b) is skipped where the pod is known to be gone or bound. fencing → bound: a
/// stale Binding won the race; the room is still held for it, so it stays.
enum class seat_state : std::uint8_t {
  reading,  ///< after a restart: the API server's word is awaited
  waiting,  ///< not yet to be bound: no cover, no ack, or no leave of the node
  checking, ///< the node is asked whether everything really on it leaves room (S1b)
  posting,  ///< the Binding is with the binder
  bound,
  cancelling,
  fencing,
  releasing,
  given_up
};

constexpr bool is_settled(seat_state x) {
  return x == seat_state::bound || x == seat_state::given_up;
}
/// May still become bound by us.
constexpr bool is_alive(seat_state x) {
  return x <= seat_state::bound;
}

} // namespace tutti::protocol
