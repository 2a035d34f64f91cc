// A gang of two pods, or two of them, and everybody who has a part in it, as a value: copied,
// stepped, hashed.
//
// The roles are those that run in production. What stands in for the rest: `log` for the store,
// `api_truth` for the API server, in stand_ins.cpp the queue, the planner and the mirror, and in
// owners.cpp the keeper.
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

#include "actors/log_words.hpp"
#include "base/time.hpp"
#include "chaos/small/api_truth.hpp"
#include "chaos/small/log.hpp"
#include "chaos/small/scene.hpp"
#include "protocol/role.hpp"

namespace tutti::shards {
class shard_role;
} // namespace tutti::shards

namespace tutti::chaos::small {

/// Where decisions are kept: in the store, which one process locks; or as API objects, beside which
/// several processes live.
enum class log_kind : std::uint8_t { store, objects };

/// Processes, by number. The store's world has only the first, and everything is there. With
/// objects the partition begins in the first and the shards in the last; the one between is spare.
inline constexpr std::uint8_t processes = 3;
inline constexpr std::uint8_t spare = 1;
inline constexpr std::uint8_t home_of_shards = 2;

/// What the partition map shares out: shards by their numbers, then the partition.
inline constexpr std::size_t units = shards + 1;
inline constexpr std::size_t the_partition = shards;
protocol::address address_of(std::size_t unit);

/// A role in one of the processes.
struct place : protocol::address {
  place() = default;
  place(protocol::address x, std::uint8_t at = 0) : protocol::address(std::move(x)), in(at) {}

  std::uint8_t in = 0; ///< process

  friend auto operator<=>(const place&, const place&) = default;
};
std::uint64_t hash_of(const place& x);
/// "shard(1)", and of the spare process "shard(1)@1".
std::string to_text(const place& x);

/// Something that was said and not heard yet. Immutable, shared by all worlds in which it is under
/// way.
struct item {
  enum class kind : std::uint8_t {
    message,  ///< from role to role
    list,     ///< the mirror's first list, for a shard that began anew: told in one go
    word,     ///< of the shell to one life of a role: an answer of the store, a child's death
    request,  ///< to the API server
    map_read, ///< the keeper's, for a coordinator that has decided; read and told in one step
    map_news, ///< the map has changed, and this process has not heard of it
    departure ///< a pod that is being deleted stops
  };
  kind what = kind::message;
  place from;
  place to;
  protocol::event event;            ///< message and word
  base::incarnation_no incarnation; ///< word: of the life that it is for
  std::uint64_t exchange = 0;       ///< request
  protocol::http_request request;
  bool is_orphan = false; ///< request: who asked is dead; it may arrive all the same, any time
  std::shared_ptr<const api_truth> as_of{}; ///< list: of an earlier moment
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
    bool fast_path = false; ///< with the store only
    log_kind log = log_kind::store;
    /// 1, or 2 that compete for the same room.
    std::size_t gangs = 1;
    /// A pod runs where a member is to go: every plan for that node names it as its victim.
    bool has_victim = false;
    /// As if each gang had lost so often before: then shards are asked one after the other.
    std::uint32_t lost_before = 0;
    /// Tries that a queue makes again without waiting: then rivals are in each other's way anew.
    std::uint32_t retries_at_once = 1;
    /// A lie, for tests of the judge: a crash loses what was synced since the process began.
    bool has_lying_disk = false;
  };
  /// Warm: every role has begun, every view is whole, and the queue has just asked for each gang.
  explicit world(options how);

  // ---- what may happen next
  void deliver(std::size_t n);     ///< of `under_way()`: heard by whom it is for, or served
  void fire(std::size_t n);        ///< of `timers()`: time moves on to it, unless it is overdue
  void lose(std::size_t n);        ///< a message, or a request that never arrives
  void repeat(std::size_t n);      ///< a message arrives twice
  void lose_answer(std::size_t n); ///< a request is served, and nobody learns how
  void crash(std::size_t kept);    ///< the process; the first `kept` unsynced batches survive
  void crash_one(std::uint8_t process); ///< with objects; nothing of it survives
  /// Others begin units (bits) under later epochs; whoever had them lives on and does not know.
  void take_over(std::uint32_t which);
  /// The log is looked through for what nobody here knows of, as it is now and then.
  void look();
  /// A crash while a shard writes its checkpoint: with the tail intact, and the checkpoint whole or
  /// not there.
  void crash_in_snapshot(std::uint32_t shard, bool is_whole);
  void kill(const place& where); ///< one actor, with its children; made anew
  void remove(std::size_t pod);  ///< a user deletes it

