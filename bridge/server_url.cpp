#include "bridge/server_url.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <fmt/core.h>

#include "bridge/http_text.hpp"

namespace tutti::bridge {
namespace {

/// A text with a user, a query or a fragment in it is not repeated: there are passwords and tokens.
base::error wrong(std::string_view text, std::string_view what) {
  const bool may_be_secret = text.find_first_of("@?#") != text.npos;
  const auto shown = may_be_secret ? std::string{"it"} : fmt::format("\"{}\"", text);
  return {base::code::bad_input, fmt::format("{} {}", shown, what),
          "write https://HOST:PORT, for example https://10.0.0.1:6443"};
}

std::uint16_t port_of(const boost::urls::url_view& url, bool is_tls) {
  if (url.has_port() && !url.port().empty())
    return url.port_number();
  return is_tls ? 443 : 80;
}

} // namespace

base::result<server_url> parse_server_url(std::string_view text) {
  const auto url = boost::urls::parse_uri({text.data(), text.size()});
  if (!url || !url->has_authority() || url->encoded_host_address().empty())
    return wrong(text, "is no URL of a server");
  const bool is_tls = url->scheme_id() == boost::urls::scheme::https;
  if (!is_tls && url->scheme_id() != boost::urls::scheme::http)
    return wrong(text, "is neither https:// nor http://");
  if (url->has_userinfo() || url->has_query() || url->has_fragment())
    return wrong(text, "has more in it than a host, a port and a path");
  server_url out;
  out.is_tls = is_tls;
  out.host = url->host_address();
  if (!is_header_word(out.host)) // "%0d%0a" in it would begin a header of its own
    return wrong(text, "has a host that is no name and no address");
  out.port = port_of(*url, is_tls);
  out.path = std::string{url->encoded_path().data(), url->encoded_path().size()};
  const bool is_torn = !out.path.empty() && !out.path.starts_with('/'); // of "host:x" the x
  if (out.port == 0 || is_torn)
    return wrong(text, "has no valid port");
  while (out.path.ends_with('/'))
    out.path.pop_back();
  return out;
}

std::string host_and_port(const server_url& where) {
  const bool is_ipv6 = where.host.find(':') != where.host.npos;
  return is_ipv6 ? fmt::format("[{}]:{}", where.host, where.port)
                 : fmt::format("{}:{}", where.host, where.port);
}

std::string to_text(const server_url& where) {
  return fmt::format("{}://{}{}", where.is_tls ? "https" : "http", host_and_port(where),
                     where.path);
}

} // namespace tutti::bridge
