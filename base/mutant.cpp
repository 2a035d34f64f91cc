// Holds which planted bug is on. Compiled only with TUTTI_MUTANTS.
#include "base/mutant.hpp"

#include <atomic>

namespace tutti::base::with_mutants {

namespace {

std::atomic<mutant> planted_{mutant::none};

} // namespace

bool is_planted(mutant x) noexcept {
  return planted_.load(std::memory_order_relaxed) == x;
}

void plant(mutant x) noexcept {
  planted_.store(x, std::memory_order_relaxed);
}

} // namespace tutti::base::with_mutants
