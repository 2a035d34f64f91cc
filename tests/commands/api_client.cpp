// One request over a connection of its own.
#include "api_client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>

namespace tutti::commands {

namespace asio = boost::asio;
namespace http = boost::beast::http;

boost::json::object api_answer::object() const {
  boost::system::error_code ec;
  auto parsed = boost::json::parse(body, ec);
  return ec || !parsed.is_object() ? boost::json::object{} : parsed.as_object();
}

api_answer api_client::ask(const std::string& method, const std::string& path,
                           const std::string& body) const {
  boost::system::error_code ec;
  asio::io_context io;
  asio::ip::tcp::socket peer{io};
  peer.connect({asio::ip::address_v4::loopback(), port_}, ec);
  const auto request = fmt::format("{} {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
                                   "accept: application/json\r\ncontent-type: application/json\r\n"
                                   "content-length: {}\r\n\r\n{}",
                                   method, path, body.size(), body);
  if (!ec)
    asio::write(peer, asio::buffer(request), ec);
  std::string bytes;
  if (!ec)
    asio::read(peer, asio::dynamic_buffer(bytes), ec);
  http::response_parser<http::string_body> parser;
  parser.eager(true);
  parser.body_limit(boost::none);
  boost::system::error_code bad;
  parser.put(asio::buffer(bytes), bad);
  if (!bad && !parser.is_done())
    parser.put_eof(bad);
  if (bad)
    return {};
  return {static_cast<int>(parser.get().result_int()), parser.get().body()};
}

} // namespace tutti::commands
