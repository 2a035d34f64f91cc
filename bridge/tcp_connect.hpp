// A TCP connection to a name or an address, within a time limit, failures in words.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/http_client.hpp"

namespace tutti::bridge {

/// `unavailable`, with a hint: the name is not known, nobody listens, no answer in time.
boost::asio::awaitable<base::result<boost::asio::ip::tcp::socket>>
tcp_connect(boost::asio::any_io_executor where, tcp_target target);

/// What the operating system says, as an error of ours.
base::error lost(const boost::system::error_code& ec);

} // namespace tutti::bridge
