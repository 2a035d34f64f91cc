// One world that is a function of its seed: an API server, scheduler processes, a network and disks
// between them, on one thread and virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/options.hpp"
#include "base/time.hpp"
#include "sim/world/api_node.hpp"
#include "sim/world/dice.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/process.hpp"
#include "sim/world/timeline.hpp"

namespace tutti::sim {

/// No wall clock, thread, random device or address decides anything in here: same options and seed,
/// same steps, same `trace_hash`.
///
///     step:  some actor that has mail takes one message     (which one: `chance().order`)
///            else: time moves to the next instant at which something is due, and that happens
class world final : private observer {
public:
  struct options {
    std::uint64_t seed = 1;
    std::size_t replicas = 1;
    actors::scheduler_options scheduler;
    api_node::options api;
    network::options links; ///< between replicas, where there are several
    /// A process that died by itself is started again after this.
    base::duration restart_after = std::chrono::milliseconds{500};
    /// So is one that died at an armed fault point; else somebody has to start it.
    bool restarts_armed = true;
  };

  explicit world(options how);
  ~world() override;
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  /// All processes begin their first life.
  void start();

  timeline& time() { return time_; }
  dice& chance() { return chance_; }
  api_node& api() { return *api_; }
  network& links() { return *links_; }
  process& at(std::size_t n) { return *processes_.at(n); }
  std::size_t processes() const { return processes_.size(); }
  process* find(const std::string& name);

  /// One step, unless there is none up to `limit`: then time moves there, and the answer is false.
  bool step(base::time_point limit);
  /// Steps until `is_enough`, asked before each step, or until `deadline`; true if `is_enough` said
  /// so.
  bool run_until(base::time_point deadline, const std::function<bool()>& is_enough);
  void run_for(base::duration how_long);
  /// Starts a process that is down, later.
  void start_again(process& who, base::duration after);

  /// Further observers, told in this order. Not owned.
  void add(observer& x) { observers_.push_back(&x); }

  std::uint64_t steps() const { return steps_; }
  /// Over every step of every role so far.
  std::uint64_t trace_hash() const { return trace_hash_; }
  const options& how() const { return how_; }

private:
  void stepped(process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override;
  void durable(process& who, const persistence::batch& written) override;
  void began(process& who) override;
  void ended(process& who, std::string_view why) override;
  void run_one_of(std::size_t runnable);
  std::optional<base::time_point> next_instant() const;
  void bury_the_dead();

  options how_;
  timeline time_;
  dice chance_;
  std::unique_ptr<api_node> api_;
  std::unique_ptr<network> links_;
  std::vector<observer*> observers_;
  std::vector<std::unique_ptr<process>> processes_;
  std::uint64_t steps_ = 0;
  std::uint64_t trace_hash_ = 0;
};

} // namespace tutti::sim
