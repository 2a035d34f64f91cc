// One system call, the same for every file system.
#include "persistence/free_bytes.hpp"

#include <sys/statvfs.h>

namespace tutti::persistence {

std::uint64_t free_bytes_at(const std::string& directory) {
  struct statvfs seen {};
  if (::statvfs(directory.c_str(), &seen) != 0)
    return UINT64_MAX;
  return std::uint64_t{seen.f_bavail} * seen.f_frsize;
}

} // namespace tutti::persistence
