// Why a TLS connection failed, in words: whose certificate, what is wrong with it, what to do.
#pragma once

#include <string>

#include <boost/system/error_code.hpp>
#include <openssl/ssl.h>

#include "base/result.hpp"

namespace tutti::bridge {

/// What was found wrong with the server's chain first; filled while the handshake runs.
struct chain_fault {
  int what = 0;       ///< X509_V_ERR_…; 0 = nothing
  std::string detail; ///< names, a date, an issuer: what belongs to it
};

/// For the callback of a verification that failed: what the context says, and of which certificate.
chain_fault fault_in(X509_STORE_CTX* context);

/// The failed handshake as an error. `bad_input` where a human must mend something (certificates,
/// authorities, names), `unavailable` otherwise. `expected` is the name that the certificate had to
/// carry.
base::error handshake_refusal(const boost::system::error_code& ec, const chain_fault& fault,
                              const std::string& expected);

/// A read or write that failed later: under TLS 1.3 that is where a server refuses our certificate.
base::error broken_stream(const boost::system::error_code& ec);

} // namespace tutti::bridge
