// Reads and writes quantities exactly as the reference implementation does.
#include "api/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <boost/json/value.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/limits.hpp"
#include "base/trimmed.hpp"

namespace tutti::api {
namespace {

constexpr std::string_view wrong_format = "quantities must match the regular expression "
                                          "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view wrong_suffix = "unable to parse quantity's suffix";
constexpr std::string_view wrong_number = "unable to parse numeric part of quantity";

/// Finer amounts than this are rounded away from zero.
constexpr std::int64_t nano_scale = -9;
constexpr std::int64_t milli_scale = -3;
/// Digits that fit into the server's int64 whatever they are: longer numbers take its slow path.
constexpr std::int64_t fast_digits = 18;
constexpr std::int64_t fast_binary_digits = 15;
/// The server caps amounts with a binary suffix here.
constexpr std::string_view binary_max = "9223372036854775807";
/// Largest power of ten that has a suffix of its own.
constexpr std::int64_t largest_suffix_scale = 18;

struct suffix_meaning {
  quantity_format format;
  std::int64_t exponent; // of ten, or of two for binary_si
};

constexpr std::array decimal_suffixes{std::pair{"n", -9}, std::pair{"u", -6}, std::pair{"m", -3},
                                      std::pair{"", 0},   std::pair{"k", 3},  std::pair{"M", 6},
                                      std::pair{"G", 9},  std::pair{"T", 12}, std::pair{"P", 15},
                                      std::pair{"E", 18}};
constexpr std::array binary_suffixes{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<suffix_meaning> meaning_of(std::string_view suffix) {
  for (auto [text, exponent] : decimal_suffixes)
    if (suffix == text)
      return suffix_meaning{quantity_format::decimal_si, exponent};
  for (std::size_t i = 1; i < binary_suffixes.size(); ++i)
    if (suffix == binary_suffixes[i])
      return suffix_meaning{quantity_format::binary_si, 10 * static_cast<std::int64_t>(i)};
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E'))
    return std::nullopt;
  suffix.remove_prefix(1);
  if (suffix.front() == '+' && suffix.size() > 1 && is_digit(suffix[1]))
    suffix.remove_prefix(1);
  std::int64_t exponent = 0;
  auto [end, failure] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (failure != std::errc{} || end != suffix.data() + suffix.size())
    return std::nullopt;
  // The server keeps 32 bits of the exponent and drops the rest.
  return suffix_meaning{quantity_format::decimal_exponent, static_cast<std::int32_t>(exponent)};
}

/// The parts of a spelling, cut as the server's scanner cuts them.
struct spelling {
  bool is_negative = false;
  std::string_view whole;    // digits before the point without leading zeros; "0" if none are left
  std::string_view fraction; // digits behind the point
  std::string_view number;   // sign, digits and point
  std::string_view suffix;
};

std::optional<spelling> cut(std::string_view text) {
  spelling out;
  std::size_t pos = 0;
  auto skip = [&](auto&& while_true) {
    auto start = pos;
    while (pos < text.size() && while_true(text[pos]))
      ++pos;
    return text.substr(start, pos - start);
  };
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    out.is_negative = text[0] == '-';
    ++pos;
  }
  skip([](char c) { return c == '0'; });
  bool is_only_zeros = pos == text.size();
  out.whole = skip(is_digit);
  if (out.whole.empty())
    out.whole = "0";
  if (pos < text.size() && text[pos] == '.') {
    ++pos;
    out.fraction = skip(is_digit);
  }
  out.number = is_only_zeros ? std::string_view{"0"} : text.substr(0, pos);
  auto suffix_start = pos;
  skip([](char c) { return std::string_view{"eEinumkKMGTP"}.find(c) != std::string_view::npos; });
  if (pos < text.size() && (text[pos] == '-' || text[pos] == '+'))
    ++pos;
  skip(is_digit);
  if (pos != text.size())
    return std::nullopt;
  out.suffix = text.substr(suffix_start);
  return out;
}

void strip_zeros(std::string& digits, std::int64_t& scale) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (!digits.empty() && digits.back() == '0') {
    digits.pop_back();
    ++scale;
  }
  if (digits.empty())
    scale = 0;
}

void multiply(std::string& digits, int factor) {
  int carry = 0;
  for (auto pos = digits.rbegin(); pos != digits.rend(); ++pos) {
    int x = (*pos - '0') * factor + carry;
    *pos = static_cast<char>('0' + x % 10);
    carry = x / 10;
  }
  if (carry != 0)
    digits.insert(0, std::to_string(carry));
}

void add_one(std::string& digits) {
  for (auto pos = digits.rbegin(); pos != digits.rend(); ++pos) {
    if (*pos != '9') {
      ++*pos;
      return;
    }
    *pos = '0';
  }
  digits.insert(0, "1");
}

int compare_magnitude(const std::string& a, std::int64_t a_scale, const std::string& b,
                      std::int64_t b_scale) {
  if (a.empty() || b.empty())
    return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
  auto a_length = static_cast<std::int64_t>(a.size()) + a_scale;
  auto b_length = static_cast<std::int64_t>(b.size()) + b_scale;
  if (a_length != b_length)
    return a_length < b_length ? -1 : 1;
  // Both start at the same power of ten and end in a digit that is not zero.
  auto order = a.compare(b);
  return order == 0 ? 0 : (order < 0 ? -1 : 1);
}

} // namespace

