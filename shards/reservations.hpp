// What a shard has promised, to whom, and how far each promise has come.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/plan.hpp"
#include "protocol/records.hpp"

namespace tutti::shards {

/// A shard's side of one attempt.
///
///     absent ── PREPARE, every node says held ──▶ prepared ── COMMIT ──▶ committed ──▶ consumed
///        │                                           │                      │             │
///        │                                         ABORT             released whole     finish
///        │                                           ▼                      ▼             ▼
///        │                                        released ◀────────────────┴─────────────┘
///        └── COMMIT of what was forgotten, and it still fits ──▶ committed
///
/// absent → prepared   PREPARED is appended (lazy) before the vote; on the fast path it rides with
///                     the decision. A vote is the incarnation's word.
/// … → committed       COMMITTED is durable before the ack. An ack is the disk's word.
/// committed → consumed  every pod was seen bound or gone, or was released; nothing is written, for
///                     a list from the API server shows it again.
/// … → released        RELEASED is appended (lazy): if it is lost, the owner is asked again.
///
/// `absent` and `released` are not kept: the one is before, the other after the book knows it.
enum class reservation_state : std::uint8_t { absent, prepared, committed, consumed, released };
std::string_view name_of(reservation_state x);

/// One move of the diagram above.
struct reservation_edge {
  reservation_state from;
  reservation_state to;
};
inline constexpr std::array reservation_edges{
    reservation_edge{reservation_state::absent, reservation_state::prepared},
    reservation_edge{reservation_state::absent, reservation_state::committed},
    reservation_edge{reservation_state::prepared, reservation_state::committed},
    reservation_edge{reservation_state::prepared, reservation_state::released},
    reservation_edge{reservation_state::committed, reservation_state::consumed},
    reservation_edge{reservation_state::committed, reservation_state::released},
    reservation_edge{reservation_state::consumed, reservation_state::released},
};
constexpr bool may_move(reservation_state from, reservation_state to) {
  for (const auto& edge : reservation_edges)
    if (edge.from == from && edge.to == to)
      return true;
  return false;
}
static_assert(!may_move(reservation_state::committed, reservation_state::prepared));
static_assert(!may_move(reservation_state::absent, reservation_state::consumed));

/// What one attempt holds in this shard.
struct reservation {
  reservation_state state = reservation_state::absent;
  base::partition_id coordinator;
  protocol::slice_ptr asked;
  std::map<base::pod_uid, base::node_uid> left; ///< seats not yet seen bound or gone, or released
  bool is_fast = false;     ///< promised without a record of its own: it rides with the decision
  bool is_finished = false; ///< DONE was heard; ends when nothing is left

  base::time_point since;    ///< promised or replayed in this life: for display
  base::duration patience{}; ///< until the owner is asked (again) what became of it

  bool is_in_doubt() const { return state == reservation_state::prepared; }
};

/// All reservations of a shard with the look-ups that events need. The durable part is a function
/// of the records that were applied, whether in this life or by replay (S11).
class reservation_book {
public:
  using all_of_them = std::map<base::attempt_id, reservation>;

  const all_of_them& all() const { return all_; }
  /// Null if the attempt is absent.
  reservation* find(const base::attempt_id& attempt);
  const reservation* find(const base::attempt_id& attempt) const;

  /// absent → prepared.
  reservation& prepare(const base::attempt_id& attempt, base::partition_id coordinator,
                       protocol::slice_ptr asked);
  /// absent or prepared → committed.
  reservation& commit(const base::attempt_id& attempt, base::partition_id coordinator,
                      protocol::slice_ptr asked);
  /// `pod` needs no hold of `attempt` any more: seen bound or gone, or released. Returns its node
  /// if it did. A committed reservation with nothing left becomes consumed.
  std::optional<base::node_uid> settle(const base::attempt_id& attempt, const base::pod_uid& pod);
  /// … → released, and forgotten.
  void forget(const base::attempt_id& attempt);

  /// Attempts that hold `pod`, and that hold something on `node`; ascending.
  std::vector<base::attempt_id> of_pod(const base::pod_uid& pod) const;
  std::vector<base::attempt_id> on_node(const base::node_uid& node) const;
  /// Nodes on which anything is held, or a victim is named.
  std::set<base::node_uid> nodes() const;

  /// Victims of slices that are live or being prepared (S9: each in one plan).
  void name_victims(const base::attempt_id& attempt, const protocol::slice& asked);
  void drop_victims(const base::attempt_id& attempt, const protocol::slice& asked);
  /// An attempt other than `attempt` that named `pod` as its victim.
  std::optional<base::attempt_id> rival_for_victim(const base::attempt_id& attempt,
                                                   const base::pod_uid& pod) const;
  /// All of them, ascending.
  std::vector<base::pod_uid> named_victims() const;

private:
  reservation& open(const base::attempt_id& attempt, base::partition_id coordinator,
                    protocol::slice_ptr asked);

  all_of_them all_;
  std::set<std::pair<base::pod_uid, base::attempt_id>> by_pod_;
  std::map<base::node_uid, std::map<base::attempt_id, std::size_t>> by_node_; ///< seats left
  std::set<std::pair<base::pod_uid, base::attempt_id>> victims_;
};

} // namespace tutti::shards
