// Reads and judges the annotation.
#include "sim/api_server/run_for.hpp"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {

/// Null if the pod has none.
const json::value* given(const json::object& doc) {
  return look(doc, {"metadata", "annotations", run_for_annotation});
}

} // namespace

std::optional<base::duration> parse_duration(std::string_view text) {
  double total_ns = 0;
  while (!text.empty()) {
    std::string number{text.substr(0, text.find_first_not_of("0123456789."))};
    text.remove_prefix(number.size());
    auto unit = text.substr(0, text.find_first_of("0123456789."));
    text.remove_prefix(unit.size());
    char* end = nullptr;
    auto value = std::strtod(number.c_str(), &end);
    auto scale = unit == "ms"  ? 1e6
                 : unit == "s" ? 1e9
                 : unit == "m" ? 6e10
                 : unit == "h" ? 3.6e12
                               : 0.;
    if (number.empty() || *end != '\0' || scale == 0.)
      return std::nullopt;
    total_ns += value * scale;
  }
  constexpr double longest_ns = 3.6e12 * 24 * 365 * 100; // a century; int64 holds 292 years
  if (total_ns < 1 || total_ns > longest_ns)
    return std::nullopt;
  return base::duration{static_cast<base::duration::rep>(total_ns)};
}

std::optional<refusal> refuse_run_for(const json::object* before, const json::object& now,
                                      const subject& what) {
  const auto* text = given(now);
  if (!text || !text->is_string() || parse_duration(text->get_string()))
    return std::nullopt;
  const auto* old = before ? given(*before) : nullptr;
  if (old && *old == *text)
    return std::nullopt;
  const auto message = fmt::format(
      "Invalid value: \"{}\": must be a positive duration of hours, minutes, seconds or "
      "milliseconds, such as \"30s\", \"1m30s\", \"1.5h\" or \"500ms\", and at most a century",
      std::string_view{text->get_string()});
  return invalid("Pod", what,
                 {{"FieldValueInvalid", message,
                   fmt::format("metadata.annotations[{}]", run_for_annotation)}});
}

} // namespace tutti::sim::api_server
