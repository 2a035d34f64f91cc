// Replaces every actor that dies by one that knows what is durable, and nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include "actors/services.hpp"
#include "actors/wiring.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "persistence/store.hpp"
#include "protocol/address.hpp"

namespace tutti::actors {

/// One role may die so often in this time; one more, and its state or its input kills it: the
/// process ends, and whoever started it sees that.
inline constexpr std::size_t restarts_max = 5;
inline constexpr base::duration restart_window = std::chrono::seconds{60};
/// The actor of one gang may die so often in the same time; then it is the gang that kills it.
inline constexpr std::size_t gang_deaths_max = 3;

/// An actor may die at any moment: by an exception, by an exit signal, or because its role asks to
/// be made anew. What it had in memory is gone or wrong, and what it handed to the store may still
/// be on its way there. So:
///
///     founder dies ─▶ its children are ended, and are waited for
///                  ─▶ retired in the store under a new incarnation (a partition: epoch + 1,
///                  synced) ─▶ `recover_request`, which passes through the store's queue behind all
///                  of that ─▶ a new role, restored, replayed, `started`, at the same address
///     child dies   ─▶ the life that hosted it hears `child_died`
///     gang dies for the third time in a minute ─▶ quarantined: its partition, made anew, refuses
///                  it in words, and the process lives on, until somebody frees it by hand
///
/// With several replicas shards and partitions are no founders: they begin (`begin_owned`) and end
/// (`end_owned`) as the keeper says, under the epochs of the partition map. When one dies, the
/// keeper hears `child_died`, and begins it anew under a new epoch: the same way as a takeover.
///
/// In between nobody is at the address; what is sent there is dropped, and every sender resends.
/// Each life of each actor has an incarnation of its own in the process. Thread-safe: parents host
/// and actors end on their own threads; roles are made anew on the thread of one small actor.
class supervisor {
public:
  /// Makes the role of a founder as at the start of the process.
  using founder_maker = std::function<founder(const protocol::address&)>;

  supervisor(services& around, caf::actor_system& system, founder_maker make,
             base::incarnation_no last);

  /// Registers the first life of a founder. It begins with `begin_all`. `corrupt` or `newer_format`
  /// if its checkpoint cannot be read.
  base::result<void> found(const protocol::address& where, persistence::recovered_role left);
  void begin_all();

  /// Brings up the role at `where` as a child of the life `parent`. A former life at this address
  /// is ended without a word; the new one begins after it.
  void bring_up(const protocol::address& where, base::incarnation_no parent);

  /// A shard or partition is this replica's from now on, under `epoch`; `open` as `started` has it.
  /// A former life there is ended first.
  void begin_owned(const protocol::address& where, base::epoch_no epoch,
                   std::vector<protocol::decision_ptr> open);
  /// It is not any more: it ends at once, and its children with it, and nobody takes the place.
  void end_owned(const protocol::address& where);
  /// A founder that keeps nothing is ended and made anew.
  void replace(const protocol::address& where);

  /// Called by an actor as its last act. `why` is empty if it was to end.
  void ended(base::incarnation_no who, const std::optional<std::string>& why);

  /// A quarantined gang may be hosted again: its partition ends, and is made anew without it among
  /// the quarantined. False, and nothing happens, if it is not quarantined.
  bool free_gang(const base::gang_uid& gang);

  /// From here on whoever ends is not replaced.
  void rest();
  /// Ends all and brings up nobody any more.
  void end_all();

  /// Actors of founders and children that have not ended.
  std::size_t alive() const;

private:
  struct life {
    protocol::address where;
    base::incarnation_no parent; ///< 0 = a founder
    caf::actor who;
  };
  /// Lives that follow each other at one address: only the last may act, once it is the only one.
  struct place {
    base::incarnation_no last;
    std::size_t alive = 0;
    bool has_begun = false;
  };
  /// A founder that is dead, and the children that it leaves.
  struct bereaved {
    protocol::address where;
    std::set<base::incarnation_no> children;
  };

  base::result<void> begin_life(const protocol::address& where, base::incarnation_no incarnation,
                                persistence::recovered_role left);
  void spawn(founder who, base::incarnation_no incarnation, base::incarnation_no parent,
             persistence::journal_index applied, std::vector<protocol::event> first);
  void begin(place& where);
  bool is_let_go(const life& x, base::incarnation_no who) const;
  void tell_end(const protocol::address& where);
  bool leave_place(const life& x, base::incarnation_no who);
  std::size_t deaths_of(const protocol::address& where);
  bool may_restart(const life& x, base::incarnation_no who);
  std::vector<base::gang_uid> quarantined_in(const protocol::address& where) const;
  std::optional<protocol::address> children_are_gone(const life& x, base::incarnation_no who);
  std::optional<protocol::address> bury(const life& x, base::incarnation_no who);
  void read_again(const protocol::address& where);
  using reader = std::function<void(base::result<persistence::recovered_role>)>;
  void read(const protocol::address& where, reader then);
  reader with_listed(const protocol::address& where, reader then);
  void build_again(const protocol::address& where, base::incarnation_no incarnation,
                   base::result<persistence::recovered_role> left);

  services& around_;
  caf::actor_system& system_;
  const founder_maker make_;
  caf::actor builder_;

  mutable std::mutex mutex_; // guards everything below
  base::incarnation_no last_;
  std::map<base::incarnation_no, life> lives_;
  std::map<protocol::address, place> places_;
  std::map<base::incarnation_no, bereaved> dead_; ///< by the founder's life that ended
  std::map<protocol::address, std::deque<base::time_point>> deaths_;
  std::set<base::gang_uid> quarantined_;
  /// Their deaths are not counted: they follow their gang's actor, or free a gang.
  std::set<base::incarnation_no> excused_;
  std::set<base::incarnation_no> let_go_; ///< ended because they are not ours any more
  bool has_opened_ = false;               ///< who comes now begins at once
  bool is_resting_ = false;
  bool is_over_ = false;
};

} // namespace tutti::actors
