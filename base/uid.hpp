// Kubernetes uids in sixteen bytes, for tables that keep one per pod.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::base {

/// A uid as text takes eighty bytes: a string and 36 characters elsewhere on the heap. Nearly all
/// are the random UUIDs that API servers make, and those fit into sixteen. Any other text is kept
/// as it is, on the heap, so that nothing is assumed of uids but that they are usually UUIDs.
///
/// A value: equality and order are those of the texts.
class packed_uid {
public:
  packed_uid() = default; ///< of the empty text
  explicit packed_uid(std::string_view text);
  packed_uid(const packed_uid& x);
  packed_uid(packed_uid&& x) noexcept;
  packed_uid& operator=(packed_uid x) noexcept;
  ~packed_uid();

  /// Exactly what was packed.
  std::string text() const;
  bool empty() const { return low_ == 0 && text_ == nullptr; }
  std::size_t hash() const;

  friend bool operator==(const packed_uid& x, const packed_uid& y);
  friend std::strong_ordering operator<=>(const packed_uid& x, const packed_uid& y);

private:
  /// The variant of random UUIDs. Their lower half is never zero, which marks a text.
  static constexpr std::uint64_t variant = 2;
  bool is_packed() const { return low_ != 0; }

  union {
    const std::string* text_ = nullptr; ///< if `low_` is 0: owned; null = empty
    std::uint64_t high_;                ///< else
  };
  std::uint64_t low_ = 0;
};
static_assert(sizeof(packed_uid) == 16);

struct packed_uid_hash {
  std::size_t operator()(const packed_uid& x) const { return x.hash(); }
};

} // namespace tutti::base
