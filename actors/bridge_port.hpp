// Where schedulers reach a bridge that is a process of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/bridge_desk.hpp"
#include "actors/http_listener.hpp"
#include "actors/link_identity.hpp"
#include "actors/link_times.hpp"
#include "base/result.hpp"
#include "bridge/machine.hpp"

namespace tutti::actors {

/// The name that a bridge greets with.
inline constexpr const char* bridge_name = "bridge";

/// Each scheduler has one connection, and calls. Plain TCP, or TLS 1.3 with certificates on both
/// sides: then whoever says a name must have a certificate for it. A connection that breaks, falls
/// silent or is not listened to takes all that it had under way with it; the scheduler calls again
/// and lists again. New certificates end all connections, and the next ones show them.
class bridge_port {
public:
  struct options {
    host_port listen;
    std::optional<link_files> tls;
    std::shared_ptr<bridge::machine> machine;
    link_times times;
    std::size_t queue_bytes_most = limits::link_queue_bytes_max;
    /// Hears of schedulers that come (null) and go, and of strangers (with no name), on the port's
    /// thread.
    std::function<void(const std::string& scheduler, const base::error* why)> changed;
  };

  /// Listens, and lets nobody in before `begin`. Errors of `listen_at`, or `bad_input` if the
  /// certificate is none. The destructor `end`s.
  static base::result<std::unique_ptr<bridge_port>> open(options how);
  virtual ~bridge_port() = default;

  /// From here on exchanges are carried by `http`, which is destroyed before this object.
  virtual void begin(http_carrier& http, std::uint64_t seed) = 0;
  /// The uid of the namespace kube-system: schedulers of another cluster are refused then.
  virtual void serve_cluster(const std::string& uid) = 0;
  /// Takes nothing new, waits up to `patience` for the answers to writes that are under way, then
  /// closes all connections.
  virtual void end(base::duration patience) = 0;
  virtual std::uint16_t port() const = 0;
  /// Nothing if the port's thread does not answer in time.
  virtual std::optional<bridge_view> look() = 0;
  virtual std::shared_ptr<api_calls> calls() const = 0;
};

} // namespace tutti::actors
