// A small HTTP server for people and probes: one request, one answer. Not for the Kubernetes API.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace tutti::actors {

struct http_reply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
};

/// Serves `answer(method, target)` on one thread of its own. What would change something is refused
/// (403) when a web page asks for it: a browser would do so for any page that its user looks at.
/// `answer` may block for a bounded time; then others wait. Destroying it closes all connections.
class http_listener {
public:
  using handler = std::function<http_reply(const std::string& method, const std::string& target)>;

  /// Listens on `host`:`port` (0 = any free one). `already_exists` if the port is taken, with a
  /// hint; `bad_input` if the host is no address of this machine.
  static base::result<std::unique_ptr<http_listener>> open(const std::string& host,
                                                           std::uint16_t port, handler answer);
  virtual ~http_listener() = default;
  virtual std::uint16_t port() const = 0;
};

/// Splits "127.0.0.1:10451" or ":10451" (then 127.0.0.1). `bad_input` if there is no valid port.
struct host_port {
  std::string host;
  std::uint16_t port = 0;
};
base::result<host_port> parse_host_port(const std::string& text);

/// True if only this machine reaches the address; false for anything that is no IP address.
bool is_loopback(const std::string& host);

} // namespace tutti::actors
