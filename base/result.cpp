// Names of error codes, and what becomes of who asks an error for its value.
#include "base/result.hpp"

#include "base/ensure.hpp"

namespace tutti::base {

std::string_view name_of(code c) {
  switch (c) {
  case code::ok:
    return "ok";
  case code::bad_input:
    return "bad-input";
  case code::not_found:
    return "not-found";
  case code::already_exists:
    return "already-exists";
  case code::conflict:
    return "conflict";
  case code::out_of_range:
    return "out-of-range";
  case code::unavailable:
    return "unavailable";
  case code::unknown_outcome:
    return "unknown-outcome";
  case code::forbidden:
    return "forbidden";
  case code::locked:
    return "locked";
  case code::foreign:
    return "foreign";
  case code::corrupt:
    return "corrupt";
  case code::newer_format:
    return "newer-format";
  case code::io:
    return "io";
  case code::internal:
    return "internal";
  }
  return "?";
}

void throw_exception_from_error(const error& e, const boost::source_location& where) {
  detail::fail(fmt::format("{}:{}: value() of a failed result [{}] [{}]", where.file_name(),
                           where.line(), name_of(e.what()), e.message()));
}

} // namespace tutti::base
