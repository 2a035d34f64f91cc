// Amounts as Kubernetes writes them ("100m", "1.5Gi", "1e3"), read exactly as an API server does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "base/result.hpp"

namespace tutti::api {

/// How an amount was written, and so how the server writes it again.
enum class quantity_format : std::uint8_t { decimal_si, binary_si, decimal_exponent };

/// An exact decimal number of any size, and the text that an API server would store for it.
///
/// Servers keep at most nine decimals (rounded away from zero), cap binary units at 2^63-1, and
/// leave text alone that is canonical already ("+1", "007", "363.172E"): so does this. Made by
/// `parse_quantity`. A default one is "0". Never wraps.
class quantity {
public:
  quantity() = default;

  /// The canonical text: no fraction, the largest suffix that loses nothing; or the text as it was
  /// read where the server keeps it.
  std::string text() const;
  /// What a server stores for an entry of a request or limit: the same, rounded up to milli.
  quantity rounded_to_milli() const;

  bool is_zero() const { return digits_.empty(); }
  bool is_negative() const { return is_negative_; }
  /// True if there is no fraction. Extended resources must be whole.
  bool is_whole() const { return scale_ >= 0; }
  quantity_format format() const { return format_; }

  /// The amount in units and in thousandths, rounded away from zero and saturated at
  /// `limits::amount_max` on both sides.
  std::int64_t value() const;
  std::int64_t milli_value() const;

  /// Equal and ordered as numbers; format and spelling do not count.
  friend bool operator==(const quantity& a, const quantity& b) { return a.compare(b) == 0; }
  friend bool operator<(const quantity& a, const quantity& b) { return a.compare(b) < 0; }
  /// Below, at or above zero as *this is below, at or above `other`.
  int compare(const quantity& other) const;

private:
  friend class quantity_parser;

  std::int64_t scaled(std::int64_t target_scale) const;
  void round_up(std::int64_t smallest_scale);

  // (-1)^is_negative * digits * 10^scale; digits have no zero in front or behind, and are empty for
  // zero.
  std::string digits_;
  std::int64_t scale_ = 0;
  bool is_negative_ = false;
  quantity_format format_ = quantity_format::decimal_si;
  std::string kept_; // spelling that the server keeps; empty = write the canonical text
};

/// Reads `text` (no white space around it). `bad_input` with the server's own words if it is none.
base::result<quantity> parse_quantity(std::string_view text);

/// Reads a JSON value as servers do: a string is trimmed, null is zero, numbers are taken by their
/// text; anything else is `bad_input`.
base::result<quantity> quantity_of(const boost::json::value& json);

/// What an API server answers to one entry of a container's `resources.requests`.
struct request_answer {
  int status = 201;    ///< 201, 400 (no quantity) or 422 (negative)
  std::string stored;  ///< text that is stored; only with 201
  std::string message; ///< why not: the parser's words (400) or field error without its path (422)

  friend bool operator==(const request_answer&, const request_answer&) = default;
};
/// `json_text` is the entry as it stands in the request body: `"1Gi"`, `1.5`, `null`, `[]`.
request_answer answer_to_request(std::string_view json_text);

} // namespace tutti::api
