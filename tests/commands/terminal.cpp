// forkpty, exec, and a reader that never lets the command wait for it.
#include "terminal.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tutti::commands {

namespace {

/// Reads until the other side is closed by its last owner; false if that takes too long.
bool read_all(int terminal, std::string& bytes, std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd wanted{terminal, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&wanted, 1, static_cast<int>(left.count())) <= 0)
      return false;
    char part[4096];
    const auto n = ::read(terminal, part, sizeof part);
    if (n <= 0)
      return true; // EIO: nobody has it open any more
    bytes.append(part, static_cast<std::size_t>(n));
  }
}

} // namespace

shown run_on_terminal(arguments what, unsigned short columns, std::chrono::milliseconds at_most) {
  what.insert(what.begin(), TUTTI_BINARY);
  std::vector<char*> words;
  for (auto& word : what)
    words.push_back(word.data());
  words.push_back(nullptr);
  const winsize size{.ws_row = 25, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  int terminal = -1;
  const auto child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0)
    throw std::runtime_error("forkpty failed");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv("NO_COLOR", "1", 1);
    ::execv(words.front(), words.data());
    ::_exit(127);
  }
  shown out;
  const bool has_ended = read_all(terminal, out.bytes, at_most);
  EXPECT_TRUE(has_ended) << "it does not end; it showed:\n" << out.bytes;
  if (!has_ended)
    ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  out.how = WIFSIGNALED(status) ? ending{-1, WTERMSIG(status)} : ending{WEXITSTATUS(status), 0};
  return out;
}

std::vector<std::string> screen_of(const std::string& bytes, std::size_t columns) {
  constexpr std::string_view wipe = "\033[K";
  std::vector<std::string> lines(1);
  std::size_t row = 0, column = 0;
  const auto down = [&] {
    if (++row == lines.size())
      lines.emplace_back();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '\r') {
      column = 0;
    } else if (bytes[i] == '\n') {
      down();
    } else if (bytes.compare(i, wipe.size(), wipe) == 0) {
      lines[row].resize(std::min(lines[row].size(), column));
      i += wipe.size() - 1;
    } else {
      if (column == columns) {
        down();
        column = 0;
      }
      lines[row].resize(std::max(lines[row].size(), column + 1), ' ');
      lines[row][column++] = bytes[i];
    }
  }
  while (!lines.empty() && lines.back().empty())
    lines.pop_back();
  return lines;
}

} // namespace tutti::commands