/// Builds a quantity from its spelling: the number, how the server rounds it, and whether it keeps
/// the spelling.
class quantity_parser {
public:
  static base::result<quantity> parse(std::string_view text) {
    auto parts = text.empty() ? std::nullopt : cut(text);
    if (!parts)
      return base::error{base::code::bad_input, std::string{wrong_format}};
    auto meaning = meaning_of(parts->suffix);
    if (!meaning)
      return base::error{base::code::bad_input, std::string{wrong_suffix}};
    bool is_fast = takes_fast_path(*parts, *meaning);
    if (!is_fast && parts->number.find_first_of("0123456789") == std::string_view::npos)
      return base::error{base::code::bad_input, std::string{wrong_number}};

    quantity out;
    out.format_ = meaning->format;
    out.is_negative_ = parts->is_negative;
    out.digits_ = std::string{parts->whole} + std::string{parts->fraction};
    out.scale_ = -static_cast<std::int64_t>(parts->fraction.size());
    if (meaning->format == quantity_format::binary_si) {
      for (auto e = meaning->exponent; e > 0; e -= 10)
        multiply(out.digits_, 1024);
    } else {
      out.scale_ += meaning->exponent;
    }
    strip_zeros(out.digits_, out.scale_);
    out.round_up(nano_scale);
    if (meaning->format == quantity_format::binary_si)
      bound_binary(out);
    if (out.digits_.empty())
      out.is_negative_ = false;
    else if (is_fast && is_kept(*parts, *meaning))
      out.kept_ = text;
    return out;
  }

private:
  static bool takes_fast_path(const spelling& x, const suffix_meaning& meaning) {
    auto whole = static_cast<std::int64_t>(x.whole.size());
    auto fraction = static_cast<std::int64_t>(x.fraction.size());
    if (meaning.format == quantity_format::binary_si)
      return fraction == 0 && fast_binary_digits - whole - meaning.exponent / 10 * 3 - 1 >= 0;
    return whole + fraction <= fast_digits && meaning.exponent - fraction >= nano_scale;
  }

  /// The server takes these for canonical and gives them back as they came.
  static bool is_kept(const spelling& x, const suffix_meaning& meaning) {
    auto digits = std::string{x.whole} + std::string{x.fraction};
    if (meaning.format == quantity_format::binary_si)
      return std::stoll(digits) % 8 != 0; // at most 15 digits
    return (meaning.exponent - static_cast<std::int64_t>(x.fraction.size())) % 3 == 0
           && !digits.ends_with("000") && digits.front() != '0';
  }

  static void bound_binary(quantity& x) {
    if (compare_magnitude(x.digits_, x.scale_, std::string{binary_max}, 0) > 0) {
      x.digits_ = binary_max;
      x.scale_ = 0;
    }
    bool is_below_one = static_cast<std::int64_t>(x.digits_.size()) + x.scale_ <= 0;
    if (is_below_one && !x.digits_.empty())
      x.format_ = quantity_format::decimal_si;
  }
};

