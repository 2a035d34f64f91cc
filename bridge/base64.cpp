// Three bytes are four letters.
#include "bridge/base64.hpp"

#include <array>
#include <cstdint>

namespace tutti::bridge {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::uint8_t no_letter = 64;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> out{};
  out.fill(no_letter);
  for (std::size_t i = 0; i < letters.size(); ++i)
    out[static_cast<std::uint8_t>(letters[i])] = static_cast<std::uint8_t>(i);
  return out;
}
constexpr auto values = make_values();

std::uint32_t byte_at(std::string_view bytes, std::size_t i) {
  return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0u;
}

} // namespace

std::string to_base64(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  auto* to = out.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3, to += 4) {
    const auto three = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
    const auto left = bytes.size() - i;
    to[0] = letters[three >> 18 & 63];
    to[1] = letters[three >> 12 & 63];
    if (left > 1)
      to[2] = letters[three >> 6 & 63];
    if (left > 2)
      to[3] = letters[three & 63];
  }
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0)
    return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
    ++padding;
  std::string out(text.size() / 4 * 3, '\0');
  auto* to = out.data();
  std::uint32_t three = 0;
  for (std::size_t i = 0; i < text.size(); i += 4, to += 3) {
    three = 0;
    const bool is_last = i + 4 == text.size();
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_padding = is_last && k >= 4 - padding;
      const auto v = is_padding ? std::uint8_t{0} : values[static_cast<std::uint8_t>(text[i + k])];
      if (v == no_letter)
        return std::nullopt;
      three = three << 6 | v;
    }
    for (std::size_t k = 0; k < 3; ++k)
      to[k] = static_cast<char>(three >> (16 - 8 * k) & 255);
  }
  // What the last letter says beyond the last byte would be lost: such a text is no code of it.
  const auto beyond = three & ((1u << (8 * padding)) - 1);
  if (beyond != 0)
    return std::nullopt;
  out.resize(out.size() - padding);
  return out;
}

} // namespace tutti::bridge
