// Stands between a scheduler and its API server, and can make a Binding late.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace tutti::commands {

/// A network may deliver a request long after its sender has died. This relay keeps Bindings back
/// while it is told to, as if the connection had broken, and delivers each of them at the worst
/// moment: just before a PATCH of the same pod.
class relay {
public:
  /// Listens on a port of its own; passes everything on to `api_port` of this machine.
  explicit relay(std::uint16_t api_port);
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;
  ~relay();

  std::string address() const;
  void keep_bindings(bool x) { is_keeping_ = x; }
  /// Pods whose Bindings are kept.
  std::size_t kept() const;
  /// How many of the Bindings that came late the server has taken: in whatever order their pods
  /// were touched.
  std::size_t taken_late() const;

private:
  using request = boost::beast::http::request<boost::beast::http::string_body>;
  using socket = boost::asio::ip::tcp::socket;
  struct link {
    explicit link(boost::asio::io_context& io) : client(io), server(io) {}
    socket client;
    socket server;
    void cut();
  };

  void accept();
  void carry(link& between);
  void carry_back(link& between);
  void deliver_late(const std::string& pod);

  const std::uint16_t api_port_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor listener_;
  std::atomic<bool> is_keeping_{false};
  std::atomic<bool> is_over_{false};

  mutable std::mutex mutex_;
  std::map<std::string, request> kept_; ///< by pod
  std::size_t taken_late_ = 0;
  std::list<std::shared_ptr<link>> links_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

} // namespace tutti::commands
