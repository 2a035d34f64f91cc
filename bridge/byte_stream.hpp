// A connected stream of bytes that can be a socket, a pipe in this process, or TLS.
#pragma once

#include <cstddef>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/result.hpp"
#include "bridge/identity.hpp"

namespace tutti::bridge {

/// One coroutine reads and one writes, perhaps another; `close` may come from another on the same
/// thread and ends what is under way with an error.
class byte_stream {
public:
  virtual ~byte_stream() = default;

  /// The number of bytes read; 0 = the other side closed in order.
  virtual boost::asio::awaitable<base::result<std::size_t>>
  read_some(boost::asio::mutable_buffer into) = 0;
  /// All of `bytes` are handed over, or an unknown part of them.
  virtual boost::asio::awaitable<base::result<void>> write_all(boost::asio::const_buffer bytes) = 0;
  virtual void close() noexcept = 0;
};
using byte_stream_ptr = std::shared_ptr<byte_stream>;

/// Plain TCP: takes a socket that is connected.
byte_stream_ptr stream_on(boost::asio::ip::tcp::socket socket);

/// Makes connections to one server. Stateless for its users; lives as long as the client.
class connector {
public:
  virtual ~connector() = default;
  /// `who` may be null: nobody in particular. An error has a hint; `bad_input` if no second try can
  /// help before a human has mended something, else `unavailable`.
  virtual boost::asio::awaitable<base::result<byte_stream_ptr>>
  connect(boost::asio::any_io_executor where, identity_ptr who) = 0;
};

} // namespace tutti::bridge
