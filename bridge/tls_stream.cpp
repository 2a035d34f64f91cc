// TLS over TCP behind the byte stream: no byte of ours before the server has shown who it is.
#include "bridge/tls_stream.hpp"

#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/core.h>
#include <openssl/x509v3.h>

#include "bridge/http_client.hpp"
#include "bridge/stream_io.hpp"
#include "bridge/tcp_connect.hpp"
#include "bridge/tls_refusal.hpp"

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using boost::system::error_code;

// Go, which most servers and clients of Kubernetes are written in, looks at alternative names only.
constexpr unsigned name_flags =
    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;

class tls_stream final : public tls_byte_stream, public std::enable_shared_from_this<tls_stream> {
public:
  tls_stream(tcp::socket socket, tls_context_ptr context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  /// The certificate must be for `name`, and the server is told it if it is no address. False if
  /// OpenSSL does not take the name.
  bool expect(const std::string& name) {
    auto* native = stream_.native_handle();
    error_code no_address;
    asio::ip::make_address(name, no_address);
    auto* check = SSL_get0_param(native);
    X509_VERIFY_PARAM_set_hostflags(check, name_flags);
    if (!no_address)
      return X509_VERIFY_PARAM_set1_ip_asc(check, name.c_str()) == 1;
    return SSL_set_tlsext_host_name(native, name.c_str()) == 1
           && X509_VERIFY_PARAM_set1_host(check, name.c_str(), name.size()) == 1;
  }

  /// Says hello within `patience`; `expected` is for the words of an error.
  asio::awaitable<base::result<void>> shake_hands(ssl::stream_base::handshake_type side,
                                                  base::duration patience, std::string expected,
                                                  bool verifies) {
    // Shared with callbacks that may outlive the wait.
    struct progress {
      chain_fault fault;
      bool is_late = false;
    };
    auto seen = std::make_shared<progress>();
    error_code ignored;
    if (verifies)
      stream_.set_verify_callback(
          [seen](bool is_fine, ssl::verify_context& context) {
            if (!is_fine && seen->fault.what == X509_V_OK)
              seen->fault = fault_in(context.native_handle());
            return is_fine;
          },
          ignored);
    asio::steady_timer limit{stream_.get_executor(),
                             std::chrono::ceil<std::chrono::milliseconds>(patience)};
    limit.async_wait([seen, me = weak_from_this()](const error_code& ec) {
      const auto still = me.lock();
      if (ec || !still)
        return;
      seen->is_late = true;
      still->close();
    });
    const auto [failed] = co_await stream_.async_handshake(side, without_exceptions);
    limit.cancel();
    if (!failed)
      co_return base::result<void>{};
    if (seen->is_late)
      co_return base::error{base::code::unavailable, "no end of the TLS handshake in time",
                            "look what is behind this address"};
    co_return handshake_refusal(failed, seen->fault, expected);
  }

  bool is_peer_for(const std::string& name) const override {
    const std::unique_ptr<X509, decltype(&X509_free)> shown{SSL_get1_peer_certificate(native()),
                                                            X509_free};
    return shown
           && (X509_check_host(shown.get(), name.data(), name.size(), name_flags, nullptr) == 1
               || X509_check_ip_asc(shown.get(), name.c_str(), 0) == 1);
  }
  asio::awaitable<base::result<std::size_t>> read_some(asio::mutable_buffer into) override {
    return read_some_of<broken_stream>(stream_, into);
  }
  asio::awaitable<base::result<void>> write_all(asio::const_buffer bytes) override {
    return write_all_to<broken_stream>(stream_, bytes);
  }
  /// Without TLS's farewell: nobody waits for the peer's.
  void close() noexcept override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

private:
  /// Asio's own is not const.
  SSL* native() const { return const_cast<ssl::stream<tcp::socket>&>(stream_).native_handle(); }

  tls_context_ptr context_;
  ssl::stream<tcp::socket> stream_;
};

class tls_connector final : public connector {
public:
  explicit tls_connector(tcp_target target) : target_(std::move(target)) {}

  asio::awaitable<base::result<byte_stream_ptr>> connect(asio::any_io_executor where,
                                                         identity_ptr who) override {
    const auto context = context_for(who);
    if (!context)
      co_return context.error();
    const auto material = material_; // others may come with another while we wait
    auto socket = co_await tcp_connect(where, target_);
    if (!socket)
      co_return socket.error();
    const auto& name = material->server_name.empty() ? target_.host : material->server_name;
    auto stream = co_await tls_dial(std::move(*socket), *context, name, target_.patience,
                                    !material->skips_verification);
    if (!stream)
      co_return stream.error();
    co_return byte_stream_ptr{std::move(*stream)};
  }

private:
  /// One context as long as the material is the same.
  base::result<tls_context_ptr> context_for(const identity_ptr& who) {
    static const auto nothing_special = std::make_shared<const tls_material>();
    const auto wanted = who && who->tls ? who->tls : nothing_special;
    if (context_ && wanted == material_)
      return context_;
    auto made = make_tls_context(*wanted);
    if (!made)
      return made.error();
    material_ = wanted;
    context_ = *made;
    return context_;
  }

  tcp_target target_;
  std::shared_ptr<const tls_material> material_;
  tls_context_ptr context_;
};

} // namespace

asio::awaitable<base::result<tls_byte_stream_ptr>>
tls_dial(tcp::socket socket, tls_context_ptr context, std::string name, base::duration patience,
         bool verifies) {
  auto stream = std::make_shared<tls_stream>(std::move(socket), std::move(context));
  if (!stream->expect(name))
    co_return base::error{base::code::bad_input, fmt::format("\"{}\" is no name of a server", name),
                          "write a host name or an address"};
  if (auto ok = co_await stream->shake_hands(ssl::stream_base::client, patience, name, verifies);
      !ok)
    co_return ok.error();
  co_return tls_byte_stream_ptr{std::move(stream)};
}

asio::awaitable<base::result<tls_byte_stream_ptr>>
tls_accept(tcp::socket socket, tls_context_ptr context, base::duration patience) {
  auto stream = std::make_shared<tls_stream>(std::move(socket), std::move(context));
  const std::string nobody; // what has no name is copied byte by byte by g++ 12
  if (auto ok = co_await stream->shake_hands(ssl::stream_base::server, patience, nobody, true); !ok)
    co_return ok.error();
  co_return tls_byte_stream_ptr{std::move(stream)};
}

connector_ptr connect_by_tls(tcp_target where) {
  return std::make_shared<tls_connector>(std::move(where));
}

} // namespace tutti::bridge
