// The one place where chance comes in from outside: once, at the start of a process.
#pragma once

#include <cstdint>

namespace tutti::base {

/// A seed that nobody else has, from the operating system. Whoever is to repeat a run is given one
/// instead (`random.hpp`).
std::uint64_t draw_seed();

} // namespace tutti::base
