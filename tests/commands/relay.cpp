// Plain blocking sockets, two threads per connection: enough for one scheduler.
#include "relay.hpp"

#include <array>
#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/core.h>

namespace tutti::commands {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr std::string_view pods = "/api/v1/namespaces/default/pods/";

/// "NAME", or "NAME/binding", of the pod that a request is about; empty if it is about none.
std::string pod_path(std::string_view target) {
  if (!target.starts_with(pods))
    return {};
  const auto rest = target.substr(pods.size());
  return std::string{rest.substr(0, rest.find('?'))};
}

} // namespace

void relay::link::cut() {
  error_code ignored;
  client.shutdown(socket::shutdown_both, ignored);
  server.shutdown(socket::shutdown_both, ignored);
}

relay::relay(std::uint16_t api_port)
    : api_port_(api_port), listener_(io_, {asio::ip::address_v4::loopback(), 0}),
      acceptor_([this] { accept(); }) {}

relay::~relay() {
  is_over_ = true;
  {
    error_code ignored;
    socket wake{io_}; // a blocking accept ends by being served
    wake.connect(listener_.local_endpoint(), ignored);
  }
  acceptor_.join();
  for (const auto& x : links_)
    x->cut();
  for (auto& t : threads_)
    t.join();
}

std::string relay::address() const {
  return fmt::format("127.0.0.1:{}", listener_.local_endpoint().port());
}

std::size_t relay::kept() const {
  const std::lock_guard lock{mutex_};
  return kept_.size();
}

std::size_t relay::taken_late() const {
  const std::lock_guard lock{mutex_};
  return taken_late_;
}

void relay::accept() {
  while (!is_over_) {
    auto between = std::make_shared<link>(io_);
    error_code ec;
    listener_.accept(between->client, ec);
    if (!ec && !is_over_)
      between->server.connect({asio::ip::address_v4::loopback(), api_port_}, ec);
    if (ec || is_over_)
      continue;
    const std::lock_guard lock{mutex_};
    links_.push_back(between);
    threads_.emplace_back([this, between] { carry(*between); });
    threads_.emplace_back([this, between] { carry_back(*between); });
  }
}

void relay::carry(link& between) {
  boost::beast::flat_buffer buffer;
  for (;;) {
    request x;
    error_code ec;
    http::read(between.client, buffer, x, ec);
    if (ec)
      break;
    const auto about = pod_path({x.target().data(), x.target().size()});
    const auto slash = about.find('/');
    if (x.method() == http::verb::post && is_keeping_ && slash != about.npos
        && about.substr(slash) == "/binding") {
      const std::lock_guard lock{mutex_};
      kept_[about.substr(0, slash)] = std::move(x);
      break;
    }
    if (x.method() == http::verb::patch && slash == about.npos)
      deliver_late(about);
    http::write(between.server, x, ec);
    if (ec)
      break;
  }
  between.cut();
}

void relay::carry_back(link& between) {
  std::array<char, 16384> bytes;
  error_code ec;
  while (!ec) {
    const auto n = between.server.read_some(asio::buffer(bytes), ec);
    if (!ec)
      asio::write(between.client, asio::buffer(bytes, n), ec);
  }
  between.cut();
}

void relay::deliver_late(const std::string& pod) {
  const std::lock_guard lock{mutex_};
  auto mine = kept_.extract(pod);
  if (mine.empty())
    return;
  error_code ec;
  socket to{io_};
  to.connect({asio::ip::address_v4::loopback(), api_port_}, ec);
  if (!ec)
    http::write(to, mine.mapped(), ec);
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  if (!ec)
    http::read(to, buffer, answer, ec);
  taken_late_ += !ec && answer.result_int() == 201 ? 1 : 0;
}

} // namespace tutti::commands
