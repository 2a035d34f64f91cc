// One request per question, over a connection of its own.
#include "cli/daemon.hpp"

#include <cctype>
#include <cstdlib>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>

#include "actors/http_listener.hpp"

namespace tutti::cli {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using base::code;
using base::error;

struct answer {
  int status = 0;
  std::string body;
};

/// One request on a connection of its own. Reads until the peer closes.
base::result<answer> ask(const actors::host_port& where, const char* method,
                         const std::string& path) {
  boost::system::error_code ec;
  asio::io_context io;
  asio::ip::tcp::resolver names{io};
  auto found = names.resolve(where.host, std::to_string(where.port), ec);
  asio::ip::tcp::socket peer{io};
  if (!ec)
    asio::connect(peer, found, ec);
  if (ec)
    return error{
        code::unavailable,
        fmt::format("no scheduler answers at {}:{}: {}", where.host, where.port, ec.message()),
        "start one with `tutti local`, or name another with --server or $TUTTI_SERVER"};
  const auto request =
      fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\naccept: application/json\r\n"
                  "content-length: 0\r\n\r\n",
                  method, path, where.host);
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
    return error{code::unavailable, fmt::format("{}:{} broke off its answer: {}", where.host,
                                                where.port, bad.message())};
  return answer{static_cast<int>(parser.get().result_int()), parser.get().body()};
}

code code_of(int status) {
  switch (status) {
  case 400:
    return code::bad_input;
  case 404:
    return code::not_found;
  case 409:
    return code::conflict;
  default:
    return code::unavailable;
  }
}

reader speaker(std::string server, const char* method) {
  if (server.empty())
    if (const char* named = std::getenv("TUTTI_SERVER"); named != nullptr)
      server = named;
  if (server.empty())
    server = default_server;
  const bool is_tls = server.starts_with("https://");
  server = without_scheme(std::move(server));
  return [server, is_tls, method](const std::string& path) -> base::result<boost::json::object> {
    if (is_tls)
      return error{code::bad_input, fmt::format("{}: the admin address speaks no TLS", server),
                   "leave https:// out"};
    auto where = actors::parse_host_port(server);
    if (!where)
      return where.error().in("--server");
    auto said = ask(*where, method, path);
    if (!said)
      return said.error();
    boost::system::error_code ec;
    auto parsed = boost::json::parse(said->body, ec);
    if (ec || !parsed.is_object())
      return error{
          code::bad_input,
          fmt::format("{} does not speak like a tutti scheduler (status {})", server, said->status),
          "--server wants the admin address that `tutti local` prints at its start"};
    auto& body = parsed.as_object();
    if (said->status == 200)
      return std::move(body);
    const auto* message = body.if_contains("message");
    return error{code_of(said->status), message != nullptr && message->is_string()
                                            ? std::string{message->as_string()}
                                            : fmt::format("{} answered {}", path, said->status)};
  };
}

} // namespace

std::string without_scheme(std::string server) {
  if (server.starts_with("http://"))
    server = server.substr(7);
  while (server.ends_with('/'))
    server.pop_back();
  return server;
}

std::string path_segment(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    out += is_plain ? std::string{c} : fmt::format("%{:02X}", byte);
  }
  return out;
}

reader daemon_at(std::string server) {
  return speaker(std::move(server), "GET");
}

reader daemon_to_change(std::string server) {
  return speaker(std::move(server), "POST");
}

} // namespace tutti::cli
