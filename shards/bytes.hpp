// The plainest bytes there are: numbers and texts in a row, sealed by a hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash.hpp"

namespace tutti::shards {

/// Writes numbers as eight bytes, least significant first, and texts as their length and bytes.
class byte_writer {
public:
  void put(std::uint64_t x) {
    for (int shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<char>((x >> shift) & 0xff));
  }
  void put(std::string_view x) {
    put(std::uint64_t{x.size()});
    bytes_.append(x);
  }
  /// All that was put, followed by its hash.
  std::string take_sealed() {
    put(base::hash_of(bytes_));
    return std::move(bytes_);
  }

private:
  std::string bytes_;
};

/// Reads the same back. Past the end it gives zeros and empty texts, and is not good any more.
class byte_reader {
public:
  explicit byte_reader(std::string_view bytes) : all_(bytes), rest_(bytes) {}

  std::uint64_t take_number() {
    if (rest_.size() < 8) {
      is_good_ = false;
      return 0;
    }
    const auto out = number_at(rest_);
    rest_.remove_prefix(8);
    return out;
  }
  std::string take_text() {
    const auto size = take_number();
    if (size > rest_.size()) {
      is_good_ = false;
      return {};
    }
    std::string out{rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return out;
  }

  bool is_good() const { return is_good_; }
  /// True if the bytes end with the hash of those before it.
  bool is_sealed() const {
    if (all_.size() < 8)
      return false;
    const auto body = all_.substr(0, all_.size() - 8);
    return number_at(all_.substr(body.size())) == base::hash_of(body);
  }

private:
  static std::uint64_t number_at(std::string_view bytes) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < 8; ++i)
      out |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return out;
  }

  std::string_view all_;
  std::string_view rest_;
  bool is_good_ = true;
};

} // namespace tutti::shards
