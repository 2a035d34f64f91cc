// Requests and headers of HTTP/1.1 as text: the same bytes whoever carries them, sockets or the
// simulated network.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/http.hpp"

namespace tutti::bridge {

/// Who asks, and whom.
struct request_headers {
  std::string_view host;
  std::string_view user_agent;
  std::string_view authorization; ///< the header's value; empty = none
  std::string_view path;          ///< in front of the target; empty = none
};

/// The whole request, head and body.
std::string request_text(const protocol::http_request& r, const request_headers& with);

/// A word that a header may carry: printable ASCII without blanks. With a line end the rest of it
/// would be headers of its own.
bool is_header_word(std::string_view text);
/// What is wrong with a token that is no such word.
inline constexpr std::string_view no_header_word =
    "has spaces, line ends or other characters in it that no token has";

/// The value of Retry-After, an hour at most; 0 if it is no whole number of seconds (dates are not
/// used by API servers).
std::int64_t retry_after_ms(std::string_view value);

/// For the value of a query: continue tokens are base64 with padding, whose letters are reserved.
std::string escaped_query(std::string_view text);

} // namespace tutti::bridge
