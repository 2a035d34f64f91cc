// Sockets behind the byte stream: by address or by descriptor.
#include "bridge/byte_stream.hpp"

#include <functional>
#include <utility>

#include <boost/asio/local/stream_protocol.hpp>

#include "bridge/http_client.hpp"
#include "bridge/stream_io.hpp"
#include "bridge/tcp_connect.hpp"

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;

template <class Socket>
class socket_stream final : public byte_stream {
public:
  explicit socket_stream(Socket s) : socket_(std::move(s)) {}

  asio::awaitable<base::result<std::size_t>> read_some(asio::mutable_buffer into) override {
    return read_some_of<lost>(socket_, into);
  }
  asio::awaitable<base::result<void>> write_all(asio::const_buffer bytes) override {
    return write_all_to<lost>(socket_, bytes);
  }
  void close() noexcept override {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

private:
  Socket socket_;
};

class descriptor_connector final : public connector {
public:
  explicit descriptor_connector(std::function<base::result<int>()> open) : open_(std::move(open)) {}

  asio::awaitable<base::result<byte_stream_ptr>> connect(asio::any_io_executor where,
                                                         identity_ptr) override {
    using socket = asio::local::stream_protocol::socket;
    const auto descriptor = open_();
    if (!descriptor)
      co_return descriptor.error();
    socket s{where};
    boost::system::error_code ec;
    s.assign(asio::local::stream_protocol{}, *descriptor, ec);
    if (ec)
      co_return lost(ec);
    co_return std::make_shared<socket_stream<socket>>(std::move(s));
  }

private:
  std::function<base::result<int>()> open_;
};

class tcp_connector final : public connector {
public:
  explicit tcp_connector(tcp_target where) : where_(std::move(where)) {}

  asio::awaitable<base::result<byte_stream_ptr>> connect(asio::any_io_executor where,
                                                         identity_ptr) override {
    auto socket = co_await tcp_connect(where, where_);
    if (!socket)
      co_return socket.error();
    co_return stream_on(std::move(*socket));
  }

private:
  tcp_target where_;
};

} // namespace

byte_stream_ptr stream_on(asio::ip::tcp::socket socket) {
  return std::make_shared<socket_stream<asio::ip::tcp::socket>>(std::move(socket));
}

connector_ptr connect_by_descriptor(std::function<base::result<int>()> open) {
  return std::make_shared<descriptor_connector>(std::move(open));
}

connector_ptr connect_by_tcp(tcp_target where) {
  return std::make_shared<tcp_connector>(std::move(where));
}

} // namespace tutti::bridge
