#include "bench/child.hpp"

#include <csignal>
#include <cstdint>
#include <utility>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/embedded.hpp"

namespace tutti::bench {

child::child(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (auto& x : command)
    argv.push_back(x.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execvp(argv.front(), argv.data());
    ::_exit(127);
  }
  if (pid_ < 0)
    fail("cannot start another process");
}

child::~child() {
  if (pid_ < 0)
    return;
  ::kill(pid_, SIGTERM);
  ::waitpid(pid_, nullptr, 0);
}

int child::wait() {
  int how = 0;
  ::waitpid(std::exchange(pid_, -1), &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

std::uint16_t free_port() {
  const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  const bool is_there = s >= 0 && ::bind(s, reinterpret_cast<sockaddr*>(&at), size) == 0
                        && ::getsockname(s, reinterpret_cast<sockaddr*>(&at), &size) == 0;
  ::close(s);
  if (!is_there)
    fail("no free port");
  return ntohs(at.sin_port);
}

} // namespace tutti::bench
