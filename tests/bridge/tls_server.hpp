// A small TLS server on this machine: answers by itself, or stands before a plain HTTP server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "certificates.hpp"

namespace tutti::testing_tls {

/// One request, as it came out of TLS.
struct served {
  std::string method;
  std::string target;
  std::string host;
  std::string authorization;
  std::string client; ///< common name of the client's certificate; empty = it showed none
};

class tls_server {
public:
  struct options {
    certified identity;
    /// PEM. Not empty: whoever has no certificate of it does not get in.
    std::string client_authority{};
    bool is_old = false; ///< speaks TLS 1.1 at most
    /// The bytes of a whole answer; empty = ask `upstream` instead.
    std::function<std::string(const served&)> answer{};
    std::uint16_t upstream = 0; ///< a port of this machine that speaks plain HTTP
  };

  /// Listens on a free port of 127.0.0.1.
  explicit tls_server(options how);
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;
  /// Cuts all connections.
  ~tls_server();

  std::uint16_t port() const;
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port()); }
  /// Handshakes that went through up to now, and requests that came.
  int handshakes() const;
  int requests() const;

private:
  class inside;
  std::unique_ptr<inside> in_;
};

/// "HTTP/1.1 200 …" with this body.
std::string http_answer(int status, const std::string& body);

} // namespace tutti::testing_tls
