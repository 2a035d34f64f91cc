#include "actors/http_listener.hpp"

#include <charconv>
#include <thread>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/core.h>

namespace tutti::actors {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

/// A probe or a command line sends less than this; more is an attack or a mistake.
constexpr std::size_t request_bytes_max = 64 * 1024;

std::string to_bytes(const http_reply& r, bool is_head) {
  auto out = fmt::format("HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\n"
                         "cache-control: no-store\r\n\r\n",
                         r.status, r.status == 200 ? "OK" : "Error", r.content_type, r.body.size());
  if (!is_head)
    out += r.body;
  return out;
}

/// One connection: requests one after another until the peer has enough.
asio::awaitable<void> serve(tcp::socket peer, const http_listener::handler& answer) {
  std::string pending;
  std::string buffer(16 * 1024, '\0');
  boost::system::error_code ec;
  for (;;) {
    http::request_parser<http::string_body> parser;
    parser.eager(true);
    parser.body_limit(request_bytes_max);
    while (!parser.is_done()) {
      if (!pending.empty()) {
        const auto used = parser.put(asio::buffer(pending), ec);
        pending.erase(0, used);
        if (ec && ec != http::error::need_more)
          co_return;
        if (parser.is_done())
          break;
      }
      const auto n = co_await peer.async_read_some(asio::buffer(buffer),
                                                   asio::redirect_error(asio::use_awaitable, ec));
      if (ec || pending.size() + n > request_bytes_max)
        co_return;
      pending.append(buffer.data(), n);
    }
    const auto& request = parser.get();
    const auto method = std::string{request.method_string()};
    const bool is_reading = method == "GET" || method == "HEAD";
    const auto reply = !is_reading && request.find(http::field::origin) != request.end()
                           ? http_reply{403, "text/plain", "not from a web page\n"}
                           : answer(method, std::string{request.target()});
    const auto bytes = to_bytes(reply, method == "HEAD");
    co_await asio::async_write(peer, asio::buffer(bytes),
                               asio::redirect_error(asio::use_awaitable, ec));
    if (ec || !request.keep_alive())
      co_return;
  }
}

class listener final : public http_listener {
public:
  listener(tcp::endpoint where, handler answer) : acceptor_(io_), answer_(std::move(answer)) {
    acceptor_.open(where.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(where);
    acceptor_.listen();
    asio::co_spawn(io_, accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
  }

  ~listener() override {
    io_.stop();
    thread_.join();
  }

  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

private:
  asio::awaitable<void> accept() {
    for (;;) {
      auto peer = co_await acceptor_.async_accept(asio::use_awaitable);
      asio::co_spawn(io_, serve(std::move(peer), answer_), asio::detached);
    }
  }

  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  handler answer_;
  std::thread thread_;
};

} // namespace

base::result<std::unique_ptr<http_listener>>
http_listener::open(const std::string& host, std::uint16_t port, handler answer) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  if (ec)
    return base::error{base::code::bad_input, fmt::format("\"{}\" is not an IP address", host),
                       "give an address of this machine, e.g. 127.0.0.1:10451"};
  try {
    return std::unique_ptr<http_listener>{
        std::make_unique<listener>(tcp::endpoint{address, port}, std::move(answer))};
  } catch (const boost::system::system_error& e) {
    const bool is_taken = e.code() == asio::error::address_in_use;
    return base::error{is_taken ? base::code::already_exists : base::code::bad_input,
                       fmt::format("cannot listen on {}:{}: {}", host, port, e.code().message()),
                       is_taken ? "another process has this port: stop it, or give another port"
                                : "give an address of this machine, e.g. 127.0.0.1:10451"};
  }
}

bool is_loopback(const std::string& host) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  return !ec && address.is_loopback();
}

base::result<host_port> parse_host_port(const std::string& text) {
  const auto colon = text.rfind(':');
  host_port out{"127.0.0.1", 0};
  const auto digits = colon == std::string::npos ? text : text.substr(colon + 1);
  if (colon != std::string::npos && colon > 0)
    out.host = text.substr(0, colon);
  if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
    out.host = out.host.substr(1, out.host.size() - 2); // [::1]:10451
  const auto* end = digits.data() + digits.size();
  auto [pos, ec] = std::from_chars(digits.data(), end, out.port);
  if (ec != std::errc{} || pos != end || digits.empty())
    return base::error{base::code::bad_input, fmt::format("\"{}\" is not ADDRESS:PORT", text),
                       "for example 127.0.0.1:10451, or :0 for any free port"};
  return out;
}

} // namespace tutti::actors
