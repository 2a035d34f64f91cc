// Files are read whole; programs run with pipes, a time limit and a process group of their own.
#include "bridge/machine.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "bridge/printable.hpp"

namespace tutti::bridge {
namespace {

using base::code;
using base::error;

/// Nobody's token or certificate is longer; a program that prints more prints something else.
constexpr std::size_t printed_bytes_max = 1u << 20;
/// How often a running program's time and our own end are looked at.
constexpr int look_ms = 50;
/// So much of what a program complains of is shown: a sentence or two.
constexpr std::size_t complaint_bytes_max = 200;

/// Both ends of a pipe, closed at the end at the latest.
struct pipe_ends {
  int from = -1;
  int to = -1;
  pipe_ends() {
    int both[2];
    if (::pipe2(both, O_CLOEXEC) == 0) {
      from = both[0];
      to = both[1];
    }
  }
  pipe_ends(const pipe_ends&) = delete;
  pipe_ends& operator=(const pipe_ends&) = delete;
  ~pipe_ends() {
    close_end(from);
    close_end(to);
  }
  static void close_end(int& x) {
    if (x >= 0)
      ::close(x);
    x = -1;
  }
};

/// How a child is born: nothing to read, two pipes, its own group, no descriptor or mask of ours.
class birth {
public:
  birth(int out, int err) {
    ::posix_spawn_file_actions_init(&files_);
    ::posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&files_, err, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&files_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&how_);
    ::posix_spawnattr_setpgroup(&how_, 0);
    sigset_t none;
    sigemptyset(&none);
    ::posix_spawnattr_setsigmask(&how_, &none);
    sigset_t ignored_by_us;
    sigemptyset(&ignored_by_us);
    sigaddset(&ignored_by_us, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&how_, &ignored_by_us);
    ::posix_spawnattr_setflags(&how_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
                                          | POSIX_SPAWN_SETSIGDEF);
  }
  birth(const birth&) = delete;
  birth& operator=(const birth&) = delete;
  ~birth() {
    ::posix_spawn_file_actions_destroy(&files_);
    ::posix_spawnattr_destroy(&how_);
  }
  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* how() const { return &how_; }

private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t how_;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& x : texts)
    out.push_back(x.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string>
environment_with(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (char** x = environ; *x != nullptr; ++x) {
    const std::string_view entry{*x};
    bool is_replaced = false;
    for (const auto& [name, value] : more)
      is_replaced |= entry.substr(0, entry.find('=')) == name;
    if (!is_replaced)
      out.emplace_back(entry);
  }
  for (const auto& [name, value] : more)
    out.push_back(fmt::format("{}={}", name, value));
  return out;
}

std::string first_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (text.ends_with('\r'))
    text.remove_suffix(1);
  return printable(text, complaint_bytes_max);
}

std::string how_it_ended(int status, const std::string& said) {
  const auto how = WIFEXITED(status) ? fmt::format("ended with {}", WEXITSTATUS(status))
                                     : fmt::format("was killed by signal {}", WTERMSIG(status));
  return said.empty() ? how : fmt::format("{}: {}", how, first_line(said));
}

/// A child and what it has printed.
struct child {
  pid_t pid = -1;
  std::string out;
  std::string err;
  bool is_too_long = false;

  /// Reads what is there; false at the end of the stream.
  bool take(int from, std::string& into) {
    std::array<char, 4096> bytes;
    const auto n = ::read(from, bytes.data(), bytes.size());
    if (n <= 0)
      return n < 0 && errno == EINTR;
    into.append(bytes.data(), static_cast<std::size_t>(n));
    is_too_long |= into.size() > printed_bytes_max;
    return true;
  }
  /// Its status, once it has ended.
  std::optional<int> ended() const {
    int status = 0;
    const auto who = ::waitpid(pid, &status, WNOHANG);
    return who == pid ? std::optional{status} : std::nullopt;
  }
  void kill() const {
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

class real_machine final : public machine {
public:
  explicit real_machine(const base::clock& time) : clock_(time) {}

  base::result<std::string> read(const std::string& file) override {
    errno = 0;
    std::ifstream in{file, std::ios::binary};
    std::ostringstream text;
    // A directory opens, and cannot be read.
    if (!in || (in.peek() != std::ifstream::traits_type::eof() && !(text << in.rdbuf()))
        || in.bad()) {
      const int why = errno;
      return error{why == ENOENT ? code::not_found : code::io,
                   why == 0 ? std::string{"cannot be read"} : std::string{std::strerror(why)}};
    }
    return text.str();
  }

  base::result<std::string> run(const program& what,
                                const std::atomic<bool>& is_given_up) override {
    pipe_ends out, err;
    if (out.from < 0 || err.from < 0)
      return error{code::io, "no pipe can be made"};
    std::vector<std::string> words{what.command};
    words.insert(words.end(), what.arguments.begin(), what.arguments.end());
    auto variables = environment_with(what.environment);
    const birth as{out.to, err.to};
    child one;
    const int failed = ::posix_spawnp(&one.pid, what.command.c_str(), as.files(), as.how(),
                                      pointers_to(words).data(), pointers_to(variables).data());
    if (failed != 0)
      return error{failed == ENOENT ? code::not_found : code::unavailable, std::strerror(failed)};
    pipe_ends::close_end(out.to);
    pipe_ends::close_end(err.to);
    return listen(one, what, {out.from, err.from}, is_given_up);
  }

  const base::clock& clock() const override { return clock_; }

private:
  /// Until it has ended and nothing more is in the pipes: what it has left running may hold them.
  base::result<std::string> listen(child& one, const program& what, std::array<int, 2> from,
                                   const std::atomic<bool>& is_given_up) {
    const auto deadline = clock_.now() + what.patience;
    std::array<pollfd, 2> watched{{{from[0], POLLIN, 0}, {from[1], POLLIN, 0}}};
    const std::array<std::string*, 2> into{&one.out, &one.err};
    std::optional<int> status;
    for (;;) {
      const bool is_late = clock_.now() >= deadline;
      if (!status && (is_late || is_given_up || one.is_too_long)) {
        one.kill();
        return error{code::unavailable, is_late           ? "did not end in time"
                                        : one.is_too_long ? "printed more than a megabyte"
                                                          : "was given up"};
      }
      const bool has_more = ::poll(watched.data(), watched.size(), status ? 0 : look_ms) > 0;
      for (std::size_t i = 0; i < watched.size(); ++i)
        if (watched[i].revents != 0 && !one.take(watched[i].fd, *into[i]))
          watched[i].fd = -1; // poll passes over it
      if (status && (!has_more || one.is_too_long))
        break;
      if (!status)
        status = one.ended();
    }
    if (!WIFEXITED(*status) || WEXITSTATUS(*status) != 0)
      return error{code::unavailable, how_it_ended(*status, one.err)};
    return std::move(one.out);
  }

  const base::clock& clock_;
};

} // namespace

std::shared_ptr<machine> this_machine(const base::clock& time) {
  return std::make_shared<real_machine>(time);
}

} // namespace tutti::bridge
