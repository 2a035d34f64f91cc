// One request over a connection of its own.
#include "api_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>

namespace tutti::commands {

namespace asio = boost::asio;
namespace http = boost::beast::http;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

/// All that the peer says until it hangs up.
template <class Stream>
std::string exchange(Stream& peer, const std::string& request, error_code& ec) {
  std::string bytes;
  asio::write(peer, asio::buffer(request), ec);
  if (!ec)
    asio::read(peer, asio::dynamic_buffer(bytes), ec);
  return bytes;
}

std::string exchange_over_tls(asio::ip::tcp::socket& plain, const api_identity& who,
                              const std::string& request, error_code& ec) {
  ssl::context trust{ssl::context::tls_client};
  trust.load_verify_file(who.ca_file, ec);
  if (ec)
    return {};
  ssl::stream<asio::ip::tcp::socket&> peer{plain, trust};
  peer.set_verify_mode(ssl::verify_peer);
  peer.set_verify_callback(ssl::host_name_verification{"127.0.0.1"});
  peer.handshake(ssl::stream_base::client, ec);
  return ec ? std::string{} : exchange(peer, request, ec);
}

} // namespace

boost::json::object api_answer::object() const {
  boost::system::error_code ec;
  auto parsed = boost::json::parse(body, ec);
  return ec || !parsed.is_object() ? boost::json::object{} : parsed.as_object();
}

api_answer api_client::ask(const std::string& method, const std::string& path,
                           const std::string& body) const {
  error_code ec;
  asio::io_context io;
  asio::ip::tcp::socket peer{io};
  peer.connect({asio::ip::address_v4::loopback(), port_}, ec);
  const auto request =
      fmt::format("{} {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{}"
                  "accept: application/json\r\ncontent-type: application/{}\r\n"
                  "content-length: {}\r\n\r\n{}",
                  method, path, who_ ? "authorization: Bearer " + who_->token + "\r\n" : "",
                  method == "PATCH" ? "merge-patch+json" : "json", body.size(), body);
  std::string bytes;
  if (!ec)
    bytes = who_ ? exchange_over_tls(peer, *who_, request, ec) : exchange(peer, request, ec);
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(boost::none);
  error_code bad;
  parser.put(asio::buffer(bytes), bad);
  if (!bad && !parser.is_done())
    parser.put_eof(bad);
  if (bad)
    return {};
  return {static_cast<int>(parser.get().result_int()), parser.get().body()};
}

} // namespace tutti::commands
