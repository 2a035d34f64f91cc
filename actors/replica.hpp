// All actors of one scheduler process on an actor system that somebody else runs: threads in
// production (`scheduler.hpp`), one step after the other on virtual time in the simulator.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "actors/admin.hpp"
#include "actors/options.hpp"
#include "actors/services.hpp"
#include "base/result.hpp"
#include "persistence/store.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace tutti::actors {

class founding;
class log_reader;
class share;
class supervisor;
struct founder;

/// What a replica stands on; all of it is the caller's and outlives the replica.
struct surroundings {
  caf::actor_system& system;
  persistence::store& store;
  http_carrier* http = nullptr;  ///< null: no API server
  link_carrier* links = nullptr; ///< null: one replica owns everything
  const base::clock& clock;
  std::function<void(const base::error&)> on_fatal; ///< may be called more than once, any thread
  /// Sees each role before its actor gets it and may put something around it; empty = as it is.
  std::function<protocol::role_ptr(const protocol::address&, protocol::role_ptr)> wrap;
  /// Called where a crash table row is passed; empty = the process's own fault points.
  std::function<void(std::string_view)> pass_fault;
  /// Hears what roles answer at the admin address; empty = nobody is there.
  answer_taker take_answer{};
};

class replica {
public:
  replica(scheduler_options how, surroundings with);
  /// No actor of it may be left: `end_all`, and whoever runs the system has run them to their end.
  ~replica();
  replica(const replica&) = delete;
  replica& operator=(const replica&) = delete;

  /// Recovers every role from the store and registers its actor; nobody has heard a word yet.
  /// `corrupt` or `newer_format` if a checkpoint cannot be read; then only `end_all` is allowed.
  base::result<void> recover();
  /// Every founder hears its first events.
  void begin();
  /// A frame of the replica `from` has arrived. One that cannot be read, or that no other replica
  /// may send, is noted and dropped.
  void hear(const std::string& from, std::string_view frame);
  /// Once in `tick_interval`: asks for checkpoints whose turn it is, and tells shards how the disk
  /// is.
  void tick();
  /// Nobody who ends from here on is replaced.
  void rest();
  /// Asks for the last checkpoints; whoever has written its own ends. One of several hands over
  /// what it owns and releases its Lease. `is_settled` says when all have.
  void write_last_checkpoints();
  bool is_settled() const;
  /// A gang that was quarantined for killing its actor may be tried again: its partition is made
  /// anew without that word. False if it is not quarantined.
  bool free_gang(const base::gang_uid& gang);
  /// Ends every actor, without a word. They are gone once the system has run them.
  void end_all();

  router& routes() { return routes_; }
  recorder& notes() { return notes_; }
  meter& numbers() { return around_.numbers; }
  const api_calls& calls() const { return *around_.calls; }
  persistence::store::counters store_counters() const { return around_.store.counted(); }

private:
  base::result<void> check_options(const persistence::remains& left) const;
  void begin_with(const std::vector<protocol::decision_ptr>& all);
  founder make_founder(const protocol::address& where) const;
  void tell_of_disk();
  protocol::role_ptr wrapped(const protocol::address& where, protocol::role_ptr role) const;

  scheduler_options how_;
  surroundings with_;
  router routes_;
  recorder notes_;
  services around_;
  std::unique_ptr<founding> founding_;
  std::unique_ptr<supervisor> supervisor_;
  std::unique_ptr<share> share_;    ///< null: this replica is alone and owns everything
  std::unique_ptr<log_reader> log_; ///< null: the store is the decision log
  /// Who waits for the first list of the log, and what the store has of them.
  std::map<protocol::address, persistence::recovered_role> waiting_;
  std::vector<protocol::address> checkpointed_;
  std::size_t ticks_ = 0;
  bool was_disk_scarce_ = false;
};

} // namespace tutti::actors
