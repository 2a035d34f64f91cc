// Blocking sockets, one thread per connection: enough for one client.
#include "tls_server.hpp"

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace tutti::testing_tls {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

/// Reads from `from` into the parser until it is done; hands the raw bytes to `see`.
template <class Parser, class Stream, class See>
bool read_message(Stream& from, Parser& parser, std::string& pending, See see) {
  std::array<char, 16384> bytes;
  error_code ec;
  for (;;) {
    if (!pending.empty()) {
      const auto used = parser.put(asio::buffer(pending), ec);
      pending.erase(0, used);
      if (ec && ec != http::error::need_more)
        return false;
      if (parser.is_done())
        return true;
      if (used > 0 && !ec)
        continue;
    }
    ec = {};
    const auto n = from.read_some(asio::buffer(bytes), ec);
    if (ec)
      return false;
    pending.append(bytes.data(), n);
    if (!see(std::string_view{bytes.data(), n}))
      return false;
  }
}

std::string name_of_peer(SSL* native) {
  char name[256] = {};
  if (X509* shown = SSL_get0_peer_certificate(native))
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
  return name;
}

std::string text_of(const http::request<http::string_body>& x) {
  auto out = fmt::format("{} {} HTTP/1.1\r\n", std::string_view{x.method_string()},
                         std::string_view{x.target()});
  for (const auto& field : x)
    out += fmt::format("{}: {}\r\n", std::string_view{field.name_string()},
                       std::string_view{field.value()});
  return out + "\r\n" + x.body();
}

} // namespace

class tls_server::inside {
public:
  explicit inside(options how)
      : how_(std::move(how)), context_(ssl::context::tls_server),
        acceptor_(io_, {asio::ip::address_v4::loopback(), 0}) {
    context_.use_certificate_chain(asio::buffer(how_.identity.certificate));
    context_.use_private_key(asio::buffer(how_.identity.key), ssl::context::pem);
    if (!how_.client_authority.empty()) {
      context_.add_certificate_authority(asio::buffer(how_.client_authority));
      context_.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    }
    if (how_.is_old) {
      SSL_CTX_set_security_level(context_.native_handle(), 0);
      SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_VERSION);
      SSL_CTX_set_max_proto_version(context_.native_handle(), TLS1_1_VERSION);
    }
    thread_ = std::thread{[this] { accept(); }};
  }

  ~inside() {
    is_over_ = true;
    {
      error_code ignored;
      tcp::socket wake{io_}; // a blocking accept ends by being served
      wake.connect(acceptor_.local_endpoint(), ignored);
    }
    thread_.join();
    {
      const std::lock_guard lock{mutex_};
      for (auto& x : links_)
        x->cut();
    }
    for (auto& x : threads_)
      x.join();
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  std::atomic<int> handshakes{0};
  std::atomic<int> requests{0};

private:
  struct link {
    link(asio::io_context& io, ssl::context& context) : client(io, context), server(io) {}
    ssl::stream<tcp::socket> client;
    tcp::socket server;
    void cut() {
      error_code ignored;
      client.next_layer().shutdown(tcp::socket::shutdown_both, ignored);
      server.shutdown(tcp::socket::shutdown_both, ignored);
    }
  };

  void accept() {
    while (!is_over_) {
      auto one = std::make_shared<link>(io_, context_);
      error_code ec;
      acceptor_.accept(one->client.next_layer(), ec);
      if (ec || is_over_)
        continue;
      const std::lock_guard lock{mutex_};
      links_.push_back(one);
      threads_.emplace_back([this, one] {
        serve(*one);
        const std::lock_guard cutting{mutex_};
        one->cut();
      });
    }
  }

  void serve(link& x) {
    error_code ec;
    x.client.handshake(ssl::stream_base::server, ec);
    if (ec)
      return;
    ++handshakes;
    if (how_.upstream != 0)
      x.server.connect({asio::ip::address_v4::loopback(), how_.upstream}, ec);
    std::string pending;
    std::string pending_up;
    while (!ec) {
      http::request_parser<http::string_body> request;
      request.eager(true);
      request.body_limit(boost::none);
      if (!read_message(x.client, request, pending, [](auto) { return true; }))
        return;
      ++requests;
      const auto& asked = request.get();
      const served seen{std::string{asked.method_string()}, std::string{asked.target()},
                        std::string{asked[http::field::host]},
                        std::string{asked[http::field::authorization]},
                        name_of_peer(x.client.native_handle())};
      const auto own = how_.answer ? how_.answer(seen) : std::string{};
      if (!own.empty()) {
        asio::write(x.client, asio::buffer(own), ec);
        continue;
      }
      asio::write(x.server, asio::buffer(text_of(asked)), ec);
      http::response_parser<http::string_body> response;
      response.eager(true);
      response.body_limit(boost::none);
      const auto pass_on = [&x](std::string_view bytes) {
        error_code failed;
        asio::write(x.client, asio::buffer(bytes), failed);
        return !failed;
      };
      if (ec || !read_message(x.server, response, pending_up, pass_on))
        return;
    }
  }

  const options how_;
  asio::io_context io_;
  ssl::context context_;
  tcp::acceptor acceptor_;
  std::atomic<bool> is_over_{false};
  std::mutex mutex_; // guards the lists
  std::list<std::shared_ptr<link>> links_;
  std::list<std::thread> threads_;
  std::thread thread_;
};

tls_server::tls_server(options how) : in_(std::make_unique<inside>(std::move(how))) {}

tls_server::~tls_server() = default;

std::uint16_t tls_server::port() const {
  return in_->port();
}

int tls_server::handshakes() const {
  return in_->handshakes;
}

int tls_server::requests() const {
  return in_->requests;
}

std::string http_answer(int status, const std::string& body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

} // namespace tutti::testing_tls
