// Reads the whole decision log, where it is API objects, for whoever begins a partition.
#pragma once

#include <functional>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include "actors/services.hpp"
#include "base/time.hpp"
#include "protocol/decision.hpp"

namespace tutti::actors {

/// An actor beside the log's role, at an address of its own. Ends with the others at that address.
class log_reader {
public:
  using then = std::function<void(std::vector<protocol::decision_ptr>)>;

  log_reader(services& around, caf::actor_system& system);

  /// Calls `what` once with all decisions: the highest slot of each gang, as it stands after
  /// everything that was asked of the log before this. On the reader's thread; never, if the
  /// process ends first. Thread-safe.
  void list(then what);

private:
  caf::actor who_;
};

/// True for those who begin with what the log holds: partitions roll it forward, shards hold the
/// room that it names, which their own journals may have lost.
bool begins_with_log(const protocol::address& where);

/// Adds what concerns `where` to what the store has of it. A partition's epoch becomes the highest
/// that is found there.
void add_log(const protocol::address& where, const std::vector<protocol::decision_ptr>& all,
             persistence::recovered_role& left);

} // namespace tutti::actors
