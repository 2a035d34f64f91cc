// Who carries exchanges to an API server: a client of ours, or a bridge that has one.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>

#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::bridge {

/// What becomes of an exchange, in the words of the roles.
using http_event =
    std::variant<protocol::answered, protocol::answer_unknown, protocol::stream_opened,
                 protocol::stream_lines, protocol::stream_closed>;

class api_client {
public:
  using callback = std::function<void(http_event)>;

  /// Closes everything; no callback runs afterwards. Not to be called from a callback.
  virtual ~api_client() = default;

  /// Begins an exchange. `id` is the caller's and distinct among those that run. `heard` is called
  /// on the client's thread: once for a single exchange; for a stream `stream_opened`, any number
  /// of `stream_lines`, then `stream_closed`; or one `answered` (the status is not 200) or
  /// `answer_unknown`. Thread-safe.
  virtual void start(std::uint64_t id, protocol::http_request request, callback heard) = 0;

  /// Gives up an exchange; `heard` is not called any more once this was carried out on the client's
  /// thread. What was sent may still take effect. Thread-safe.
  virtual void hang_up(std::uint64_t id) = 0;
};

} // namespace tutti::bridge
