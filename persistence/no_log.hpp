// Keeps RocksDB from writing a log of its own: one more file that fails on a full disk, and 7.8
// aborts the process when it fails for the second time. What RocksDB has to say comes back as a
// status, too.
#pragma once

#include <cstdarg>

#include <rocksdb/env.h>

namespace tutti::persistence {

/// For `rocksdb::DBOptions::info_log` of every database of this process. Says nothing.
class no_log final : public rocksdb::Logger {
public:
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

} // namespace tutti::persistence
