// One scheduler replica: every actor wired to every other, brought up from its store, and stopped
// in order.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "actors/admin.hpp"
#include "actors/options.hpp"
#include "actors/services.hpp"
#include "base/result.hpp"
#include "persistence/store.hpp"

namespace tutti::actors {

class replica;

/// Recovers every role from the store, starts all actors, and keeps them until `stop`. The store,
/// the carrier and the clock are the caller's and must outlive it.
class scheduler {
public:
  /// `corrupt` or `newer_format` if a checkpoint cannot be read; then nothing runs. `on_fatal` is
  /// called at most once, from any thread, when the process can only end and recover from disk.
  /// `links` leads to other replicas; null: there is none.
  static base::result<std::unique_ptr<scheduler>>
  start(scheduler_options how, persistence::store& store, http_carrier* http,
        const base::clock& clock, std::function<void(const base::error&)> on_fatal,
        link_carrier* links = nullptr);

  ~scheduler();

  /// Finishes the step each role is in, writes the last checkpoints, ends all actors. Within a few
  /// seconds, whatever the store and the API server do. Idempotent.
  void stop();

  /// A frame of another replica has arrived. Any thread; nothing happens once it has stopped.
  void hear(const std::string& from, std::string_view frame);
  /// The links to other replicas; empty if there are none.
  std::vector<link_state> links() const;

  admin_desk& desk() { return *desk_; }
  recorder& notes();
  meter& numbers();
  /// What was asked of the API server, and which rights are missing.
  const api_calls& calls() const;
  /// Where every role is found: for drills that end an actor, or speak to one.
  router& routes();
  const scheduler_options& options() const { return how_; }
  persistence::store::counters store_counters() const;
  /// Asks the store to prove that this part of it works. What it says is wrong; `io` at once while
  /// the disk is full; `unavailable` if it says nothing in time.
  base::result<void> check_store(persistence::check_request::part what,
                                 std::chrono::milliseconds patience);
  /// A gang that was quarantined for killing its actor may be tried again. False if it is not.
  bool free_gang(const base::gang_uid& gang);
  /// How the disk below the store is now.
  persistence::disk_space disk() const { return store_.look_at_disk(); }

private:
  struct engine; // the actor system: CAF's headers stay in one file

  scheduler(scheduler_options how, persistence::store& store,
            std::function<void(const base::error&)> on_fatal);
  base::result<void> recover(http_carrier* http, const base::clock& clock, link_carrier* links);
  void write_last_checkpoints();
  void tick();
  void give_back_memory();

  scheduler_options how_;
  persistence::store& store_;
  std::function<void(const base::error&)> on_fatal_;
  const link_carrier* links_ = nullptr;
  std::unique_ptr<engine> engine_;
  std::unique_ptr<replica> replica_;
  std::unique_ptr<admin_desk> desk_;
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> is_stopped_{false};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_ending_ = false;
  std::chrono::nanoseconds time_used_{}; // by the ticker
  bool has_memory_to_give_ = true;       // by the ticker
  std::thread ticker_;
};

} // namespace tutti::actors
