#include "bridge/tls_context.hpp"

#include <string_view>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using text = tls_material::text;

base::error wrong(const text& x, std::string_view what, std::string hint) {
  ERR_clear_error();
  return {base::code::bad_input, fmt::format("{}: {}", x.place, what), std::move(hint)};
}

struct frees {
  void operator()(X509* x) const { X509_free(x); }
  void operator()(BIO* x) const { BIO_free(x); }
};

/// Instead of OpenSSL's own, which asks on the terminal: notes that a password was wanted.
int refuse_password(char*, int, int, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

base::error locked(const text& x) {
  return wrong(x, "holds a certificate that is locked with a password",
               "store it without one: `openssl x509 -in OLD -out NEW`");
}

/// Each certificate is one that we trust, also one that is signed by another: so does Go, and so
/// kubeconfigs are written. `X509_V_FLAG_PARTIAL_CHAIN` says that to OpenSSL.
base::result<void> trust(SSL_CTX* context, const text& authorities) {
  auto* store = SSL_CTX_get_cert_store(context);
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  const std::unique_ptr<BIO, frees> in{
      BIO_new_mem_buf(authorities.pem.data(), static_cast<int>(authorities.pem.size()))};
  std::size_t found = 0;
  bool was_asked = false;
  for (;;) {
    const std::unique_ptr<X509, frees> one{
        PEM_read_bio_X509(in.get(), nullptr, refuse_password, &was_asked)};
    if (!one)
      break;
    X509_STORE_add_cert(store, one.get()); // one that is there twice is no error
    ++found;
  }
  if (was_asked)
    return locked(authorities);
  const bool is_at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (found == 0 || !is_at_end)
    return wrong(authorities, found == 0 ? "holds no certificate" : "holds a damaged certificate",
                 "it must hold certificates in PEM, -----BEGIN CERTIFICATE-----");
  ERR_clear_error();
  return {};
}

base::result<void> show(ssl::context& context, const text& certificate, const text& key) {
  error_code ec;
  // Without this OpenSSL asks for a password on the terminal.
  bool was_asked = false;
  context.set_password_callback(
      [&was_asked](std::size_t, ssl::context::password_purpose) {
        was_asked = true;
        return std::string{};
      },
      ec);
  context.use_certificate_chain(asio::buffer(certificate.pem), ec);
  if (was_asked)
    return locked(certificate);
  if (ec)
    return wrong(certificate, "holds no certificate",
                 "it must hold a certificate in PEM, -----BEGIN CERTIFICATE-----");
  context.use_private_key(asio::buffer(key.pem), ssl::context::pem, ec);
  const bool is_other = ec && ERR_GET_REASON(ec.value()) == X509_R_KEY_VALUES_MISMATCH;
  if (was_asked)
    return wrong(key, "needs a password",
                 "store the key without one: `openssl pkey -in OLD -out NEW`");
  if (ec && !is_other)
    return wrong(key, "holds no private key", "it must hold a key in PEM, -----BEGIN … KEY-----");
  if (is_other || SSL_CTX_check_private_key(context.native_handle()) != 1)
    return wrong(key, "belongs to another certificate than the one beside it",
                 "give the two that were made together");
  context.set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string{}; }, ec);
  return {};
}

} // namespace

base::result<tls_context_ptr> make_tls_context(const tls_material& material) {
  auto out = std::make_shared<ssl::context>(ssl::context::tls_client);
  auto* native = out->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  constexpr unsigned char protocols[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(native, protocols, sizeof protocols - 1);
  error_code ec;
  if (!material.authorities.pem.empty()) {
    if (auto ok = trust(native, material.authorities); !ok)
      return ok.error();
  } else {
    out->set_default_verify_paths(ec);
  }
  out->set_verify_mode(material.skips_verification ? ssl::verify_none : ssl::verify_peer, ec);
  if (!material.certificate.pem.empty())
    if (auto ok = show(*out, material.certificate, material.key); !ok)
      return ok.error();
  return out;
}

base::result<tls_context_ptr> make_link_context(const tls_material& material) {
  for (const auto* needed : {&material.authorities, &material.certificate, &material.key})
    if (needed->pem.empty())
      return wrong(*needed, "is empty", "a link needs a certificate, its key and an authority");
  auto out = std::make_shared<ssl::context>(ssl::context::tls);
  auto* native = out->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  // Nobody comes back to a session: a certificate that was taken away would live on in it.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  error_code ec;
  out->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, ec);
  if (auto ok = trust(native, material.authorities); !ok)
    return ok.error();
  if (auto ok = show(*out, material.certificate, material.key); !ok)
    return ok.error();
  return out;
}

base::result<void> check_tls_material(const tls_material& material) {
  auto made = make_tls_context(material);
  return made ? base::result<void>{} : made.error();
}

} // namespace tutti::bridge
