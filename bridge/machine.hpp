// The few things that credentials need of the machine: a file's text, a program's output, the time.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tutti::bridge {

class machine {
public:
  struct program {
    std::string command; ///< looked up in $PATH if it has no slash
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment; ///< added to ours
    base::duration patience{};                                    ///< killed after this
  };

  virtual ~machine() = default;
  /// `not_found` or `io`, in the words of the operating system.
  virtual base::result<std::string> read(const std::string& file) = 0;
  /// What the program prints on stdout, if it ends with 0. It reads nothing and gets no descriptor
  /// of ours. `not_found`: there is no such program; `unavailable`: it failed, with the first line
  /// of its stderr as far as it can be printed, or took too long, or `is_given_up` became true.
  virtual base::result<std::string> run(const program& what,
                                        const std::atomic<bool>& is_given_up) = 0;
  virtual const base::clock& clock() const = 0;
};

/// This machine. `time` outlives it.
std::shared_ptr<machine> this_machine(const base::clock& time);

} // namespace tutti::bridge
