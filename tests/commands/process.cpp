// fork, exec, wait; outputs go to files without a name.
#include "process.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tutti::commands {

namespace {

/// A file without a name, kept in memory.
int nameless_file(const std::string& content = {}) {
  const int file = ::memfd_create("tutti-test", MFD_CLOEXEC);
  if (file < 0)
    throw std::runtime_error("memfd_create failed");
  if (!content.empty() && ::pwrite(file, content.data(), content.size(), 0) < 0)
    throw std::runtime_error("cannot write the input of a process");
  return file;
}

std::string content_of(int file) {
  std::string text;
  char part[4096];
  for (;;) {
    const auto n = ::pread(file, part, sizeof part, static_cast<off_t>(text.size()));
    if (n <= 0)
      return text;
    text.append(part, static_cast<std::size_t>(n));
  }
}

} // namespace

std::ostream& operator<<(std::ostream& out, const ending& e) {
  return e.signal != 0 ? out << "killed by signal " << e.signal
                       : out << "exit code " << e.exit_code;
}

void pause_between_looks() {
  std::this_thread::sleep_for(std::chrono::milliseconds{2});
}

process::process(options how) : out_(nameless_file()), err_(nameless_file()) {
  const int in = nameless_file(how.input);
  std::vector<char*> words;
  for (auto& word : how.command)
    words.push_back(word.data());
  words.push_back(nullptr);
  const auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
      ::_exit(127);
    for (const auto& [name, value] : how.environment)
      ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out_, STDOUT_FILENO);
    ::dup2(err_, STDERR_FILENO);
    ::execvp(words.front(), words.data());
    std::perror(words.front());
    ::_exit(127);
  }
  ::close(in);
}

process::process(process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)), ended_(std::exchange(other.ended_, std::nullopt)) {}

process::~process() {
  if (pid_ < 0)
    return;
  kill();
  ::close(out_);
  ::close(err_);
}

std::string process::out() const {
  return content_of(out_);
}

std::string process::err() const {
  return content_of(err_);
}

std::optional<std::string> process::line_with(const std::string& what,
                                              std::chrono::milliseconds at_most) {
  std::optional<std::string> found;
  eventually(
      [&] {
        const bool was_running = is_running(); // before the look: what it wrote last is seen
        const auto text = err();
        for (std::size_t from = 0, to = 0; (to = text.find('\n', from)) != text.npos; from = to + 1)
          if (auto line = text.substr(from, to - from); !found && line.find(what) != line.npos)
            found = std::move(line);
        return found || !was_running;
      },
      at_most);
  return found;
}

std::optional<ending> process::wait(std::chrono::milliseconds at_most) {
  eventually(
      [&] {
        int status = 0;
        if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
          ended_ =
              WIFSIGNALED(status) ? ending{-1, WTERMSIG(status)} : ending{WEXITSTATUS(status), 0};
        return ended_.has_value();
      },
      at_most);
  return ended_;
}

void process::send(int signal) {
  if (is_running())
    ::kill(pid_, signal);
}

void process::kill() {
  send(SIGKILL);
  wait();
}

} // namespace tutti::commands
