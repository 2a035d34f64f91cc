// Hashes that are the same in every process and on every run: they choose shards and jitter.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

namespace tutti::base {

/// Spreads the bits of `x` (the final mixer of MurmurHash3). Bijective.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// FNV-1a 64 over the bytes, then mixed.
constexpr std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : bytes) {
    h ^= static_cast<unsigned char>(c);
    h *= 0x100000001b3ULL;
  }
  return mix(h);
}

constexpr std::uint64_t hash_of(std::unsigned_integral auto x) {
  return mix(static_cast<std::uint64_t>(x) + 0x9e3779b97f4a7c15ULL);
}

constexpr std::uint64_t hash_combine(std::uint64_t a, std::uint64_t b) {
  return mix(a * 0x9e3779b97f4a7c15ULL + b);
}

} // namespace tutti::base
