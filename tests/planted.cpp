// Lets a test program run with a planted bug: TUTTI_MUTANT=<number of the bug in base/mutant.hpp>.
// So a test that stands for itself shows that it would notice (chaos/mutants.cpp, `role_bugs`).
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::base {
namespace {

/// A number that is none would plant nothing, and the test would pass as if it had noticed nothing.
mutant named_by(std::string_view text) {
  int number = -1;
  const auto [rest, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = ec == std::errc{} && rest == text.data() + text.size();
  ensure(is_number && 0 <= number && number < static_cast<int>(mutant::end), "TUTTI_MUTANT", text);
  return static_cast<mutant>(number);
}

[[maybe_unused]] const bool has_planted = [] {
  if (const auto* text = std::getenv("TUTTI_MUTANT"))
    plant(named_by(text));
  return true;
}();

} // namespace
} // namespace tutti::base
