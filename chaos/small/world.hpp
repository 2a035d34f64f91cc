// One gang of two pods and everybody who has a part in it, as a value: copied, stepped, hashed.
//
// The roles are those that run in production. What stands in for the rest: `log` for the store,
// `api_truth` for the API server, and in stand_ins.cpp the queue, the planner and the mirror.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "chaos/small/api_truth.hpp"
#include "chaos/small/log.hpp"
#include "protocol/role.hpp"

namespace tutti::chaos::small {

inline constexpr std::uint32_t shards = 2; ///< one node each, with room for one pod

/// Something that was said and not heard yet. Immutable, shared by all worlds in which it is under
/// way.
struct item {
  enum class kind : std::uint8_t {
    message, ///< from role to role
    list,    ///< the mirror's first list, for a shard that began anew: told in one go
    word,    ///< of the shell to one life of a role: an answer of the store, a child's death
    request  ///< to the API server
  };
  kind what = kind::message;
  protocol::address from;
  protocol::address to;
  protocol::event event;            ///< message and word
  base::incarnation_no incarnation; ///< word: of the life that it is for
  std::uint64_t exchange = 0;       ///< request
  protocol::http_request request;
  bool is_orphan = false; ///< request: who asked is dead; it may arrive all the same, any time
  std::uint64_t hash = 0;
};
using item_ptr = std::shared_ptr<const item>;

/// A channel inside one process, in which order is kept; all others reorder, lose and duplicate.
bool is_ordered(const item& x);

/// A broken promise: its number, and what was seen.
struct finding {
  std::string id;
  std::string what;
};

class world {
public:
  struct options {
    bool fast_path = false;
    /// A lie, for tests of the judge: a crash loses what was synced since the process began.
    bool has_lying_disk = false;
  };
  /// Warm: every role has begun, every view is whole, and the queue has just asked for the gang.
  explicit world(options how);

  // ---- what may happen next
  void deliver(std::size_t n);     ///< of `under_way()`: heard by whom it is for, or served
  void fire(std::size_t n);        ///< of `timers()`: time moves on to it, unless it is overdue
  void lose(std::size_t n);        ///< a message, or a request that never arrives
  void repeat(std::size_t n);      ///< a message arrives twice
  void lose_answer(std::size_t n); ///< a request is served, and nobody learns how
  void crash(std::size_t kept);    ///< the process; the first `kept` unsynced batches survive
  /// A crash while a shard writes its checkpoint: with the tail intact, and the checkpoint whole or
  /// not there.
  void crash_in_snapshot(std::uint32_t shard, bool is_whole);
  void kill(const protocol::address& where); ///< one actor, with its children; made anew
  void remove(std::size_t pod);              ///< a user deletes it

  // ---- reading
  struct cell {
    std::shared_ptr<const protocol::role> role;
    base::incarnation_no incarnation;
    std::uint64_t hash = 0;
  };
  struct timer {
    protocol::address of;
    protocol::timer_id id;
    base::time_point due;
  };
  const std::vector<item_ptr>& under_way() const { return under_way_; }
  const std::vector<timer>& timers() const { return timers_; }
  const std::map<protocol::address, cell>& roles() const { return roles_; }
  const api_truth& api() const { return api_; }
  const log& store() const { return *log_; }
  /// Null if there is none now.
  const protocol::role* find(const protocol::address& where) const;
  /// Not behind another one of its channel.
  bool is_deliverable(std::size_t n) const;
  /// Nothing is under way but orphans: only then does time pass by itself.
  bool is_quiet() const;
  bool was_removed() const { return was_removed_; }
  /// An actor has died; it was the coordinator.
  bool had_death() const { return had_death_; }
  bool had_new_coordinator() const { return had_new_coordinator_; }
  /// An attempt that is neither the last begun nor decided: it is dead, and no one revives it.
  bool is_past(const base::attempt_id& x) const;
  const base::attempt_id& begun() const { return begun_; }
  std::uint32_t tries() const { return tries_; }
  base::time_point now() const { return now_; }

