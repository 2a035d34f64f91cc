// How much memory the scheduler keeps, apart from that of the cluster that is simulated around it.
#pragma once

#include <cstddef>

#include "sim/world/world.hpp"

namespace tutti::sim::scenario {

/// Bytes of the heap that the world's scheduler processes have in use: what they know, do and
/// remember, and neither the API server with its history nor their disks, which are in memory, too,
/// here. Found by ending them: a copy of this program (fork) does so and sees how much less of the
/// heap is in use; the world itself goes on as if nothing had been asked. 0 if there is no copy.
std::size_t bytes_of_schedulers(world& of);

} // namespace tutti::sim::scenario
