// Guards: how terms that span nodes are kept from colliding, though no node's ledger knows them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "protocol/messages.hpp"
#include "protocol/plan.hpp"

namespace tutti::shards {

/// "No two of these in one zone" cannot be checked where a pod is placed: the other pod may be
/// promised on another shard. A plan with such a term takes the term's guard exclusively, plans
/// whose pods the term may select take it shared, on every shard whose pods may count.
///
/// Holding is not enough: a plan may have been made on a view from before the last one was decided.
/// So each use raises the guard's version when it is committed and when it ends, in the same view
/// delta that tells of its pods, and a slice must quote one that is new enough:
///
///     shared use      quoted ≥ version of the last *exclusive* use
///     exclusive use   quoted ≥ version of the last use of any kind
///
/// Nor is a version enough where a plan does not know of the guard at all. A table learns guards,
/// from the mirror or from a plan that wants one, and never forgets them in its life:
///
///     a plan that has not heard of a guard of its namespace            is stale
///     a plan that asks for a guard which is not known here             is stale, and teaches it
///     what was promised before the guard was known, and lives,         counts as a shared use
///
/// A version is (shard epoch, counter), and a counter is above all those of earlier lives: what a
/// life before this one has told of its pods may not have been durable. Upholds S15.
class guard_table {
public:
  /// Why a use is not granted: `holders` have it; or the plan was made on too old a view, which
  /// `is_unknown` here if the guard is news to this shard, and else to the plan.
  struct objection {
    protocol::guard_id guard;
    bool is_stale = false;
    bool is_unknown = false;
    std::vector<base::attempt_id> holders;
  };
  struct versions {
    protocol::guard_version any;
    protocol::guard_version exclusive;

    friend bool operator==(const versions&, const versions&) = default;
  };
  using raised_versions = std::map<protocol::guard_id, versions>;

  /// Nothing if `attempt` may be promised `asked`. Tries of one gang compete for one decision slot
  /// and do not keep each other out.
  std::optional<objection> object(const base::attempt_id& attempt,
                                  const protocol::slice& asked) const;
  /// Of what is decided and was forgotten here: is anybody in its way, or was since it was planned?
  std::optional<objection> overtaken(const base::attempt_id& attempt,
                                     const protocol::slice& asked) const;
  /// Of what was granted once: is a use in anybody's way now, or may one have been, before it was
  /// listed?
  std::optional<objection> crowded(const base::attempt_id& attempt,
                                   const protocol::slice& asked) const;

  /// From here on every plan of these namespaces must know these guards. Known ones are passed
  /// over.
  void learn(const std::vector<protocol::guard_id>& guards);

  /// From here on `attempt` keeps others out. Twice is once.
  void claim(const base::attempt_id& attempt, const protocol::slice& asked);
  /// Claims and raises what a new owner has found decided. It is in nobody's way for certain only
  /// in the eyes of who has heard an earlier owner's ack: this one never grants it again.
  void adopt(const base::attempt_id& attempt, const protocol::slice& asked);
  /// With `was_told` a view has shown its pods, and whoever counted on them must look again.
  void drop(const base::attempt_id& attempt, const protocol::slice& asked, bool was_told);

  /// A committed use. Call once per COMMITTED record, in their order.
  void raise(const base::attempt_id& attempt, const protocol::slice& asked);

  /// A new owner: all versions so far are below the first of `epoch`.
  void begin(base::epoch_no epoch);
  /// A new life, after everything durable was claimed and raised: plans must look anew.
  void begin_life(base::incarnation_no incarnation);

  /// What plans must quote: of all guards that are known, or of those that have changed since this
  /// was asked last.
  std::vector<protocol::guard_view> take_news(bool is_whole);
  /// Of guards that are not known.
  base::epoch_no floor() const { return floor_; }
  /// Whoever has heard up to here has heard of all guards.
  protocol::guard_version known() const { return known_; }
  bool has_news() const { return !news_.empty(); }
  const std::set<protocol::guard_id>& news() const { return news_; }
  /// A plan quoted too little: its topology is told once more.
  void tell_again(const protocol::guard_id& guard);

  /// For snapshots: what `begin` and `raise` have made, and back.
  const raised_versions& raised() const { return raised_; }
  std::uint64_t counter() const { return counter_; }
  void restore(base::epoch_no floor, std::uint64_t counter, raised_versions raised);

private:
  struct learned {
    protocol::guard_version at;
    protocol::guard_id last;
  };
  struct quote {
    protocol::guard_version any;
    protocol::guard_version exclusive;
  };
  protocol::guard_version next();
  quote quote_of(const protocol::guard_id& guard, const versions& raised) const;
  void know(const protocol::guard_id& guard);
  void lift(const protocol::guard_id& guard, bool is_exclusive);
  static bool may_mean(const protocol::guard_id& guard, const protocol::slice& asked);
  static bool uses(const protocol::slice& asked, const protocol::guard_id& guard);
  const protocol::guard_id* news_for(const protocol::slice& asked) const;
  /// Guards that the plan had not heard of and that may mean its pods.
  std::vector<protocol::guard_id> unheard_by(const protocol::slice& asked) const;
  std::optional<objection> rivals(const base::attempt_id& attempt, const protocol::guard_id& guard,
                                  bool is_exclusive) const;

  base::epoch_no floor_; ///< 0: the first owner, nothing was ever given out before
  std::uint64_t counter_ = 0;
  std::uint64_t life_ = 0; ///< counters of this life are above it
  raised_versions raised_; ///< of all guards that are known
  std::map<protocol::guard_id, std::map<base::attempt_id, bool>> uses_; ///< true = exclusive

  // Of this life only.
  std::map<protocol::guard_id, protocol::guard_version> since_; ///< known here
  std::map<std::string, learned> learned_;                      ///< by namespace
  protocol::guard_version known_;
  std::map<base::attempt_id, std::string> live_; ///< namespaces
  std::map<protocol::guard_id, std::set<base::attempt_id>> unaware_;
  std::set<base::attempt_id> listed_; ///< adopted
  std::set<protocol::guard_id> news_;
};

} // namespace tutti::shards
