// A run as one HTML page that needs nothing but itself.
#pragma once

#include <string>

#include "sim/report/results.hpp"

namespace tutti::sim::report {

/// No script, style sheet, font or image from elsewhere; readable on light and dark screens and
/// without scripts. The same run makes the same bytes.
std::string html_page(const results& of);

} // namespace tutti::sim::report
