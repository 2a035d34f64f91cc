// HTTP to a process on this machine, plain or over TLS: one request, one connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/json/object.hpp>

namespace tutti::commands {

struct api_answer {
  int status = 0; ///< 0 = nobody answered
  std::string body;
  boost::json::object object() const; ///< empty if the body is not a JSON object
};

/// How to be let in by a server that speaks TLS.
struct api_identity {
  std::string ca_file;
  std::string token;
};

/// A server of the Kubernetes API, or an admin address.
class api_client {
public:
  explicit api_client(std::uint16_t port = 0) : port_(port) {}
  api_client(std::uint16_t port, api_identity who) : port_(port), who_(std::move(who)) {}

  std::uint16_t port() const { return port_; }
  api_answer get(const std::string& path) const { return ask("GET", path, {}); }
  api_answer post(const std::string& path, const std::string& json) const {
    return ask("POST", path, json);
  }
  api_answer remove(const std::string& path) const { return ask("DELETE", path, {}); }
  /// A JSON merge patch.
  api_answer merge(const std::string& path, const std::string& json) const {
    return ask("PATCH", path, json);
  }

  /// Any request; the body of a PATCH is a JSON merge patch, else JSON.
  api_answer ask(const std::string& method, const std::string& path, const std::string& body) const;

private:
  std::uint16_t port_ = 0;
  std::optional<api_identity> who_; ///< nobody: plain HTTP
};

} // namespace tutti::commands
