// A line between a scheduler and its API server that is slow, or breaks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace tutti::live {

/// Carries bytes of whatever protocol, TLS included, to a port of this machine. All that it can do
/// may be changed while it carries.
class bad_line {
public:
  /// Listens on a port of its own.
  explicit bad_line(std::uint16_t to);
  bad_line(const bad_line&) = delete;
  bad_line& operator=(const bad_line&) = delete;
  ~bad_line();

  std::uint16_t port() const { return listener_.local_endpoint().port(); }
  /// Every piece of an answer comes so much later.
  void delay_answers(std::chrono::milliseconds x) { delay_ms_ = x.count(); }
  /// Each connection that is made from now on breaks once so many bytes of answers have come
  /// through it: in the middle of one. 0: none breaks.
  void cut_after(std::size_t bytes) { cut_after_ = bytes; }
  /// How many have broken so.
  std::size_t cuts() const { return cuts_; }
  /// All that are there break now.
  void cut_all();

private:
  using socket = boost::asio::ip::tcp::socket;
  struct link {
    explicit link(boost::asio::io_context& io) : client(io), server(io) {}
    socket client;
    socket server;
    std::size_t bytes_left = 0; ///< of answers, if it is to break
    void cut();
  };

  void accept();
  void carry(link& between);
  void carry_back(link& between);

  const std::uint16_t to_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor listener_;
  std::atomic<bool> is_over_{false};
  std::atomic<std::int64_t> delay_ms_{0};
  std::atomic<std::size_t> cut_after_{0};
  std::atomic<std::size_t> cuts_{0};

  std::mutex mutex_;
  std::list<std::shared_ptr<link>> links_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

} // namespace tutti::live
