// The address of an API server, taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tutti::bridge {

struct server_url {
  bool is_tls = false;
  std::string host; ///< a name or an address; IPv6 without brackets
  std::uint16_t port = 0;
  std::string path; ///< in front of every target: empty, or "/a/b" without a slash at its end

  friend bool operator==(const server_url&, const server_url&) = default;
};

/// Reads "https://HOST[:PORT][/PATH]", or with http; the port is the scheme's if none is there.
/// `bad_input` with a hint for anything else, in which no password is repeated.
base::result<server_url> parse_server_url(std::string_view text);

/// "HOST:PORT", IPv6 in brackets: what a Host header says.
std::string host_and_port(const server_url& where);
/// The whole URL again, its port written out.
std::string to_text(const server_url& where);

} // namespace tutti::bridge
