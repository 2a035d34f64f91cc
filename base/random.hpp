// Randomness that repeats: whoever throws dice (the simulator, tests, benchmarks) draws from a
// named stream of one seed, so that the seed alone plays the whole run again. Roles throw none.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::base {

/// SplitMix64 (Steele, Lea, Flood 2014): turns any seed, 0 too, into well-mixed words. Every state
/// comes once in 2^64 steps.
class split_mix64 {
public:
  constexpr explicit split_mix64(std::uint64_t seed) : state_(seed) {}

  constexpr std::uint64_t next() {
    auto z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

private:
  std::uint64_t state_;
};

/// xoshiro256** 1.0 (Blackman, Vigna 2018): period 2^256 - 1.
class xoshiro256 {
public:
  using state = std::array<std::uint64_t, 4>;

  /// Not all words of `from` may be 0.
  constexpr explicit xoshiro256(const state& from) : s_(from) {}

  constexpr std::uint64_t next() {
    const auto out = std::rotl(s_[1] * 5, 7) * 9;
    const auto t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = std::rotl(s_[3], 45);
    return out;
  }

private:
  state s_;
};

/// One stream of dice. Its draws depend on the seed and on its names alone, never on what other
/// streams draw: a part of the program that begins to draw more leaves all others as they were.
/// The same on every machine and with every standard library, which the distributions of `<random>`
/// are not. Not for secrets. A copy draws what the original would have drawn.
class random_stream {
public:
  /// The stream called `name` of the run with this seed; any seed will do.
  constexpr explicit random_stream(std::uint64_t seed, std::string_view name = {})
      : key_(hash_combine(seed, hash_of(name))), words_(words_of(key_)) {}

  /// Any of 2^64 values.
  constexpr std::uint64_t next() { return words_.next(); }

  /// Any of 0 … n - 1, each as likely as any other; n is at least 1.
  constexpr std::uint64_t below(std::uint64_t n) {
    ensure(n > 0, "nothing to choose from");
    // The first 2^64 mod n values would make the smallest results more likely: they are thrown
    // away.
    const auto uneven = (0 - n) % n;
    auto x = next();
    while (x < uneven)
      x = next();
    return x % n;
  }

  /// Any of first … last, both included.
  constexpr std::uint64_t between(std::uint64_t first, std::uint64_t last) {
    ensure(first <= last, first, last);
    const auto more = last - first;
    return more == ~std::uint64_t{0} ? next() : first + below(more + 1);
  }

  /// True in `num` of `den` cases: never for 0, always from `den` on.
  constexpr bool chance(std::uint64_t num, std::uint64_t den) { return below(den) < num; }

  /// From 0 to below 1, in steps of 2^-53.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  /// Every order of `items` is as likely as any other.
  template <class List>
  constexpr void shuffle(List& items) {
    for (std::size_t left = items.size(); left > 1; --left)
      std::swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
  }

  /// The stream below this one with this name: the same, however much this one has drawn.
  constexpr random_stream fork(std::string_view name) const { return random_stream{key_, name}; }

private:
  static constexpr xoshiro256 words_of(std::uint64_t key) {
    split_mix64 fill{key};
    xoshiro256::state words{};
    for (auto& word : words)
      word = fill.next();
    return xoshiro256{words};
  }

  std::uint64_t key_; ///< of seed and names: what forks begin from
  xoshiro256 words_;
};

} // namespace tutti::base
