// Guards: how terms that span nodes are kept from colliding, though no node's ledger knows them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "protocol/plan.hpp"

namespace tutti::shards {

/// "No two of these in one zone" cannot be checked where a pod is placed: the other pod may be
/// promised on another shard. A plan with such a term takes the term's guard exclusively, plans
/// whose pods the term may select take it shared, and all of them meet on the guard's one shard.
///
/// Holding is not enough: a plan may have been made on a view from before the last one was decided.
/// So each committed use raises the guard's version, and a slice must quote one that is new enough:
///
///     shared use      quoted ≥ version of the last committed *exclusive* use
///     exclusive use   quoted ≥ version of the last committed use of any kind
///
/// A version is (shard epoch, counter). A new owner of the shard starts above all that its
/// predecessors gave out, because it cannot know them. Upholds S15.
class guard_table {
public:
  /// Why a use is not granted: `holders` have it, or the quoted version is too old.
  struct objection {
    protocol::guard_id guard;
    bool is_stale = false;
    std::vector<base::attempt_id> holders;
  };
  struct versions {
    protocol::guard_version any;
    protocol::guard_version exclusive;

    friend bool operator==(const versions&, const versions&) = default;
  };
  using raised_versions = std::map<protocol::guard_id, versions>;

  /// Nothing if `attempt` may use all of `uses`. Tries of one gang compete for one decision slot
  /// and do not keep each other out.
  std::optional<objection> object(const base::attempt_id& attempt,
                                  const std::vector<protocol::guard_use>& uses) const;
  /// The same without the versions: is a use that was granted once in nobody's way now?
  std::optional<objection> crowded(const base::attempt_id& attempt,
                                   const std::vector<protocol::guard_use>& uses) const;

  /// From here on `attempt` keeps others out. Twice is once.
  void claim(const base::attempt_id& attempt, const std::vector<protocol::guard_use>& uses);
  void drop(const base::attempt_id& attempt, const std::vector<protocol::guard_use>& uses);

  /// A committed use. Call once per COMMITTED record, in their order.
  void raise(const std::vector<protocol::guard_use>& uses);

  /// A new owner: all versions so far are below the first of `epoch`.
  void begin(base::epoch_no epoch);

  /// For snapshots: what `begin` and `raise` have made, and back.
  const raised_versions& raised() const { return raised_; }
  std::uint64_t counter() const { return counter_; }
  base::epoch_no floor() const { return floor_; }
  void restore(base::epoch_no floor, std::uint64_t counter, raised_versions raised);

private:
  versions of(const protocol::guard_id& guard) const;

  base::epoch_no floor_; ///< 0: the first owner, nothing was ever given out before
  std::uint64_t counter_ = 0;
  raised_versions raised_;
  std::map<protocol::guard_id, std::map<base::attempt_id, bool>> uses_; ///< true = exclusive
};

} // namespace tutti::shards
