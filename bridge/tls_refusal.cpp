#include "bridge/tls_refusal.hpp"

#include <ctime>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509v3.h>

#include "api/timestamp.hpp"
#include "bridge/printable.hpp"
#include "bridge/tcp_connect.hpp"

namespace tutti::bridge {
namespace {

namespace asio = boost::asio;
using base::code;
using base::error;

/// Of a certificate with hundreds of names as many are said.
constexpr std::size_t names_max = 8;
/// No name of DNS is longer.
constexpr std::size_t name_bytes_max = 253;

std::string name_text(const X509_NAME* name) {
  char text[256] = {};
  X509_NAME_oneline(name, text, sizeof text);
  return text;
}

std::string time_text(const ASN1_TIME* when) {
  std::tm parts{};
  if (when == nullptr || ASN1_TIME_to_tm(when, &parts) != 1)
    return "?";
  return api::timestamp_text({static_cast<std::int64_t>(::timegm(&parts)) * 1000});
}

/// OpenSSL takes an address of any length.
std::string address_text(const ASN1_OCTET_STRING* bytes) {
  constexpr int ipv4_bytes = 4;
  constexpr int ipv6_bytes = 16;
  const int size = ASN1_STRING_length(bytes);
  if (size != ipv4_bytes && size != ipv6_bytes)
    return "an address of no kind";
  char text[INET6_ADDRSTRLEN] = {};
  const int family = size == ipv4_bytes ? AF_INET : AF_INET6;
  ::inet_ntop(family, ASN1_STRING_get0_data(bytes), text, sizeof text);
  return text;
}

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

/// The DNS names and addresses that a certificate is for.
std::string names_in(const X509* certificate) {
  std::vector<std::string> names;
  auto* all = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  const auto size = static_cast<std::size_t>(all == nullptr ? 0 : sk_GENERAL_NAME_num(all));
  for (std::size_t i = 0; i < size && i < names_max; ++i) {
    const auto* one = sk_GENERAL_NAME_value(all, static_cast<int>(i));
    if (one->type == GEN_DNS)
      names.push_back(printable(bytes_of(one->d.dNSName), name_bytes_max));
    else if (one->type == GEN_IPADD)
      names.push_back(address_text(one->d.iPAddress));
  }
  GENERAL_NAMES_free(all);
  if (size > names_max)
    names.push_back("…");
  return names.empty() ? "no name at all" : fmt::format("{}", fmt::join(names, ", "));
}

std::string detail_of(int what, const X509* certificate) {
  switch (what) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return time_text(X509_get0_notAfter(certificate));
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return time_text(X509_get0_notBefore(certificate));
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return names_in(certificate);
  default:
    return name_text(X509_get_issuer_name(certificate));
  }
}

/// The server's certificate is not one that we may believe.
error untrusted(const chain_fault& fault, const std::string& expected) {
  const auto say = [](std::string what, std::string hint) {
    return error{code::bad_input, std::move(what), std::move(hint)};
  };
  switch (fault.what) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
    return say("the certificate has expired at " + fault.detail,
               "renew the server's certificate; if it is valid, set the clock of this machine");
  case X509_V_ERR_CERT_NOT_YET_VALID:
    return say("the certificate is not valid before " + fault.detail,
               "set the clocks of this machine and of the server");
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    return say(fmt::format("the certificate is for {}, not for {}", fault.detail, expected),
               "call the server by a name that is in its certificate, or name one of those as "
               "tls-server-name in the kubeconfig");
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    return say("the certificate was issued by an unknown authority: " + fault.detail,
               "name the cluster's certificate-authority in the kubeconfig; if it is there, it is "
               "another cluster's");
  default:
    return say(fmt::format("the certificate is not accepted: {} ({})",
                           X509_verify_cert_error_string(fault.what), fault.detail),
               "let the server have a certificate of the cluster's authority");
  }
}

/// What the server said before it hung up; nothing if it is about other things than us.
std::optional<error> alert(int reason) {
  const auto say = [](std::string what) {
    return error{code::bad_input, std::move(what),
                 "give the user of the kubeconfig a client-certificate and client-key that this "
                 "cluster's authority has issued"};
  };
  switch (reason) {
  case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    return say("the server wants a client certificate");
  case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
    return say("the server refuses the handshake: most often it wants a client certificate");
  case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    return say("the server says that our client certificate has expired");
  case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
  case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
  case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
  case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    return say("the server does not accept our client certificate");
  default:
    return std::nullopt;
  }
}

bool is_ssl(const boost::system::error_code& ec) {
  return ec.category() == asio::error::get_ssl_category();
}

int reason_of(const boost::system::error_code& ec) {
  return ERR_GET_REASON(static_cast<unsigned long>(ec.value()));
}

} // namespace

chain_fault fault_in(X509_STORE_CTX* context) {
  chain_fault out;
  out.what = X509_STORE_CTX_get_error(context);
  if (const auto* certificate = X509_STORE_CTX_get_current_cert(context))
    out.detail = detail_of(out.what, certificate);
  return out;
}

error handshake_refusal(const boost::system::error_code& ec, const chain_fault& fault,
                        const std::string& expected) {
  if (fault.what != X509_V_OK)
    return untrusted(fault, expected);
  if (is_ssl(ec)) {
    const int reason = reason_of(ec);
    if (auto said = alert(reason))
      return *said;
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST)
      return {code::bad_input, "no TLS is spoken there",
              "look at the port; a server that speaks plain HTTP is called http://"};
    if (reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION || reason == SSL_R_UNSUPPORTED_PROTOCOL)
      return {code::bad_input, "the server speaks neither TLS 1.2 nor 1.3", "upgrade the server"};
  }
  if (ec == asio::error::eof || ec == asio::ssl::error::stream_truncated
      || ec == asio::error::connection_reset)
    return {code::unavailable, "the connection was closed in the TLS handshake",
            "look whether a Kubernetes API server is behind this address, and its log"};
  return {code::unavailable, "the TLS handshake failed: " + ec.message(),
          "look at the server's log"};
}

error broken_stream(const boost::system::error_code& ec) {
  if (is_ssl(ec))
    if (auto said = alert(reason_of(ec)))
      return *said;
  if (ec == asio::ssl::error::stream_truncated)
    return {code::unavailable, "the connection was cut"};
  return lost(ec);
}

} // namespace tutti::bridge
