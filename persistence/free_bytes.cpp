// The operating system, or the file system that RocksDB was given.
#include "persistence/free_bytes.hpp"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <sys/statvfs.h>

namespace tutti::persistence {

std::uint64_t free_bytes_at(const std::string& directory, rocksdb::Env* env) {
  if (env != nullptr) {
    std::uint64_t free = 0;
    const auto s = env->GetFileSystem()->GetFreeSpace(directory, {}, &free, nullptr);
    return s.ok() ? free : UINT64_MAX;
  }
  struct statvfs seen {};
  if (::statvfs(directory.c_str(), &seen) != 0)
    return UINT64_MAX;
  return std::uint64_t{seen.f_bavail} * seen.f_frsize;
}

} // namespace tutti::persistence
