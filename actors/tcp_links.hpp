// Links between replicas over sockets: one connection to each other replica for what is said to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/http_listener.hpp"
#include "actors/link_identity.hpp"
#include "actors/link_times.hpp"
#include "actors/links.hpp"
#include "base/result.hpp"

namespace tutti::actors {

/// Each replica connects to every other that lives, and says there what it has to say; it hears the
/// others on the connections that they make. Plain TCP, or TLS 1.3 with certificates on both sides:
/// then whoever says a name must have a certificate for it. Connections that break are made anew;
/// what was under way is lost. New certificates end all connections, and the next ones show them.
class tcp_links : public link_carrier {
public:
  struct options {
    std::string replica;
    std::string cluster; ///< uid of the namespace kube-system; empty: not known
    host_port listen;
    std::optional<link_files> tls;
    std::shared_ptr<bridge::machine> machine;
    link_times times;
    std::size_t queue_bytes_most = limits::link_queue_bytes_max;
    /// Hears of links that are up (null) and down, and of strangers (with no name), on the links'
    /// thread.
    std::function<void(const std::string& replica, const base::error* why)> changed;
  };
  using ear = std::function<void(const std::string& from, std::string_view frame)>;

  /// Listens, and lets nobody in before `begin`. `already_exists` if the port is taken, `bad_input`
  /// if the host is no address of this machine, or if the certificate is none. The destructor
  /// `end`s.
  static base::result<std::unique_ptr<tcp_links>> open(options how);

  /// From here on `hears` is called with what others say, on the links' thread.
  virtual void begin(ear hears) = 0;
  /// Closes all connections; `hears` is not called afterwards. Not to be called from there.
  virtual void end() = 0;
  virtual std::uint16_t port() const = 0;
};

} // namespace tutti::actors
