#include "actors/link_connection.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/core.h>

#include "base/limits.hpp"
#include "bridge/stream_io.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using base::code;
using base::error;
using protocol::frame_kind;

link_connection::link_connection(bridge::byte_stream_ptr stream, link_times times,
                                 frame_kind carries)
    : stream_(std::move(stream)), times_(times), carries_(carries) {}

void link_connection::close(error why) {
  if (over_)
    return;
  over_ = std::move(why);
  stream_->close();
  if (watchdog_)
    watchdog_->cancel();
  if (pause_)
    pause_->cancel();
  if (out_)
    out_->close();
}

/// Ends the connection when two looks in a row, half of `silence` apart, have heard nothing.
asio::awaitable<void> link_connection::watch() {
  const auto me = shared_from_this();
  int quiet = 0;
  while (!over_) {
    watchdog_->expires_after(times_.silence / 2);
    const auto [ec] = co_await watchdog_->async_wait(bridge::without_exceptions);
    if (ec)
      break;
    quiet = std::exchange(has_heard_, false) ? 0 : quiet + 1;
    if (quiet == 2)
      close({code::unavailable,
             fmt::format(
                 "silent for {} ms",
                 std::chrono::duration_cast<std::chrono::milliseconds>(times_.silence).count())});
  }
}

asio::awaitable<base::result<protocol::link_frame>> link_connection::next() {
  for (;;) {
    auto frame = frames_.next();
    if (!frame)
      co_return frame.error();
    if (*frame)
      co_return std::move(**frame);
    buffer_.resize(limits::link_read_bytes);
    const auto n = co_await stream_->read_some(asio::buffer(buffer_));
    if (over_)
      co_return *over_;
    if (!n)
      co_return n.error();
    if (*n == 0)
      co_return error{code::unavailable, "closed by the other side"};
    has_heard_ = true;
    frames_.take({buffer_.data(), *n});
  }
}

asio::awaitable<base::result<protocol::link_hello>>
link_connection::greet(protocol::link_hello ours, judge may_come) {
  const auto me = shared_from_this();
  const auto where = co_await asio::this_coro::executor;
  // A stranger may send a byte now and then: the whole greeting has its time.
  asio::steady_timer late{where, times_.patience};
  late.async_wait([me](const boost::system::error_code& ec) {
    if (!ec)
      me->close({code::unavailable, "no greeting in time", "look what is behind this address"});
  });
  const auto hello = frame_of(frame_kind::hello, encode(ours));
  if (auto said = co_await stream_->write_all(asio::buffer(hello)); !said)
    co_return over_ ? *over_ : said.error();
  auto frame = co_await next();
  late.cancel();
  if (!frame)
    co_return frame.error();
  if (frame->kind != frame_kind::hello)
    co_return error{code::corrupt, "the first frame is no greeting"};
  auto theirs = protocol::decode_link_hello(frame->body);
  if (!theirs)
    co_return theirs.error();
  if (auto ok = may_come(theirs->replica); !ok)
    co_return ok.error();
  if (auto ok = check_hello(ours, *theirs); !ok)
    co_return ok.error();
  frames_.allow(base::limits::frame_bytes_max);
  co_return theirs;
}

/// Many small messages go in one write; a heartbeat where there is none, the first at once: the
/// other side then knows that it was let in.
asio::awaitable<void> link_connection::speak(std::shared_ptr<link_queue> out) {
  const auto me = shared_from_this();
  static const auto heartbeat = protocol::frame_of(frame_kind::heartbeat);
  for (bool is_first = true; !over_; is_first = false) {
    std::string bytes;
    if (out) {
      const auto patience = is_first ? base::duration::zero() : times_.heartbeat;
      bytes = co_await out->next(limits::link_write_bytes, patience);
    } else if (!is_first) {
      pause_->expires_after(times_.heartbeat);
      co_await pause_->async_wait(bridge::without_exceptions);
    }
    if (over_)
      break;
    const auto& what = bytes.empty() ? heartbeat : bytes;
    if (auto ok = co_await stream_->write_all(asio::buffer(what)); !ok) {
      close(ok.error());
      break;
    }
  }
}

asio::awaitable<error> link_connection::run(std::shared_ptr<link_queue> out, ear hear,
                                            std::function<void()> lasts) {
  const auto me = shared_from_this();
  const auto where = co_await asio::this_coro::executor;
  if (over_)
    co_return *over_;
  watchdog_.emplace(where);
  pause_.emplace(where);
  out_ = out;
  if (out_)
    out_->open();
  asio::co_spawn(
      where, [me, out] { return me->speak(out); }, asio::detached);
  asio::co_spawn(
      where, [me] { return me->watch(); }, asio::detached);
  for (;;) {
    auto frame = co_await next();
    if (!frame) {
      close(frame.error());
      co_return *over_;
    }
    if (auto first = std::exchange(lasts, {}))
      first();
    if (frame->kind == carries_ && hear)
      hear(frame->body);
  }
}

} // namespace tutti::actors
