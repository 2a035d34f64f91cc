// A child process under test: started, watched, waited for with a deadline, and never left behind.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::commands {

/// Long enough for a loaded machine; a test that needs as much has failed.
constexpr std::chrono::milliseconds patience{15000};

/// How a process ended: an exit code, or the signal that killed it.
struct ending {
  int exit_code = -1;
  int signal = 0;
  friend bool operator==(const ending&, const ending&) = default;
};
std::ostream& operator<<(std::ostream& out, const ending& e);

/// One child. Its two outputs go to files without a name, so that it never waits for a reader.
/// The destructor kills it; if the test program itself dies, the kernel does.
class process {
public:
  struct options {
    std::vector<std::string> command;                 ///< the program first; found in $PATH
    std::map<std::string, std::string> environment{}; ///< added to ours
    std::string input{};                              ///< what it reads from stdin
  };

  explicit process(options how);
  process(process&& other) noexcept;
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process();

  /// What it has written up to now.
  std::string out() const;
  std::string err() const;

  /// The first line of stderr that contains `what`; nothing if it ends or the time is over first.
  std::optional<std::string> line_with(const std::string& what,
                                       std::chrono::milliseconds at_most = patience);

  /// Nothing if it still runs when the time is over.
  std::optional<ending> wait(std::chrono::milliseconds at_most = patience);
  bool is_running() { return !wait(std::chrono::milliseconds{0}).has_value(); }

  void send(int signal);
  /// kill -9, and waits until it is gone.
  void kill();

private:
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::optional<ending> ended_;
};

/// Calls `is_so` again and again until it says true; false if it never did.
template <class Condition>
bool eventually(Condition is_so, std::chrono::milliseconds at_most = patience);

/// A moment between two looks.
void pause_between_looks();

template <class Condition>
bool eventually(Condition is_so, std::chrono::milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  for (;;) {
    if (is_so())
      return true;
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    pause_between_looks();
  }
}

} // namespace tutti::commands
