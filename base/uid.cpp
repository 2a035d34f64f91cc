// Hexadecimal digits in and out; everything that is not exactly what we would print stays text.
#include "base/uid.hpp"

#include <array>
#include <utility>

#include "base/hash.hpp"

namespace tutti::base {
namespace {

constexpr std::size_t text_size = 36;
constexpr std::string_view digits = "0123456789abcdef";
constexpr std::uint8_t no_digit = 16;

/// The value of each character as a digit: a table of thousands of pods is filled by them.
constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> out{};
  out.fill(no_digit);
  for (std::uint8_t i = 0; i < digits.size(); ++i)
    out[static_cast<unsigned char>(digits[i])] = i;
  return out;
}();

constexpr bool is_dash(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

/// Both halves of "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"; false if `text` is not of this form.
bool parse(std::string_view text, std::uint64_t (&halves)[2]) {
  if (text.size() != text_size)
    return false;
  std::size_t count = 0;
  for (std::size_t i = 0; i < text_size; ++i) {
    if (is_dash(i)) {
      if (text[i] != '-')
        return false;
      continue;
    }
    const std::uint64_t digit = values[static_cast<unsigned char>(text[i])];
    if (digit == no_digit)
      return false;
    auto& half = halves[count++ / 16];
    half = half << 4 | digit;
  }
  return true;
}

} // namespace

packed_uid::packed_uid(std::string_view text) {
  std::uint64_t halves[2] = {};
  if (parse(text, halves) && halves[1] >> 62 == variant) {
    high_ = halves[0];
    low_ = halves[1];
  } else if (!text.empty()) {
    text_ = new std::string{text};
  }
}

packed_uid::packed_uid(const packed_uid& x) : low_(x.low_) {
  if (x.is_packed())
    high_ = x.high_;
  else
    text_ = x.text_ == nullptr ? nullptr : new std::string{*x.text_};
}

packed_uid::packed_uid(packed_uid&& x) noexcept : low_(std::exchange(x.low_, 0)) {
  if (is_packed())
    high_ = x.high_;
  else
    text_ = x.text_;
  x.text_ = nullptr;
}

packed_uid& packed_uid::operator=(packed_uid x) noexcept {
  if (!is_packed())
    delete text_;
  low_ = std::exchange(x.low_, 0);
  if (is_packed())
    high_ = x.high_;
  else
    text_ = x.text_;
  x.text_ = nullptr;
  return *this;
}

packed_uid::~packed_uid() {
  if (!is_packed())
    delete text_;
}

std::string packed_uid::text() const {
  if (!is_packed())
    return text_ == nullptr ? std::string{} : *text_;
  std::string out(text_size, '-');
  std::size_t count = 0;
  for (std::size_t i = 0; i < text_size; ++i)
    if (!is_dash(i)) {
      const auto half = count < 16 ? high_ : low_;
      out[i] = digits[half >> (60 - 4 * (count % 16)) & 15];
      ++count;
    }
  return out;
}

std::size_t packed_uid::hash() const {
  if (is_packed())
    return hash_combine(high_, low_);
  return text_ == nullptr ? 0 : hash_of(*text_);
}

bool operator==(const packed_uid& x, const packed_uid& y) {
  if (x.is_packed() != y.is_packed())
    return false;
  if (x.is_packed())
    return x.high_ == y.high_ && x.low_ == y.low_;
  return x.empty() || y.empty() ? x.empty() == y.empty() : *x.text_ == *y.text_;
}

/// Digits are in the order of their values, and dashes stand at the same places.
std::strong_ordering operator<=>(const packed_uid& x, const packed_uid& y) {
  if (!x.is_packed() || !y.is_packed())
    return x.text() <=> y.text();
  const auto by_high = x.high_ <=> y.high_;
  return by_high != 0 ? by_high : x.low_ <=> y.low_;
}

} // namespace tutti::base
