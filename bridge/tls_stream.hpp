// TLS on a socket that is connected, from either side.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "bridge/byte_stream.hpp"
#include "bridge/tls_context.hpp"

namespace tutti::bridge {

/// A byte stream whose peer has shown a certificate, or has not.
class tls_byte_stream : public byte_stream {
public:
  /// The peer's certificate is for this host name or address; false if it has shown none. Only
  /// alternative names count.
  virtual bool is_peer_for(const std::string& name) const = 0;
};
using tls_byte_stream_ptr = std::shared_ptr<tls_byte_stream>;

/// The client's side; no byte of ours leaves before the server's certificate was found good for
/// `name`, unless `verifies` is false. Each error has a hint; `bad_input` where a human must mend
/// something.
boost::asio::awaitable<base::result<tls_byte_stream_ptr>>
tls_dial(boost::asio::ip::tcp::socket socket, tls_context_ptr context, std::string name,
         base::duration patience, bool verifies = true);

/// The server's side. Errors as above.
boost::asio::awaitable<base::result<tls_byte_stream_ptr>>
tls_accept(boost::asio::ip::tcp::socket socket, tls_context_ptr context, base::duration patience);

} // namespace tutti::bridge