  // ---- reading
  struct cell {
    std::shared_ptr<const protocol::role> role;
    base::incarnation_no incarnation;
    std::uint64_t hash = 0;
    std::shared_ptr<const actors::log_words> asked{}; ///< of the log's role
  };
  struct owner {
    std::uint8_t in = 0; ///< process
    base::epoch_no epoch{1};
  };
  struct timer {
    place of;
    protocol::timer_id id;
    base::time_point due;
  };
  const std::vector<item_ptr>& under_way() const { return under_way_; }
  const std::vector<timer>& timers() const { return timers_; }
  const std::map<place, cell>& roles() const { return roles_; }
  const api_truth& api() const { return api_; }
  const log& store() const { return *log_; }
  bool has_objects() const { return how_.log == log_kind::objects; }
  const options& how() const { return how_; }
  /// The gangs that are there, by number: below this.
  std::size_t gangs() const { return how_.gangs; }
  /// Null if there is none now.
  const protocol::role* find(const place& where) const;
  /// By the partition map.
  const owner& owner_of(std::size_t unit) const { return map_.at(unit); }
  place place_of(std::size_t unit) const { return {address_of(unit), map_.at(unit).in}; }
  /// The process has not heard yet of what was taken from it.
  bool has_news(std::uint8_t process) const;
  /// Something unfinished stands in the log, and nobody has looked since it changed.
  bool may_look() const;
  /// The gang's decision that is being rolled forward, or is to be; null if there is none.
  const protocol::decision* live_decision(std::size_t gang) const;
  /// Not behind another one of its channel.
  bool is_deliverable(std::size_t n) const;
  /// Nothing is under way but orphans: only then does time pass by itself.
  bool is_quiet() const;
  /// A user has deleted a pod of this gang.
  bool was_removed(std::size_t gang) const { return (was_removed_ >> gang & 1) != 0; }
  /// An actor has died; it was the coordinator.
  bool had_death() const { return had_death_; }
  bool had_new_coordinator() const { return had_new_coordinator_; }
  /// An attempt that is neither the last begun nor decided: it is dead, and no one revives it.
  bool is_past(const base::attempt_id& x) const;
  const base::attempt_id& begun(std::size_t gang) const { return begun_.at(gang); }
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
  void give(const place& where, const protocol::event& told);
  void perform(const place& of, base::incarnation_no life, protocol::effects wanted);
  void act(const cell& of, const place& at, protocol::append& x);
  void act(const cell& of, const place& at, protocol::decide& x);
  void act(const cell& of, const place& at, protocol::amend& x);
  void act(const cell& of, const place& at, protocol::forget& x);
  void act(const cell& of, const place& at, protocol::send& x);
  void act(const cell& of, const place& at, protocol::arm& x);
  void act(const cell& of, const place& at, protocol::disarm& x);
  void act(const cell& of, const place& at, protocol::exchange& x);
  void act(const cell& of, const place& at, protocol::hang_up& x);
  void act(const cell& of, const place& at, protocol::host& x);
  void act(const cell& of, const place& at, protocol::retire& x);
  void act(const cell& of, const place& at, protocol::rebuild& x);
  void act(const cell& of, const place& at, protocol::note& x);
  void act(const cell& of, const place& at, protocol::own& x);
  void act(const cell& of, const place& at, protocol::fault& x);
  base::result<persistence::outcome> submit(persistence::request what);
  void put(item x);
  void tell(const place& from, const protocol::address& to, protocol::message what);
  void word_to(const place& to, base::incarnation_no life, protocol::event e);
  item_ptr take(std::size_t n);
  protocol::answered serve(const item& x);

  // world_life.cpp
  void begin_process(persistence::disk on);
  void see_everything();
  void found(const place& where, persistence::recovered_role left, base::incarnation_no life);
  void make_anew(const place& where);
  void end_role(const place& where);
  void die(const place& where);
  void bury(const place& where);
  void lose_mailbox(const place& of);
  void orphan_requests(const place& of);

  // owners.cpp
  place route(std::uint8_t from, const protocol::address& to) const;
  void begin_processes();
  void begin_writers(std::uint8_t process);
  void begin_unit(std::size_t unit, std::vector<protocol::decision_ptr> open);
  void end_unit(const place& where);
  void begin_anew(std::size_t unit, base::epoch_no at_least);
  void list_for(std::uint8_t process, std::vector<std::size_t> taken);
  void lists_are_lost(std::uint8_t process);
  void tell_news();
  void take_news(std::uint8_t process);
  void keeper_hears(const place& from, protocol::message& m);
  void keeper_hears_list(std::uint8_t process, const protocol::slots_told& x);
  void read_map(const item& question);
  void ask_log(const place& who, protocol::message what,
               std::shared_ptr<const actors::log_words> words);
  void ask_log_again(const place& who);
  std::optional<protocol::event> meaning(const place& who, const protocol::event& e);
  void pass_rows(const place& who, const protocol::event& e,
                 const std::vector<protocol::message>& questions);
  void pass_rows(const place& who, const protocol::message& m);
  void note_lost_promises(const place& shard);
  void note_listed(std::uint32_t shard, const std::vector<protocol::decision_ptr>& open);