std::string quantity::text() const {
  if (!kept_.empty())
    return kept_;
  if (is_zero())
    return "0";
  auto sign = is_negative_ ? "-" : "";
  // Binary units can neither show fractions nor amounts below 1024.
  if (format_ == quantity_format::binary_si && scale_ >= 0) {
    auto whole = digits_ + std::string(static_cast<std::size_t>(scale_), '0');
    ensure(whole.size() <= binary_max.size(), whole);
    auto amount = std::stoull(whole);
    std::size_t unit = 0;
    while (amount >= 1024 && amount % 1024 == 0 && unit + 1 < binary_suffixes.size()) {
      amount /= 1024;
      ++unit;
    }
    if (unit > 0 || amount >= 1024)
      return fmt::format("{}{}{}", sign, amount, binary_suffixes[unit]);
  }
  auto exponent = scale_;
  auto digits = digits_;
  while (exponent % 3 != 0) {
    digits += '0';
    --exponent;
  }
  if (exponent == 0)
    return sign + digits;
  // Servers up to 1.37 lose the exponent of amounts like "1000E", which have no suffix. We write
  // them as later ones do.
  if (format_ != quantity_format::decimal_exponent && exponent <= largest_suffix_scale)
    for (auto [suffix, scale] : decimal_suffixes)
      if (scale == exponent)
        return sign + digits + suffix;
  return fmt::format("{}{}e{}", sign, digits, exponent);
}

quantity quantity::rounded_to_milli() const {
  auto out = *this;
  out.round_up(milli_scale);
  return out;
}

void quantity::round_up(std::int64_t smallest_scale) {
  if (is_zero() || scale_ >= smallest_scale)
    return;
  kept_.clear();
  // The last digit is not zero, so something is always lost and one is always added.
  auto drop = smallest_scale - scale_;
  if (drop >= static_cast<std::int64_t>(digits_.size())) {
    digits_ = "1";
  } else {
    digits_.resize(digits_.size() - static_cast<std::size_t>(drop));
    add_one(digits_);
  }
  scale_ = smallest_scale;
  strip_zeros(digits_, scale_);
  ensure(!digits_.empty());
}

std::int64_t quantity::scaled(std::int64_t target_scale) const {
  auto rounded = *this;
  rounded.round_up(target_scale);
  if (rounded.is_zero())
    return 0;
  auto zeros = rounded.scale_ - target_scale;
  auto length = static_cast<std::int64_t>(rounded.digits_.size()) + zeros;
  auto magnitude = base::limits::amount_max;
  if (length <= fast_digits)
    magnitude = std::min(magnitude,
                         static_cast<std::int64_t>(std::stoll(
                             rounded.digits_ + std::string(static_cast<std::size_t>(zeros), '0'))));
  else if (length == fast_digits + 1) // may still be below the limit, and always fits into uint64
    magnitude = static_cast<std::int64_t>(
        std::min(static_cast<unsigned long long>(magnitude),
                 std::stoull(rounded.digits_ + std::string(static_cast<std::size_t>(zeros), '0'))));
  return is_negative_ ? -magnitude : magnitude;
}

std::int64_t quantity::value() const {
  return scaled(0);
}

std::int64_t quantity::milli_value() const {
  return scaled(milli_scale);
}

int quantity::compare(const quantity& other) const {
  if (is_negative_ != other.is_negative_)
    return is_negative_ ? -1 : 1;
  auto order = compare_magnitude(digits_, scale_, other.digits_, other.scale_);
  return is_negative_ ? -order : order;
}

base::result<quantity> parse_quantity(std::string_view text) {
  return quantity_parser::parse(text);
}

base::result<quantity> quantity_of(const boost::json::value& json) {
  switch (json.kind()) {
  case boost::json::kind::null:
    return quantity{};
  case boost::json::kind::string:
    return parse_quantity(base::trimmed(json.get_string()));
  case boost::json::kind::int64:
    return parse_quantity(std::to_string(json.get_int64()));
  case boost::json::kind::uint64:
    return parse_quantity(std::to_string(json.get_uint64()));
  case boost::json::kind::double_:
    return parse_quantity(fmt::format("{}", json.get_double()));
  case boost::json::kind::bool_:
  case boost::json::kind::array:
  case boost::json::kind::object:
    break;
  }
  return base::error{base::code::bad_input, std::string{wrong_format}};
}

request_answer answer_to_request(std::string_view json_text) {
  if (json_text == "null")
    return {201, "0", {}};
  if (json_text.size() >= 2 && json_text.front() == '"' && json_text.back() == '"')
    json_text = json_text.substr(1, json_text.size() - 2);
  auto parsed = parse_quantity(base::trimmed(json_text));
  if (!parsed)
    return {400, {}, parsed.error().message()};
  auto stored = parsed->rounded_to_milli();
  if (stored.is_negative())
    return {
        422,
        {},
        fmt::format("Invalid value: \"{}\": must be greater than or equal to 0", stored.text())};
  return {201, stored.text(), {}};
}

} // namespace tutti::api
