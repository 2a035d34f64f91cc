// Which of two versions of an object is the newer one.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/hash.hpp"

namespace tutti::bridge {

constexpr std::uint64_t opaque_bit = std::uint64_t{1} << 63;

/// Versions are numbers since Kubernetes 1.35, which lets old be told from new. Any other text is
/// only compared for equality: its hash with the highest bit set.
inline std::uint64_t version_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, number);
  const bool is_whole = ec == std::errc{} && rest == end && (number & opaque_bit) == 0;
  return is_whole ? number : base::hash_of(text) | opaque_bit;
}

/// The version can be told to be older or newer than others.
inline bool is_number(std::uint64_t version) {
  return (version & opaque_bit) == 0;
}

inline bool is_not_newer(std::uint64_t version, std::uint64_t known) {
  if (version == known)
    return true;
  return is_number(version) && is_number(known) && version < known;
}

} // namespace tutti::bridge
