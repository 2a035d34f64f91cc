// Plain blocking sockets, two threads per connection: enough for one scheduler.
#include "tests/live/bad_line.hpp"

#include <algorithm>
#include <array>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>

namespace tutti::live {

namespace asio = boost::asio;
using boost::system::error_code;

void bad_line::link::cut() {
  error_code ignored;
  client.shutdown(socket::shutdown_both, ignored);
  server.shutdown(socket::shutdown_both, ignored);
}

bad_line::bad_line(std::uint16_t to)
    : to_(to), listener_(io_, {asio::ip::address_v4::loopback(), 0}),
      acceptor_([this] { accept(); }) {}

bad_line::~bad_line() {
  is_over_ = true;
  {
    error_code ignored;
    socket wake{io_}; // a blocking accept ends by being served
    wake.connect(listener_.local_endpoint(), ignored);
  }
  acceptor_.join();
  for (const auto& x : links_)
    x->cut();
  for (auto& t : threads_)
    t.join();
}

void bad_line::cut_all() {
  const std::lock_guard lock{mutex_};
  for (const auto& x : links_)
    x->cut();
}

void bad_line::accept() {
  while (!is_over_) {
    auto between = std::make_shared<link>(io_);
    error_code ec;
    listener_.accept(between->client, ec);
    if (!ec && !is_over_)
      between->server.connect({asio::ip::address_v4::loopback(), to_}, ec);
    if (ec || is_over_)
      continue;
    between->bytes_left = cut_after_;
    const std::lock_guard lock{mutex_};
    links_.push_back(between);
    threads_.emplace_back([this, between] { carry(*between); });
    threads_.emplace_back([this, between] { carry_back(*between); });
  }
}

void bad_line::carry(link& between) {
  std::array<char, 16384> bytes;
  error_code ec;
  while (!ec) {
    const auto n = between.client.read_some(asio::buffer(bytes), ec);
    if (!ec)
      asio::write(between.server, asio::buffer(bytes, n), ec);
  }
  between.cut();
}

void bad_line::carry_back(link& between) {
  std::array<char, 16384> bytes;
  const bool breaks = between.bytes_left > 0;
  error_code ec;
  while (!ec) {
    auto n = between.server.read_some(asio::buffer(bytes), ec);
    if (ec)
      continue;
    std::this_thread::sleep_for(std::chrono::milliseconds{delay_ms_.load()});
    if (breaks)
      n = std::min(n, between.bytes_left);
    asio::write(between.client, asio::buffer(bytes, n), ec);
    if (breaks && (between.bytes_left -= n) == 0) {
      ++cuts_;
      break;
    }
  }
  between.cut();
}

} // namespace tutti::live
