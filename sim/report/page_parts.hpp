// The page's own style sheet and script, as they stand in it.
#pragma once

#include <string_view>

namespace tutti::sim::report {

/// Colours for light and dark screens; pictures use its classes.
extern const std::string_view page_style;
/// Shows the values under the pointer. Everything can be read without it.
extern const std::string_view page_script;

} // namespace tutti::sim::report
