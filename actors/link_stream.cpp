#include "actors/link_stream.hpp"

#include <utility>

#include <fmt/core.h>

#include "bridge/printable.hpp"
#include "bridge/stream_io.hpp"
#include "bridge/tcp_connect.hpp"

namespace tutti::actors {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::code;
using base::error;

// Arguments of what is awaited have names: g++ 12 copies those without one byte by byte, strings
// too.

base::result<void> listen_at(tcp::acceptor& by, const host_port& at) {
  boost::system::error_code ec;
  const auto address = asio::ip::make_address(at.host, ec);
  if (ec)
    return error{code::bad_input, fmt::format("\"{}\" is not an IP address", at.host),
                 "give an address of this machine, e.g. 127.0.0.1:10452"};
  const tcp::endpoint where{address, at.port};
  by.open(where.protocol(), ec);
  if (!ec)
    by.set_option(tcp::acceptor::reuse_address(true), ec);
  if (!ec)
    by.bind(where, ec);
  if (!ec)
    by.listen(asio::socket_base::max_listen_connections, ec);
  if (ec)
    return error{ec == asio::error::address_in_use ? code::already_exists : code::bad_input,
                 fmt::format("cannot listen on {}:{}: {}", at.host, at.port, ec.message()),
                 "choose another address of this machine, or another port"};
  return {};
}

asio::awaitable<base::result<visitor>> welcome_stream(tcp::socket socket, link_identity* who,
                                                      base::duration patience) {
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay{true}, ignored);
  if (who == nullptr)
    co_return visitor{bridge::stream_on(std::move(socket)), nullptr};
  const auto context = who->look();
  if (!context)
    co_return context.error();
  auto made = co_await bridge::tls_accept(std::move(socket), *context, patience);
  if (!made)
    co_return of_link(made.error());
  co_return visitor{*made, *made};
}

base::result<void> check_name(const visitor& x, const link_identity* who, const std::string& name) {
  if (!x.shown || x.shown->is_peer_for(who->name_of(name)))
    return {};
  return error{code::forbidden, fmt::format("who says to be {} has a certificate for others",
                                            bridge::printable(name, name_bytes_shown))};
}

asio::awaitable<base::result<bridge::byte_stream_ptr>>
dial_stream(asio::any_io_executor on, dial_target target, link_identity* who) {
  bridge::tls_context_ptr context;
  if (who != nullptr) {
    const auto known = who->look();
    if (!known)
      co_return known.error();
    context = *known;
  }
  const bridge::tcp_target there{target.where.host, target.where.port, target.patience};
  auto socket = co_await bridge::tcp_connect(on, there);
  if (!socket)
    co_return socket.error();
  if (!context)
    co_return bridge::stream_on(std::move(*socket));
  auto stream =
      co_await bridge::tls_dial(std::move(*socket), context, target.name, target.patience);
  if (!stream)
    co_return of_link(stream.error());
  co_return bridge::byte_stream_ptr{std::move(*stream)};
}

bool stranger_news::is_news(const std::string& trouble) {
  constexpr std::size_t told_most = 16;
  const auto now = std::chrono::steady_clock::now();
  if (now - told_since_ >= std::chrono::minutes{1}) {
    told_.clear();
    told_since_ = now;
  }
  return told_.size() < told_most && told_.insert(trouble).second;
}

asio::awaitable<void> watch_certificates(link_identity& who, asio::steady_timer& timer,
                                         base::duration every, renewal_ears tell) {
  auto version = who.version();
  std::string said;
  for (;;) {
    timer.expires_after(every);
    const auto [ec] = co_await timer.async_wait(bridge::without_exceptions);
    if (ec || tell.is_over()) // what has expired already is not cancelled any more
      co_return;
    (void)who.look(); // `trouble` has it
    const auto& trouble = who.trouble();
    if (trouble && trouble->message() != said)
      tell.trouble(*trouble);
    said = trouble ? trouble->message() : std::string{};
    if (who.version() != version)
      tell.renewed();
    version = who.version();
  }
}

error of_link(const error& e) {
  const bool is_for_a_human = e.what() == code::bad_input && !e.hint().empty();
  return is_for_a_human ? error{e.what(), e.message(),
                                "look at tls.crt and ca.crt of both sides, and at --link-name"}
                        : e;
}

} // namespace tutti::actors
