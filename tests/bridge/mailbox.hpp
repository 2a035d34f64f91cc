// A queue between threads of a test.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace tutti::bridge {

/// `pop` blocks until there is something.
template <class T>
class mailbox {
public:
  void push(T x) {
    {
      std::lock_guard lock{mutex_};
      items_.push_back(std::move(x));
    }
    ready_.notify_one();
  }
  T pop() {
    std::unique_lock lock{mutex_};
    ready_.wait(lock, [this] { return !items_.empty(); });
    auto x = std::move(items_.front());
    items_.pop_front();
    return x;
  }
  std::size_t size() {
    std::lock_guard lock{mutex_};
    return items_.size();
  }

private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<T> items_;
};

} // namespace tutti::bridge
