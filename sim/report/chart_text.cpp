// Words and numbers of the pictures.
#include <cmath>

#include <fmt/format.h>

#include "sim/report/chart.hpp"

namespace tutti::sim::report {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
    }
  return out;
}

std::string number_text(double x) {
  const auto size = std::abs(x);
  if (size != 0 && size < 10 && x != std::floor(x))
    return fmt::format("{:.2g}", x);
  if (size < 1'000 && x != std::floor(x))
    return fmt::format("{:.1f}", x);
  const auto digits = fmt::format("{:.0f}", size);
  std::string out = x < 0 ? "-" : "";
  for (std::size_t n = 0; n < digits.size(); ++n) {
    if (n > 0 && (digits.size() - n) % 3 == 0)
      out += ',';
    out += digits[n];
  }
  return out;
}

std::string span_text(double seconds) {
  const auto s = static_cast<std::int64_t>(std::llround(seconds));
  if (seconds < 0.0995)
    return fmt::format("{:.0f} ms", seconds * 1'000);
  if (seconds < 9.95)
    return fmt::format("{:.1f} s", seconds);
  if (s < 60)
    return fmt::format("{} s", s);
  if (s < 3'600)
    return s % 60 == 0 ? fmt::format("{} min", s / 60) : fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86'400)
    return s / 60 % 60 == 0 ? fmt::format("{} h", s / 3'600)
                            : fmt::format("{} h {} min", s / 3'600, s / 60 % 60);
  return s / 3'600 % 24 == 0 ? fmt::format("{} d", s / 86'400)
                             : fmt::format("{} d {} h", s / 86'400, s / 3'600 % 24);
}

} // namespace tutti::sim::report
