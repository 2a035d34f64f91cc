// A machine with files that a test writes.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "bridge/machine.hpp"

namespace tutti::actors::testing {

/// Files that a test writes, and a clock that runs as fast as it likes.
class files final : public bridge::machine {
public:
  void write(const std::string& file, std::string text) {
    const std::lock_guard lock{mutex_};
    texts_[file] = std::move(text);
  }
  base::result<std::string> read(const std::string& file) override {
    const std::lock_guard lock{mutex_};
    const auto pos = texts_.find(file);
    if (pos == texts_.end())
      return base::error{base::code::not_found, "No such file or directory"};
    return pos->second;
  }
  base::result<std::string> run(const program&, const std::atomic<bool>&) override {
    return base::error{base::code::internal, "nobody runs programs here"};
  }
  const base::clock& clock() const override { return clock_; }

private:
  base::system_clock clock_;
  std::mutex mutex_;
  std::map<std::string, std::string> texts_;
};

} // namespace tutti::actors::testing
