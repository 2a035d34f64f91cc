// The working ledger of one node: who is on it, who holds room on it, and whether one more fits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/ids.hpp"
#include "base/resources.hpp"
#include "base/uid.hpp"
#include "protocol/plan.hpp"
#include "shards/pod_takes.hpp"

namespace tutti::shards {

/// Two gangs may be promised room on one node at the same time, a retry may ask for a pod that an
/// older attempt still holds, a promised pod may turn up bound before its promise is consumed, and
/// a node may shrink under all of them. Adding requests per attempt would count such a pod twice.
/// The ledger therefore counts *pod uids*: a uid takes room once, however many attempts hold it.
///
///     entry of a uid:   –  ── hold ──▶  held by 1..n attempts  ── bound ──▶  bound  ── gone ──▶  –
///                       held  ── the last holder releases ──▶  –
///
/// Victims make it harder: their room is promised while they still run. What an attempt may borrow
/// from its victims (its *credit*) is at most what they take and at most what its own seats take,
/// so that releasing a seat counts the victim again in the same step, and nothing that a victim
/// will leave is ever promised to anybody but the attempt that named it:
///
///     sum    = all bound and held uids, each once
///     credit = per attempt: min(its victims still here, its seats that nobody else holds or held)
///     free   = allocatable - sum                   while that is not negative,
///              min(0, allocatable - sum + credits) otherwise
///
/// Whose room a pod takes must be unambiguous, or its departure would end two credits at once and
/// give back room once. So a seat that two attempts hold is borrowed by neither, not even after it
/// is bound; and a pod that was bound on borrowed room is nobody's victim while the lender runs.
///
/// Upholds S1a: `hold` succeeds only if sum - credits stays at or below allocatable (or does not
/// rise, where the world has put it above); no release of unbound seats and no departure ever
/// raises it. Only the world may: a node that shrinks, a pod that others bind.
///
/// One node actor owns one ledger; nothing else writes it. Not thread-safe. Work per call is linear
/// in the pods of the node.
class node_ledger {
public:
  /// What was missing: the first pod that did not fit, and who holds what it lacks.
  struct refusal {
    base::pod_uid pod;
    base::shortage lacking; ///< a port is named "host port 8080/TCP"; a rival's victim "victim"
    std::vector<base::attempt_id> holders; ///< empty if it would not fit without them either
  };

  node_ledger() = default;
  explicit node_ledger(base::resources allocatable) : allocatable_(std::move(allocatable)) {}

  /// Holds room for all of `seats` (distinct pods) or for none; the room of `victims` that are here
  /// counts as free for these seats. Returns nothing if they are held now, also if `attempt` held
  /// them before (a repeated PREPARE). Else returns the refusal, and the ledger is unchanged.
  [[nodiscard]] std::optional<refusal> hold(const base::attempt_id& attempt,
                                            const std::vector<protocol::seat>& seats,
                                            const std::vector<protocol::victim>& victims);

  /// Holds without asking whether it fits: what was promised before this ledger was rebuilt. Such
  /// pods may be on their way here already, so `may_bind` counts them as really there for others.
  void hold_anyway(const base::attempt_id& attempt, const std::vector<protocol::seat>& seats,
                   const std::vector<protocol::victim>& victims);

  /// Gives back what `attempt` holds. Pods seen bound stay. Releasing twice changes nothing.
  void release(const base::attempt_id& attempt);
  /// The same for some of its pods; an attempt without seats ends.
  void release(const base::attempt_id& attempt, const std::vector<base::pod_uid>& pods);

  /// The API server says that `pod` is bound here and takes this much, whatever was promised. Room
  /// it held is consumed, not counted again.
  void bound(const base::pod_uid& pod, const base::footprint& takes);

  /// The API server says that `pod` is gone. What was held for it is consumed. An unknown pod
  /// changes nothing.
  void gone(const base::pod_uid& pod);

  /// The node was resized. What is promised stays promised: `free()` may become negative.
  void resize(base::resources allocatable) { allocatable_ = std::move(allocatable); }

  /// May `pod`, held by `attempt`, be bound now? True if everything really on the node (terminating
  /// pods included), plus the pods already allowed, plus this one is within allocatable and no port
  /// collides; from then on it counts as really there. True again when asked again. False changes
  /// nothing. Upholds S1b.
  [[nodiscard]] bool may_bind(const base::attempt_id& attempt, const base::pod_uid& pod);

  /// What may still be promised, negative where the node is over-used; `ports` are the taken ones,
  /// ascending, one entry per pod that takes it.
  base::footprint free() const;

  bool holds(const base::attempt_id& attempt) const { return claims_.contains(attempt); }
  /// Sum over all uids, bound or held, each once: before credits.
  const base::resources& sum() const { return sum_; }
  /// Sum of what attempts borrow from their victims.
  base::resources credits() const;
  const base::resources& allocatable() const { return allocatable_; }

  /// Equal ledgers have equal hashes, whatever the order of the calls that made them.
  std::uint64_t state_hash() const;

private:
  /// What only a pod needs that is not seen bound yet.
  struct promise {
    std::vector<base::attempt_id> holders; ///< ascending, never empty
    bool is_allowed = false;               ///< by may_bind
    bool is_possible = false; ///< held before this ledger was rebuilt: may be on its way
  };
  struct claim {
    std::set<base::pod_uid> seats; ///< bound ones included
    std::set<base::pod_uid> victims;
    /// Of the seats: bound on room that victims lend, because this attempt alone held them.
    std::set<base::pod_uid> borrowed;
  };

  void add_seat(const base::attempt_id& attempt, const protocol::seat& wanted);
  void drop_holder(const base::attempt_id& attempt, const base::pod_uid& pod);
  void erase(const base::packed_uid& pod);
  /// Null once it is bound, and of a pod that is not here.
  const promise* promise_of(const base::packed_uid& pod) const;
  bool is_bound(const base::packed_uid& pod) const {
    return takes_.contains(pod) && promise_of(pod) == nullptr;
  }
  /// Pod `pod`, not seen bound yet, is held by `attempt` and by nobody else.
  bool is_held_only_by(const base::attempt_id& attempt, const base::packed_uid& pod) const;
  static bool has(const std::vector<base::attempt_id>& ascending, const base::attempt_id& x);
  std::optional<refusal> rival_for(const base::attempt_id& attempt,
                                   const std::vector<protocol::victim>& victims) const;
  std::optional<refusal> taken_port(const base::attempt_id& attempt,
                                    const protocol::seat& wanted) const;
  std::optional<refusal> overload(const node_ledger& before, const base::attempt_id& by,
                                  const protocol::seat& wanted) const;
  base::resources victims_here(const claim& of) const;
  base::resources credit(const base::attempt_id& of, const claim& with) const;
  base::resources credits_but(const base::attempt_id& attempt) const;
  base::resources load() const { return sum_ - credits(); }
  std::vector<base::attempt_id> holders_of(const base::attempt_id& asker,
                                           const base::shortage& lacking) const;
  bool is_covered_port(const base::pod_uid& pod, const base::host_port& port) const;
  void recount();

  base::resources allocatable_;
  base::resources sum_;
  pod_takes takes_; ///< bound and promised
  std::map<base::packed_uid, promise> promised_;
  std::map<base::attempt_id, claim> claims_;
};

} // namespace tutti::shards
