// Reads /proc, whose formats are described in proc(5).
#include "bench/proc.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <unistd.h>

namespace tutti::bench {

std::map<std::string, double> processor_seconds() {
  std::map<std::string, double> out;
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{task.path() / "stat"};
    std::string line;
    if (!std::getline(file, line))
      continue; // ended meanwhile
    // "123 (a name) S 1 …": utime and stime are fields 14 and 15, the name may hold anything.
    const auto open = line.find('(');
    const auto close = line.rfind(')');
    std::istringstream rest{line.substr(close + 2)};
    std::string skipped;
    for (int field = 3; field < 14; ++field)
      rest >> skipped;
    double user = 0, system = 0;
    rest >> user >> system;
    out[line.substr(open + 1, close - open - 1)] += (user + system) / ticks_per_second;
  }
  return out;
}

std::uint64_t resident_bytes(pid_t who) {
  std::ifstream file{fmt::format("/proc/{}/statm", who)};
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace tutti::bench
