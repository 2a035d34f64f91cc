// A server on this machine that gives everybody the same answer, whatever is asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tutti::commands {

/// Sends `answer` once something was read on a connection, then closes it.
class canned_server {
public:
  explicit canned_server(std::string answer);
  ~canned_server();
  std::uint16_t port() const;
  /// "127.0.0.1:PORT".
  std::string address() const { return "127.0.0.1:" + std::to_string(port()); }

private:
  struct inside;
  std::unique_ptr<inside> in_;
};

} // namespace tutti::commands