  /// Equal worlds go on equally.
  std::uint64_t state_hash() const;
  /// Rows of the crash table that the last step passed.
  const std::vector<std::string_view>& passed() const { return passed_; }
  /// The first promise that a step broke.
  const std::optional<finding>& broken() const { return broken_; }
  void say(std::string_view id, std::string what);

private:
  void begin_step();
  void hear(std::size_t n);
  void give(const protocol::address& where, const protocol::event& e);
  void perform(const protocol::address& of, base::incarnation_no life, protocol::effects wanted);
  void act(const cell& of, const protocol::address& at, protocol::append& x);
  void act(const cell& of, const protocol::address& at, protocol::decide& x);
  void act(const cell& of, const protocol::address& at, protocol::amend& x);
  void act(const cell& of, const protocol::address& at, protocol::forget& x);
  void act(const cell& of, const protocol::address& at, protocol::send& x);
  void act(const cell& of, const protocol::address& at, protocol::arm& x);
  void act(const cell& of, const protocol::address& at, protocol::disarm& x);
  void act(const cell& of, const protocol::address& at, protocol::exchange& x);
  void act(const cell& of, const protocol::address& at, protocol::hang_up& x);
  void act(const cell& of, const protocol::address& at, protocol::host& x);
  void act(const cell& of, const protocol::address& at, protocol::retire& x);
  void act(const cell& of, const protocol::address& at, protocol::rebuild& x);
  void act(const cell& of, const protocol::address& at, protocol::note& x);
  void act(const cell& of, const protocol::address& at, protocol::own& x);
  void act(const cell& of, const protocol::address& at, protocol::fault& x);
  base::result<persistence::outcome> submit(persistence::request what);
  void put(item x);
  void tell(const protocol::address& from, const protocol::address& to, protocol::message what);
  void word_to(const protocol::address& to, base::incarnation_no life, protocol::event e);
  item_ptr take(std::size_t n);
  protocol::answered serve(const item& x);

  // world_life.cpp
  void begin_process(persistence::disk on);
  void see_everything();
  void found(const protocol::address& where, persistence::recovered_role left,
             base::incarnation_no life);
  void make_anew(const protocol::address& where);
  void end_role(const protocol::address& where);
  void die(const protocol::address& where);
  void lose_mailbox(const protocol::address& of);
  void orphan_requests(const protocol::address& of);

  // stand_ins.cpp
  void queue_hears(const protocol::message& m);
  void try_gang();
  void try_again();
  void plan_for(const protocol::plan_request& x);
  void give_list(const protocol::address& shard);
  void tell_watchers(std::size_t pod);
  void tell_left(const protocol::pods_awaited& x);
  protocol::gang_ptr facts() const;
  bool is_wanted() const;

  // judge.cpp
  void judge_effect(const protocol::address& of, const protocol::effect& e);
  void judge_binding(const protocol::http_request& request);
  void judge_store(const log& before);
  void judge_room();
  void judge_pods(const api_truth& before);

  options how_;
  std::map<protocol::address, cell> roles_;
  std::vector<item_ptr> under_way_; ///< in the order in which it was said
  std::vector<timer> timers_;       ///< ascending by (of, id)
  std::shared_ptr<const log> log_;
  api_truth api_;
  base::time_point now_{};
  base::incarnation_no last_life_;

  // the queue
  bool is_open_ = false; ///< not while the world warms up
  bool is_trying_ = false;
  std::uint32_t tries_ = 0;
  std::uint32_t failed_ = 0;

  // what happened, as far as judging it needs it
  bool was_removed_ = false;
  bool had_death_ = false;
  bool had_new_coordinator_ = false;
  base::attempt_id begun_; ///< the last attempt that the partition of today has begun
  std::array<std::uint64_t, shards> obeyed_{}; ///< highest epoch that a shard has taken down
  std::uint32_t decided_ = 0; ///< bit 2 * pod + node: a durable decision has put it there

  std::vector<std::string_view> passed_;
  std::optional<finding> broken_;
};

/// The constants of the world: node n is in shard n.
struct scene {
  base::gang_uid gang{"gang-uid"};
  base::partition_id partition;
  std::array<protocol::node_facts_ptr, shards> nodes;
  base::shape_ptr shape;
};
const scene& the_scene();
/// Of a node's name; 0 or 1.
std::uint32_t node_number(std::string_view name);

/// What must hold where nothing is left to happen. Empty if it does.
std::optional<finding> judge_end(const world& x);

} // namespace tutti::chaos::small
