// What a cluster must hold after any number of deaths, by a file that outlives them: one line
// before each write ("pending"), one after its answer ("done").
//
// The idea is that of RocksDB's own crash test: what is done must be there, what is pending may be
// there or not, and nothing else.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "judge.hpp"

namespace tutti::commands {

/// Objects are called "group/NAME" and "pod/NAME".
class expected_state {
public:
  /// Reads what an earlier one has written there; an absent file is an empty cluster.
  explicit expected_state(std::string path);

  enum class wish { create, remove };
  /// Before the write is sent.
  void pending(wish what, const std::string& name);
  /// After its answer has come.
  void done(wish what, const std::string& name);
  /// Whoever was seen bound stays where it is as long as it is there.
  void saw(const cluster_seen& x);

  /// True if this is so for sure: no write about it is pending.
  bool is(wish what, const std::string& name) const;
  /// Fails the test for everything that must be there and is not, or must not and is, or has moved.
  void expect_in(const cluster_seen& x) const;
  /// All lines, for a person.
  std::string story() const;

private:
  struct known {
    bool is_there = false;
    std::optional<wish> pending;
  };
  struct place {
    std::string uid;
    std::string node;
  };
  void write(const std::string& line);
  void take(const std::string& line);

  const std::string path_;
  std::map<std::string, known> objects_;
  std::map<std::string, place> bound_; ///< by pod
};

} // namespace tutti::commands
