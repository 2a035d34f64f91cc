// Paths and queries taken apart.
#include "sim/api_server/request.hpp"

#include <charconv>

namespace tutti::sim::api_server {

namespace {

int hex(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

std::string decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0
               && hex(text[i + 2]) >= 0) {
      out += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

} // namespace

target::target(std::string_view text) {
  auto mark = text.find('?');
  path_ = text.substr(0, mark);
  auto rest = path_;
  while (!rest.empty()) {
    auto slash = rest.find('/');
    auto part = rest.substr(0, slash);
    if (!part.empty()) {
      if (count_ == parts_max)
        break; // names nothing of ours; one segment more or less changes no answer
      parts_[count_++] = part;
    }
    rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  }
  auto query = mark == std::string_view::npos ? std::string_view{} : text.substr(mark + 1);
  while (!query.empty()) {
    auto amp = query.find('&');
    auto one = query.substr(0, amp);
    auto equals = one.find('=');
    if (!one.empty())
      query_.emplace_back(decode(one.substr(0, equals)), equals == std::string_view::npos
                                                             ? std::string{}
                                                             : decode(one.substr(equals + 1)));
    query = amp == std::string_view::npos ? std::string_view{} : query.substr(amp + 1);
  }
}

std::string_view target::parameter(std::string_view name) const {
  for (const auto& [k, v] : query_)
    if (k == name)
      return v;
  return {};
}

std::optional<std::uint64_t> target::number(std::string_view name) const {
  auto text = parameter(name);
  std::uint64_t out = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || ec != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return out;
}

bool target::flag(std::string_view name) const {
  for (const auto& [k, v] : query_)
    if (k == name)
      return v.empty() || v == "true" || v == "1" || v == "True";
  return false;
}

} // namespace tutti::sim::api_server
