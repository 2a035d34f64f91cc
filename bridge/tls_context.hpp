// OpenSSL's side of a TLS connection: contexts from PEM texts, and failures in words.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "bridge/identity.hpp"

namespace boost::asio::ssl {
class context;
}

namespace tutti::bridge {

using tls_context_ptr = std::shared_ptr<boost::asio::ssl::context>;

/// TLS 1.2 at least, HTTP/1.1, and peers checked against the material's authorities unless it says
/// otherwise. `bad_input`, with the text's place and the cure, for PEM that is none, a key that
/// does not belong to its certificate, or what needs a password: nobody is asked for one.
base::result<tls_context_ptr> make_tls_context(const tls_material& material);

/// The same for links between replicas, either side: TLS 1.3, and both sides show a certificate of
/// the material's authorities. `bad_input` also if one of the three texts is missing.
base::result<tls_context_ptr> make_link_context(const tls_material& material);

/// What `make_tls_context` would say.
base::result<void> check_tls_material(const tls_material& material);

} // namespace tutti::bridge
