// Lets a test program run with a planted bug: TUTTI_MUTANT=<number of the bug in base/mutant.hpp>.
// So a test that stands for itself shows that it would notice (chaos/mutants.cpp, `role_bugs`).
#include <cstdlib>

#include "base/mutant.hpp"

namespace tutti::base {
namespace {

[[maybe_unused]] const bool has_planted = [] {
  if (const auto* number = std::getenv("TUTTI_MUTANT"))
    plant(static_cast<mutant>(std::atoi(number)));
  return true;
}();

} // namespace
} // namespace tutti::base
