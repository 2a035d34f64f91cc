// The god's-eye view: whoever observes a world sees every step of every role, and changes nothing.
#pragma once

#include <string_view>

#include "persistence/book.hpp"
#include "protocol/address.hpp"
#include "protocol/effects.hpp"
#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::sim {

class process;

class observer {
public:
  virtual ~observer() = default;

  /// `where` of this process has taken `e` and answered with `wanted`, which is not performed yet.
  virtual void stepped(process& who, const protocol::address& where, const protocol::event& e,
                       const protocol::effects& wanted) = 0;
  /// A request of `client` reaches the API server, which has not seen it yet.
  virtual void arrives(std::string_view client, const protocol::http_request& request) = 0;
  /// The API server's objects may have changed.
  virtual void api_turned() = 0;
  /// A batch of this process's store is durable now; whoever waits for it has not been told.
  virtual void durable(process& who, const persistence::batch& written) = 0;
  /// A process begins a life, or has ended one.
  virtual void began(process& who) = 0;
  virtual void ended(process& who, std::string_view why) = 0;
};

} // namespace tutti::sim
