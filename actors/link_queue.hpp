// What waits to be said to one peer: bounded, filled from any thread, emptied by one coroutine.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/time.hpp"

namespace tutti::actors {

class link_queue : public std::enable_shared_from_this<link_queue> {
public:
  link_queue(boost::asio::any_io_executor where, std::size_t bytes_most)
      : timer_(std::move(where)), bytes_most_(bytes_most) {}

  /// Is called before anything is taken out, by whoever does that: more may be pushed then. Before
  /// `open`; `close` forgets it.
  void refill_with(std::function<void()> refill) { refill_ = std::move(refill); }
  /// False if it is full, or nobody empties it: then `frame` is dropped. Any thread.
  bool push(std::string frame);

  /// From here on somebody empties it, or nobody does; what waits is dropped then.
  void open();
  void close();
  /// Frames that wait, one behind another, up to about `most` bytes; waits up to `patience` for the
  /// first. Empty: none came, or it was closed.
  boost::asio::awaitable<std::string> next(std::size_t most, base::duration patience);
  std::size_t bytes() const;

private:
  boost::asio::steady_timer timer_;
  const std::size_t bytes_most_;
  std::function<void()> refill_;
  mutable std::mutex mutex_; // guards what follows
  std::deque<std::string> frames_;
  std::size_t bytes_ = 0;
  bool is_open_ = false;
  bool is_awaited_ = false;
};

} // namespace tutti::actors
