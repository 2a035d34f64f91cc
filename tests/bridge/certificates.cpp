#include "certificates.hpp"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace tutti::testing_tls {
namespace {

constexpr long day_s = 24 * 3600;

struct frees {
  void operator()(X509* x) const { X509_free(x); }
  void operator()(EVP_PKEY* x) const { EVP_PKEY_free(x); }
  void operator()(BIO* x) const { BIO_free(x); }
  void operator()(X509_EXTENSION* x) const { X509_EXTENSION_free(x); }
};
template <class T>
using owned = std::unique_ptr<T, frees>;

void must(bool is_so, const char* what) {
  if (!is_so)
    throw std::runtime_error(fmt::format("OpenSSL: {}", what));
}

std::string text_of(BIO* from) {
  char* bytes = nullptr;
  const auto n = BIO_get_mem_data(from, &bytes);
  return {bytes, static_cast<std::size_t>(n)};
}

owned<BIO> buffer_of(const std::string& text) {
  return owned<BIO>{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

std::string pem_of(X509* x) {
  owned<BIO> out{BIO_new(BIO_s_mem())};
  must(PEM_write_bio_X509(out.get(), x) == 1, "cannot write a certificate");
  return text_of(out.get());
}

std::string pem_of(EVP_PKEY* x, const char* password = nullptr) {
  owned<BIO> out{BIO_new(BIO_s_mem())};
  const auto* cipher = password == nullptr ? nullptr : EVP_aes_256_cbc();
  must(PEM_write_bio_PKCS8PrivateKey(out.get(), x, cipher, password, password == nullptr ? 0 : 6,
                                     nullptr, nullptr)
           == 1,
       "cannot write a key");
  return text_of(out.get());
}

owned<EVP_PKEY> key_in(const std::string& pem) {
  owned<EVP_PKEY> out{PEM_read_bio_PrivateKey(buffer_of(pem).get(), nullptr, nullptr, nullptr)};
  must(out != nullptr, "cannot read a key");
  return out;
}

owned<X509> certificate_in(const std::string& pem) {
  owned<X509> out{PEM_read_bio_X509(buffer_of(pem).get(), nullptr, nullptr, nullptr)};
  must(out != nullptr, "cannot read a certificate");
  return out;
}

void extend(X509* x, X509V3_CTX* context, int what, const std::string& value) {
  owned<X509_EXTENSION> one{X509V3_EXT_conf_nid(nullptr, context, what, value.c_str())};
  must(one != nullptr, value.c_str());
  X509_add_ext(x, one.get(), -1);
}

/// `above` = null: signs itself.
certified make(const wish& w, bool is_authority, const certified* above) {
  owned<EVP_PKEY> key{EVP_EC_gen("P-256")};
  must(key != nullptr, "cannot make a key");
  owned<X509> x{X509_new()};
  X509_set_version(x.get(), X509_VERSION_3);
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(x.get()), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(x.get()), w.valid_from_days * day_s);
  X509_gmtime_adj(X509_getm_notAfter(x.get()), w.valid_to_days * day_s);
  X509_set_pubkey(x.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(w.common_name.c_str()), -1, -1,
                             0);
  const auto issuer = above ? certificate_in(above->certificate) : owned<X509>{};
  const auto issuer_key = above ? key_in(above->key) : owned<EVP_PKEY>{};
  X509_set_issuer_name(x.get(), X509_get_subject_name(issuer ? issuer.get() : x.get()));
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer ? issuer.get() : x.get(), x.get(), nullptr, nullptr, 0);
  extend(x.get(), &context, NID_basic_constraints,
         is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (is_authority)
    extend(x.get(), &context, NID_key_usage, "critical,keyCertSign,cRLSign");
  if (!w.names.empty())
    extend(x.get(), &context, NID_subject_alt_name, fmt::format("{}", fmt::join(w.names, ",")));
  if (!w.names_der.empty())
    extend(x.get(), &context, NID_subject_alt_name, "DER:" + w.names_der);
  must(X509_sign(x.get(), issuer_key ? issuer_key.get() : key.get(), EVP_sha256()) > 0,
       "cannot sign");
  return {pem_of(x.get()), pem_of(key.get())};
}

} // namespace

authority::authority(const std::string& name)
    : own_(make({.common_name = name, .valid_from_days = -400, .valid_to_days = 400}, true,
                nullptr)) {}

authority::authority(const std::string& name, const authority& above)
    : own_(make({.common_name = name}, true, &above.own_)) {}

certified authority::issue(const wish& for_whom) const {
  return make(for_whom, false, &own_);
}

certified self_signed(const wish& for_whom) {
  return make(for_whom, false, nullptr);
}

std::string with_password(const std::string& key) {
  return pem_of(key_in(key).get(), "secret");
}

} // namespace tutti::testing_tls
