#include "actors/link_queue.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "bridge/stream_io.hpp"

namespace tutti::actors {

namespace asio = boost::asio;

bool link_queue::push(std::string frame) {
  {
    const std::lock_guard lock{mutex_};
    if (!is_open_ || bytes_ + frame.size() > bytes_most_)
      return false;
    bytes_ += frame.size();
    frames_.push_back(std::move(frame));
    if (!std::exchange(is_awaited_, false))
      return true;
  }
  asio::post(timer_.get_executor(), [me = shared_from_this()] { me->timer_.cancel(); });
  return true;
}

void link_queue::open() {
  const std::lock_guard lock{mutex_};
  is_open_ = true;
}

void link_queue::close() {
  refill_ = {};
  const std::lock_guard lock{mutex_};
  is_open_ = false;
  frames_.clear();
  bytes_ = 0;
  timer_.cancel();
}

/// `push` may come between the look and the wait, on another thread: it finds `is_awaited_` and
/// posts, and what is posted runs when this coroutine waits.
asio::awaitable<std::string> link_queue::next(std::size_t most, base::duration patience) {
  if (const auto refill = refill_)
    refill();
  {
    std::unique_lock lock{mutex_};
    if (is_open_ && frames_.empty()) {
      is_awaited_ = true;
      lock.unlock();
      timer_.expires_after(patience);
      co_await timer_.async_wait(bridge::without_exceptions);
    }
  }
  const std::lock_guard lock{mutex_};
  is_awaited_ = false;
  std::string out;
  while (!frames_.empty() && (out.empty() || out.size() + frames_.front().size() <= most)) {
    bytes_ -= frames_.front().size();
    if (out.empty())
      out = std::move(frames_.front());
    else
      out.append(frames_.front());
    frames_.pop_front();
  }
  co_return out;
}

std::size_t link_queue::bytes() const {
  const std::lock_guard lock{mutex_};
  return bytes_;
}

} // namespace tutti::actors
