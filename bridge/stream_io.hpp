// Reading and writing as byte streams do, over any stream of Asio: errors are values, in the words
// of whoever knows the stream.
#pragma once

#include <cstddef>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/error_code.hpp>

#include "base/result.hpp"

namespace tutti::bridge {

inline constexpr auto without_exceptions = boost::asio::as_tuple(boost::asio::use_awaitable);

/// What a code of Asio means.
using why = base::error (*)(const boost::system::error_code&);

/// As `byte_stream::read_some`. `from` outlives it.
template <why Why, class Stream>
boost::asio::awaitable<base::result<std::size_t>> read_some_of(Stream& from,
                                                               boost::asio::mutable_buffer into) {
  auto [ec, n] = co_await from.async_read_some(into, without_exceptions);
  if (ec == boost::asio::error::eof)
    co_return std::size_t{0};
  if (ec)
    co_return Why(ec);
  co_return n;
}

/// As `byte_stream::write_all`. `to` outlives it.
template <why Why, class Stream>
boost::asio::awaitable<base::result<void>> write_all_to(Stream& to,
                                                        boost::asio::const_buffer bytes) {
  auto [ec, n] = co_await boost::asio::async_write(to, bytes, without_exceptions);
  (void)n;
  if (ec)
    co_return Why(ec);
  co_return base::result<void>{};
}

} // namespace tutti::bridge
