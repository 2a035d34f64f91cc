// How connections between processes of ours begin, before anything is said on them: TCP, or TLS
// with certificates on both sides.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "actors/http_listener.hpp"
#include "actors/link_identity.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/byte_stream.hpp"
#include "bridge/tls_stream.hpp"

namespace tutti::actors {

/// A name that a stranger says is shown so far.
inline constexpr std::size_t name_bytes_shown = 64;

/// Opens `by` at that address and listens. `already_exists` if the port is taken, `bad_input` if
/// the host is no address of this machine.
base::result<void> listen_at(boost::asio::ip::tcp::acceptor& by, const host_port& where);

/// The other side of a connection that was made to us.
struct visitor {
  bridge::byte_stream_ptr stream;
  bridge::tls_byte_stream_ptr shown; ///< its certificate; null under plain TCP
};
/// `who` is null for plain TCP, and outlives the call. Errors as `tls_accept`, with a hint about
/// links.
boost::asio::awaitable<base::result<visitor>>
welcome_stream(boost::asio::ip::tcp::socket socket, link_identity* who, base::duration patience);

/// Whether a visitor may say to be `name`: `forbidden` if its certificate is for others.
base::result<void> check_name(const visitor& x, const link_identity* who, const std::string& name);

struct dial_target {
  host_port where;
  std::string name; ///< must stand in the certificate there
  base::duration patience{};
};
/// Calls somebody; `who` as above.
boost::asio::awaitable<base::result<bridge::byte_stream_ptr>>
dial_stream(boost::asio::any_io_executor on, dial_target target, link_identity* who);

/// Anybody may come, again and again: what is wrong with strangers is told once in a while, and not
/// in ever other words.
class stranger_news {
public:
  bool is_news(const std::string& trouble);

private:
  std::set<std::string> told_;
  std::chrono::steady_clock::time_point told_since_{};
};

/// What whoever shows a certificate wants to hear of its renewal.
struct renewal_ears {
  std::function<bool()> is_over;                   ///< nobody wants to hear anything any more
  std::function<void(const base::error&)> trouble; ///< of reading it; each once
  std::function<void()> renewed; ///< who was let in by the old one must show the new one
};
/// Looks at the files after each `every`, until it is over: then `timer` is to be cancelled. Both
/// outlive it.
boost::asio::awaitable<void> watch_certificates(link_identity& who,
                                                boost::asio::steady_timer& timer,
                                                base::duration every, renewal_ears tell);

/// What fails in TLS says what to do about an API server; here both sides are ours.
base::error of_link(const base::error& e);

} // namespace tutti::actors
