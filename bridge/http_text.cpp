// Writing a request by hand is four lines; a serializer would need the body in its own type.
#include "bridge/http_text.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

namespace tutti::bridge {

std::string request_text(const protocol::http_request& r, const request_headers& with) {
  auto text = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\nAccept: "
                          "application/json\r\n",
                          r.method, with.path, r.target, with.host, with.user_agent);
  if (!with.authorization.empty())
    text += fmt::format("Authorization: {}\r\n", with.authorization);
  if (!r.body.empty())
    text += fmt::format("Content-Type: {}\r\n",
                        r.content_type.empty() ? "application/json" : r.content_type.c_str());
  if (!r.body.empty() || r.method != "GET")
    text += fmt::format("Content-Length: {}\r\n", r.body.size());
  text += "\r\n";
  return text += r.body;
}

bool is_header_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

std::int64_t retry_after_ms(std::string_view value) {
  constexpr std::int64_t longest_s = 3600;
  std::int64_t seconds = 0;
  const auto* end = value.data() + value.size();
  const auto [rest, ec] = std::from_chars(value.data(), end, seconds);
  const bool is_number = ec == std::errc{} && rest == end && seconds > 0;
  return is_number ? std::min(seconds, longest_s) * 1000 : 0;
}

std::string escaped_query(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                          || c == '-' || c == '_' || c == '.' || c == '~';
    if (is_plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

} // namespace tutti::bridge
