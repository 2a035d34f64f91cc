#include "base/seed.hpp"

#include <random>

namespace tutti::base {

std::uint64_t draw_seed() {
  std::random_device dice;
  return (std::uint64_t{dice()} << 32) | dice();
}

} // namespace tutti::base
