// A program that is measured: started, signalled, and never left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::bench {

/// Its standard output is thrown away, its standard error is ours. The kernel ends it with us.
class child {
public:
  /// The program is found in $PATH if it has no slash.
  explicit child(std::vector<std::string> command);
  /// SIGTERM, and waits.
  ~child();
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t pid() const { return pid_; }
  /// Waits until it ends by itself; returns its exit code, 128 + the signal that killed it.
  int wait();

private:
  pid_t pid_ = -1;
};

/// A port of the loopback that nobody listens on now.
std::uint16_t free_port();

} // namespace tutti::bench
