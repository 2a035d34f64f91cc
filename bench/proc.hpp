// What the kernel says of a process: processor time by thread name, resident memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <sys/types.h>

namespace tutti::bench {

/// Seconds of processor time so far of the threads of this process, summed by name.
std::map<std::string, double> processor_seconds();

/// Resident bytes of a process; 0 if there is none.
std::uint64_t resident_bytes(pid_t who);

} // namespace tutti::bench
