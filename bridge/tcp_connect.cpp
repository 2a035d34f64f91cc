#include "bridge/tcp_connect.hpp"

#include <memory>
#include <string>

#include <boost/asio/connect.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "bridge/stream_io.hpp"

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::code;
using base::error;

/// A peer that does not acknowledge for this long is gone: an idle watch would wait for hours.
constexpr int silence_ms = 30'000;
constexpr int first_probe_s = 15;
constexpr int probe_s = 5;
constexpr int probes = 3;

error timed_out(base::duration patience) {
  return {code::unavailable,
          fmt::format("no answer within {} ms",
                      std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()),
          "look at the address, the network and its firewalls"};
}

error refused(const boost::system::error_code& ec) {
  if (ec == asio::error::connection_refused)
    return {code::unavailable, "nobody listens there (connection refused)",
            "look at host and port, and whether the server runs"};
  if (ec == asio::error::timed_out || ec == asio::error::host_unreachable
      || ec == asio::error::network_unreachable)
    return {code::unavailable, ec.message(), "look at the address, the network and its firewalls"};
  return lost(ec);
}

void set(tcp::socket& socket, int level, int option, int value) {
  ::setsockopt(socket.native_handle(), level, option, &value, sizeof value);
}

/// What a look-up and its time limit share: it cannot be called off, so it may outlive the wait.
struct name_search {
  name_search(const asio::any_io_executor& where, base::duration patience)
      : resolver(where), limit(where, std::chrono::ceil<std::chrono::milliseconds>(patience)) {}
  tcp::resolver resolver;
  asio::steady_timer limit;
  boost::system::error_code failed;
  tcp::resolver::results_type found;
  bool is_done = false;
};

/// The addresses behind a name. An address is its own: no thread looks it up.
asio::awaitable<base::result<tcp::resolver::results_type>>
look_up(const asio::any_io_executor& where, const tcp_target& target) {
  boost::system::error_code is_name;
  const auto address = asio::ip::make_address(target.host, is_name);
  if (!is_name)
    co_return tcp::resolver::results_type::create(tcp::endpoint{address, target.port}, target.host,
                                                  std::to_string(target.port));
  auto search = std::make_shared<name_search>(where, target.patience);
  search->resolver.async_resolve(
      target.host, std::to_string(target.port),
      [search](const boost::system::error_code& ec, tcp::resolver::results_type found) {
        search->failed = ec;
        search->found = std::move(found);
        search->is_done = true;
        search->limit.cancel();
      });
  co_await search->limit.async_wait(without_exceptions);
  if (!search->is_done) {
    search->resolver.cancel(); // one that has not begun yet ends at once: they would pile up
    co_return timed_out(target.patience);
  }
  if (search->failed)
    co_return error{
        code::unavailable,
        fmt::format("the name {} is not known ({})", target.host, search->failed.message()),
        "look at the host's spelling, and at the DNS of this machine"};
  co_return search->found;
}

/// What a connection under way shares with its time limit.
struct attempt {
  explicit attempt(const asio::any_io_executor& where) : socket(where) {}
  tcp::socket socket;
  bool is_late = false;
};

} // namespace

error lost(const boost::system::error_code& ec) {
  return {code::unavailable, ec.message()};
}

asio::awaitable<base::result<tcp::socket>> tcp_connect(asio::any_io_executor where,
                                                       tcp_target target) {
  const auto found = co_await look_up(where, target);
  if (!found)
    co_return found.error();
  auto one = std::make_shared<attempt>(where);
  asio::steady_timer limit{where, std::chrono::ceil<std::chrono::milliseconds>(target.patience)};
  limit.async_wait([one](const boost::system::error_code& ec) {
    boost::system::error_code ignored;
    one->is_late |= !ec;
    if (!ec)
      one->socket.close(ignored);
  });
  auto [failed, end] = co_await asio::async_connect(one->socket, *found, without_exceptions);
  (void)end;
  limit.cancel();
  if (failed)
    co_return one->is_late ? timed_out(target.patience) : refused(failed);
  auto socket = std::move(one->socket);
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, first_probe_s);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, probe_s);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, probes);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, silence_ms);
  co_return std::move(socket);
}

} // namespace tutti::bridge
