// Plain HTTP to a process on this machine: one request, one connection.
#pragma once

#include <cstdint>
#include <string>

#include <boost/json/object.hpp>

namespace tutti::commands {

struct api_answer {
  int status = 0; ///< 0 = nobody answered
  std::string body;
  boost::json::object object() const; ///< empty if the body is not a JSON object
};

/// A server of the Kubernetes API, or an admin address.
class api_client {
public:
  explicit api_client(std::uint16_t port = 0) : port_(port) {}

  std::uint16_t port() const { return port_; }
  api_answer get(const std::string& path) const { return ask("GET", path, {}); }
  api_answer post(const std::string& path, const std::string& json) const {
    return ask("POST", path, json);
  }
  api_answer remove(const std::string& path) const { return ask("DELETE", path, {}); }

private:
  api_answer ask(const std::string& method, const std::string& path, const std::string& body) const;
  std::uint16_t port_ = 0;
};

} // namespace tutti::commands
