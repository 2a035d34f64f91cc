// Carries the exchanges of bridge roles to an API server over HTTP/1.1: the bridge's only I/O.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/api_client.hpp"
#include "bridge/identity.hpp"
#include "bridge/limits.hpp"
#include "bridge/write_budget.hpp"
#include "protocol/http.hpp"

namespace tutti::bridge {

/// Where bytes come from: `byte_stream.hpp` has the interface.
class connector;
using connector_ptr = std::shared_ptr<connector>;

/// Every connection is the file descriptor of a connected stream socket that `open` hands over (an
/// in-process server keeps the other end of a socketpair). `open` is called on the client's thread.
connector_ptr connect_by_descriptor(std::function<base::result<int>()> open);
/// What an answer 401 means.
base::error unknown_to_server();
/// Plain TCP to a host name or address.
struct tcp_target {
  std::string host;
  std::uint16_t port = 0;
  /// For each step of a connection: the name's look-up, TCP, TLS.
  base::duration patience = limits::connect_timeout;
};
connector_ptr connect_by_tcp(tcp_target where);
/// TLS, with what the identity says of both sides. A server whose certificate is not good for its
/// name gets no byte of a request, unless the identity skips the verification.
connector_ptr connect_by_tls(tcp_target where);

/// One thread, a pool of keep-alive connections for single exchanges, and one connection per watch.
/// Urgent requests go before others that wait. Nothing is sent twice, except a GET whose kept
/// connection turned out to be closed, and anything that was refused with 401 if there is another
/// identity to try, once: everything else of which a byte may have left is answered
/// `answer_unknown`, and the roles read back.
class http_client final : public api_client {
public:
  struct options {
    std::string host_header = "kubernetes";
    std::string user_agent = "tutti";
    std::string path; ///< in front of every target, for servers behind a proxy
    /// Whom requests and connections speak for; null = nobody. Not shared with another client: it
    /// is given up when this one ends. Where it blocks, a second thread waits.
    std::shared_ptr<identity_source> who;
    /// Hears of everything that breaks before an answer (no identity, no connection, a cut), and of
    /// answers 401 that no other identity helps against. `needs_human`: trying again alone will
    /// hardly mend it. On the client's thread.
    std::function<void(const base::error& e, bool needs_human)> failed;
    std::size_t connections = limits::connections;
    /// Of all that is written but Leases and the partition map, by which replicas take over. Urgent
    /// requests have it first.
    write_budget::options writes{};
    base::duration timeout = limits::exchange_timeout;
  };
  http_client(connector_ptr where, options how);
  ~http_client() override;
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  void start(std::uint64_t id, protocol::http_request request, callback heard) override;
  void hang_up(std::uint64_t id) override;

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace tutti::bridge
