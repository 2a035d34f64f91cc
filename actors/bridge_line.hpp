// A scheduler's way to its API server through a bridge that is another process.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/http_listener.hpp"
#include "actors/link_identity.hpp"
#include "actors/link_times.hpp"
#include "base/result.hpp"
#include "bridge/api_client.hpp"
#include "bridge/limits.hpp"
#include "bridge/machine.hpp"

namespace tutti::actors {

/// One connection, which is made anew whenever it breaks. Exchanges that begin while there is none
/// wait for the next try to make one, and no longer.
///
/// Nothing is sent twice. If the connection ends, every exchange that was handed over to it has an
/// unknown outcome (`answer_unknown`), as after a lost HTTP answer, and every watch is closed: a
/// view that hung on it is stale at once (S12). A bridge that says nothing for a few seconds is
/// gone.
struct bridge_line_options {
  std::string scheduler; ///< its name
  host_port bridge;
  std::optional<link_files> tls; ///< none = plain TCP
  std::shared_ptr<bridge::machine> machine;
  link_times times;
  /// What waits to be said; beyond it exchanges are answered with `answer_unknown`.
  std::size_t queue_bytes_most = limits::link_queue_bytes_max;
  /// A single exchange without an answer for this long has an unknown outcome.
  base::duration timeout = bridge::limits::exchange_timeout + std::chrono::seconds{5};
  /// Hears of tries that failed and connections that ended; `needs_human` as with an HTTP client.
  std::function<void(const base::error& e, bool needs_human)> failed;
  /// Hears when it is up (null) and when not any more, on the line's thread.
  std::function<void(const base::error* why)> changed;
};

/// Calls at once. `bad_input`, `not_found` or `io` if the certificate is none.
base::result<std::unique_ptr<bridge::api_client>> open_bridge_line(bridge_line_options how);

} // namespace tutti::actors
