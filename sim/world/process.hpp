// One scheduler process of a simulated world: production actors on CAF's testing scheduler, a disk
// that outlives it, and no thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "actors/options.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "persistence/memory_store.hpp"
#include "protocol/address.hpp"
#include "protocol/role.hpp"
#include "sim/world/api_node.hpp"
#include "sim/world/dice.hpp"
#include "sim/world/network.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/timeline.hpp"

namespace tutti::actors {
class replica;
}

namespace tutti::sim {

/// What a world gives each of its processes; it outlives them.
struct process_parts {
  timeline& time;
  api_node& api;
  dice& chance;
  network* links = nullptr; ///< between processes; null: there is one only
  observer* watches = nullptr;
  base::duration sync_least = std::chrono::microseconds{100};
  base::duration sync_most = std::chrono::milliseconds{2};
};

///     down ── start ──▶ up ── crash, death, stop ──▶ down
///                        └─ pause ⇄ resume
class process {
public:
  process(std::string name, actors::scheduler_options how, process_parts with);
  ~process();
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  const std::string& name() const { return name_; }
  bool is_up() const { return life_ != nullptr; }
  bool is_paused() const { return is_paused_; }
  /// How many lives have begun.
  std::uint64_t lives() const { return lives_; }

  /// Begins a life on what the disk holds. The errors of opening a store; then it stays down.
  base::result<void> start();
  /// Ends as by kill -9: of the writes that were not synced the first `kept` have reached the disk.
  void crash(std::size_t kept = 0);
  /// Ends in order: last checkpoints, everything synced. One of several first hands over what it
  /// owns and releases its Lease, which takes time; `then` is called when it has ended, unless it
  /// dies before.
  void stop(std::function<void()> then = {});
  bool is_stopping() const { return is_stopping_; }
  void pause() { is_paused_ = true; }
  void resume() { is_paused_ = false; }
  /// The next time (of `times`) that the crash table row `id` is passed, the process dies there.
  void arm(std::string id, std::uint64_t times, std::size_t kept);
  void disarm() { armed_.reset(); }
  /// The row at which it dies; empty = none.
  std::string armed_at() const { return armed_ ? armed_->id : std::string{}; }
  /// The disk of a process that is down is empty when it starts again.
  void lose_disk();
  /// How often it has lost it.
  std::uint64_t disks_lost() const { return disks_lost_; }
  /// It died at an armed fault point: whoever armed it says when it lives again.
  bool died_as_armed() const { return died_as_armed_; }
  /// Asked before each event of each role: true = the role stands still from here on, and what is
  /// sent to it waits, until `go_on`. Ends with the life.
  using stop_rule = std::function<bool(const protocol::address&, const protocol::event&)>;
  void stops_where(stop_rule x) { stop_rule_ = std::move(x); }
  bool stands_still(const protocol::address& where) const { return still_.contains(where); }
  /// The role handles what has waited, in order.
  void go_on(const protocol::address& where);
  /// The disk of a process that is down: to damage, empty or inspect it.
  persistence::disk& disk() { return disk_; }
  /// The store of one that is up.
  persistence::memory_store& store();
  /// So much is free on the disk from here on, in this life and in those that follow. With less
  /// than a quarter of the store's reserve a life cannot begin.
  void leave_free(std::uint64_t bytes) { free_bytes_ = bytes; }
  std::uint64_t free_bytes() const { return free_bytes_; }
  /// From here on a sync takes this long; 0 = as the world says.
  void slow_disk(base::duration sync) { slow_sync_ = sync; }
  /// One actor dies as by an exception. False if nobody is there.
  bool kill(const protocol::address& where);
  /// Wall clocks may be wrong: this much is added from here on.
  void jump_wall_clock(base::duration by) { wall_offset_ += by; }

  // ---- what the world does with it
  /// Actors that could take a message now.
  std::size_t runnable() const;
  /// The n-th of them takes one message.
  void run(std::size_t n);
  /// When its next timer is due.
  std::optional<base::time_point> next_timer() const;
  /// Timers that are due fire.
  void fire_timers();
  /// A life that has failed or reached an armed fault point ends here. True if it did.
  bool bury();

  // ---- what observers see
  /// The role at `where`, null if nobody is there. Only to be asked, never to be told.
  protocol::role* role(const protocol::address& where) const;
  const std::map<protocol::address, protocol::role*>& roles() const { return roles_; }
  /// The answer to `inspect`: the role's JSON, empty if there is none.
  std::string inspect(const protocol::address& where, const std::string& what,
                      const std::string& name) const;
  actors::replica* replica();
  const actors::scheduler_options& options() const { return how_; }

private:
  class watched_role;
  class carrier;
  class link;
  struct life;

  void end(std::string why);
  void end_when_settled(base::time_point latest, std::function<void()> then);
  void end_in_order();
  void passed(std::string_view fault);
  void tick();
  void sync_soon();

  const std::string name_;
  const actors::scheduler_options how_;
  const process_parts with_;
  persistence::disk disk_;
  std::uint64_t free_bytes_ = UINT64_MAX;
  std::uint64_t disks_lost_ = 0;
  base::duration wall_offset_{};
  base::duration slow_sync_{};
  bool is_paused_ = false;
  bool is_stopping_ = false;
  bool died_as_armed_ = false;
  std::uint64_t lives_ = 0;
  stop_rule stop_rule_;
  std::set<protocol::address> still_;
  std::map<protocol::address, protocol::role*> roles_;
  std::unique_ptr<life> life_;

  struct armed_fault {
    std::string id;
    std::uint64_t times = 0;
    std::size_t kept = 0;
  };
  std::optional<armed_fault> armed_;
};

} // namespace tutti::sim
