// One thread that accepts, reads once, answers and closes.
#include "canned_server.hpp"

#include <array>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

namespace tutti::commands {

namespace asio = boost::asio;
using asio::ip::tcp;

struct canned_server::inside {
  explicit inside(std::string text)
      : answer(std::move(text)), acceptor(io, {asio::ip::address_v4::loopback(), 0}) {}

  void accept() {
    acceptor.async_accept([this](boost::system::error_code failed, tcp::socket peer) {
      if (failed)
        return;
      std::array<char, 4096> asked{};
      boost::system::error_code ignored;
      peer.read_some(asio::buffer(asked), ignored);
      asio::write(peer, asio::buffer(answer), ignored);
      peer.shutdown(tcp::socket::shutdown_both, ignored);
      accept();
    });
  }

  std::string answer;
  asio::io_context io;
  tcp::acceptor acceptor;
  std::thread thread;
};

canned_server::canned_server(std::string answer)
    : in_(std::make_unique<inside>(std::move(answer))) {
  in_->accept();
  in_->thread = std::thread{[in = in_.get()] { in->io.run(); }};
}

canned_server::~canned_server() {
  in_->io.stop();
  in_->thread.join();
}

std::uint16_t canned_server::port() const {
  return in_->acceptor.local_endpoint().port();
}

} // namespace tutti::commands
