// The words in which the tests speak of the `tutti` program: run it once, keep it running, ask it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api_client.hpp"
#include "process.hpp"

namespace tutti::commands {

using arguments = std::vector<std::string>;

/// A directory that is there as long as this object.
class temp_dir {
public:
  temp_dir();
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir();

  std::string path() const { return path_.string(); }
  std::string sub(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file into it and returns its path.
  std::string file(const std::string& name, const std::string& content) const;

private:
  std::filesystem::path path_;
};

/// One of the examples that users are told to try.
std::string example(const std::string& name);

/// What a finished command left behind.
struct outcome {
  ending how;
  std::string out;
  std::string err;
  int code() const { return how.exit_code; }
};

/// Runs `tutti ARGUMENTS…` to its end. A command that does not end fails the test.
outcome run(arguments what, std::map<std::string, std::string> environment = {},
            std::string input = {});

/// Runs a line of shell to its end; the program is `$TUTTI` in it.
outcome run_in_shell(const std::string& command);

process start(arguments what, std::map<std::string, std::string> environment = {});

/// Arguments of `tutti local` that stores in `home` and has no admin address.
arguments local_in(const temp_dir& home, arguments more = {});

/// `tutti local` or `tutti scheduler` that goes on running; its ports are learnt from what it
/// prints.
class daemon {
public:
  struct options {
    arguments what{}; ///< after `tutti local`, or another verb
    bool listens = false;
    bool has_admin = true;
    std::map<std::string, std::string> environment{};
    bool may_die = false; ///< it need not live to say its addresses
    std::string verb = "local";
    std::string admin = "127.0.0.1:0"; ///< where its admin address is, if it has one
  };
  /// Waits until it has said all its addresses. A daemon that does not fails the test, unless it
  /// may die.
  explicit daemon(options how);

  process& itself() { return process_; }
  /// It has said all its addresses.
  bool is_up() const { return is_up_; }
  /// Its Kubernetes API.
  const api_client& api() const { return api_; }
  std::string admin() const { return admin_; }
  api_client admin_client() const;

  /// A verb that reads, asked of this daemon: `ask({"get", "gangs"})`.
  outcome ask(arguments verb) const;
  /// Fails the test if it does not come to rest.
  void settle() const;
  /// SIGTERM and a clean end, or the test fails.
  void stop();

private:
  process process_;
  bool is_up_ = true;
  api_client api_;
  std::string admin_;
};

} // namespace tutti::commands
