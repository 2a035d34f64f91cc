// Text without the white space around it.
#pragma once

#include <string_view>

namespace tutti::base {

/// `text` without what of `white` stands at its begin and its end; a view into `text`.
constexpr std::string_view trimmed(std::string_view text, std::string_view white = " \t\n\v\f\r") {
  const auto first = text.find_first_not_of(white);
  if (first == text.npos)
    return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

} // namespace tutti::base
