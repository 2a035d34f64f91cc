// Runs real roles one message at a time in the calling thread: what `tutti plan` thinks with.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "base/time.hpp"
#include "protocol/role.hpp"

namespace tutti::cli {

/// The third host of roles, beside actors and the simulator. Time stands still, the journal accepts
/// and forgets, timers never fire: whatever a plan depends on must follow from the facts alone.
class role_host {
public:
  /// Sees every message first; true = it is taken care of and goes no further.
  using interceptor = std::function<bool(const protocol::address& from, const protocol::address& to,
                                         const protocol::message& what)>;
  /// Answers an HTTP exchange.
  using server = std::function<protocol::event(const protocol::exchange&)>;
  using maker = std::function<protocol::role_ptr(const protocol::address&)>;

  role_host(maker make, interceptor intercept, server serve)
      : make_(std::move(make)), intercept_(std::move(intercept)), serve_(std::move(serve)) {}

  /// Hosts a role at an address; replaces whoever was there.
  void add(const protocol::address& where, protocol::role_ptr who);
  /// Gives every role its `started`.
  void start();
  /// Puts a message behind all others, unless the interceptor takes it.
  void send(const protocol::address& from, const protocol::address& to, protocol::message what);
  /// Until no message is left.
  void run();

private:
  struct letter {
    protocol::address to;
    protocol::event what;
  };
  void perform(const protocol::address& who, protocol::effects asked);

  maker make_;
  interceptor intercept_;
  server serve_;
  std::map<protocol::address, protocol::role_ptr> roles_;
  std::deque<letter> letters_;
  base::time_point now_{std::chrono::seconds{1}};
};

} // namespace tutti::cli