  // stand_ins.cpp
  void queue_hears(std::uint8_t process, const protocol::message& m);
  void try_gang(std::uint8_t process, std::size_t gang);
  void try_all(std::uint8_t process);
  void try_again(std::uint8_t process, std::size_t gang);
  void rest(std::uint8_t process, std::size_t gang);
  void end_queue(std::uint8_t process, std::uint32_t lost);
  void ask_partition(std::uint8_t process, std::size_t gang);
  void queue_timer_fired(std::uint8_t process, const protocol::timer_id& which);
  void plan_for(std::uint8_t process, const protocol::plan_request& x);
  void find_victims(std::uint8_t process, const protocol::victims_wanted& x);
  protocol::plan_ptr placement(const protocol::gang& who, const base::attempt_id& attempt) const;
  void give_list(const item& list);
  void put_list(const place& shard, const protocol::view_wanted& x);
  void tell_watchers(std::size_t pod);
  void tell_left(std::uint8_t process, const protocol::pods_awaited& x);
  protocol::gang_ptr facts(std::size_t gang) const;
  bool is_wanted(std::size_t gang) const;

  // judge.cpp
  void judge_effect(const place& of, const protocol::effect& e);
  void judge_binding(const protocol::http_request& request);
  void judge_removal(const api_truth& before);
  void judge_store(const log& before);
  void judge_objects(const api_truth& before);
  void judge_object(const protocol::decision_ptr& was, const protocol::decision_ptr& is);
  void judge_change(const protocol::decision& was, const protocol::decision& is);
  void note_plan(const protocol::decision& what);
  void judge_room();
  void judge_room(std::uint32_t shard, const shards::shard_role& role);
  void judge_ack(std::uint32_t shard, const base::attempt_id& attempt);
  /// What a shard has promised, by the API server's truth.
  struct promises {
    int pods = 0;                  ///< that need room: bound or promised, less a victim
    bool is_promised_here = false; ///< some of them by this owner, not by a decision that it found
  };
  promises room_of(std::uint32_t shard, const shards::shard_role& role) const;
  void judge_known(std::uint32_t shard, const shards::shard_role& role);
  void judge_pods(const api_truth& before);

  options how_;
  std::map<place, cell> roles_;
  std::vector<item_ptr> under_way_; ///< in the order in which it was said
  std::vector<timer> timers_;       ///< ascending by (of, id)
  std::shared_ptr<const log> log_;
  api_truth api_;
  base::time_point now_{};
  base::incarnation_no last_life_;

  /// A process's queue.
  struct queue {
    bool has_partition = false; ///< as far as it knows
    std::array<bool, gangs_most> is_trying{};
    std::array<std::uint32_t, gangs_most> failed{};
  };
  std::array<queue, processes> queues_;
  bool is_open_ = false; ///< not while the world warms up
  std::uint32_t tries_ = 0;

  /// A process's keeper: units that begin after a list, with their epochs, by the list's number.
  struct keeper {
    std::map<std::uint64_t, std::vector<std::pair<std::size_t, base::epoch_no>>> lists;
    std::uint64_t last = 0;
  };
  std::array<keeper, processes> keepers_;
  std::array<owner, units> map_;                                   ///< the object
  std::array<std::array<std::uint8_t, units>, processes> views_{}; ///< owners, as a process knows
  std::optional<protocol::timer_id> look_timer_;                   ///< fired by `look` alone
  bool was_looked_at_ = false;                                     ///< since the log changed

  // what happened, as far as judging it needs it
  std::uint32_t was_removed_ = 0; ///< bit per gang
  bool had_death_ = false;
  bool had_new_coordinator_ = false;
  /// By gang: the last attempt that the partition of today has begun.
  std::array<base::attempt_id, gangs_most> begun_;
  /// Highest epoch that a shard has taken down, by process.
  std::array<std::array<std::uint64_t, shards>, processes> obeyed_{};
  std::uint32_t decided_ = 0; ///< bit 2 * pod + node: a durable decision has put it there
  /// What the present owner of a shard began with: unfinished decisions of others' making.
  std::array<std::vector<base::attempt_id>, shards> listed_;

  std::vector<std::string_view> passed_;
  std::optional<finding> broken_;
};

/// The timer of a role's shell that asks the log once more what it has not answered.
inline constexpr protocol::timer_id log_overdue{9000, 0};

/// What must hold where nothing is left to happen. Empty if it does.
std::optional<finding> judge_end(const world& x);

} // namespace tutti::chaos::small
