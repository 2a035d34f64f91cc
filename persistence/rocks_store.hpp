// The store of a real scheduler process: one RocksDB, one thread that writes, many requests a sync.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "persistence/disk_space.hpp"
#include "persistence/store.hpp"

namespace rocksdb {
class Env;
}

namespace tutti::persistence {

struct rocks_options {
  std::string path;            ///< directory; made if it is not there
  std::uint32_t shards = 0;    ///< 0 = as the store says; the default number in a new one
  std::string cluster_uid;     ///< empty = not known yet: see `store::claim`
  rocksdb::Env* env = nullptr; ///< disk faults for tests; null = the real file system
  /// Free bytes that the store keeps for finishing what is under way: see `disk_space.hpp`.
  std::uint64_t reserve = disk_reserve_default;
  /// Hears in one line what a person should know of an opening that succeeds: that a torn tail was
  /// cut off, and where. Empty = nobody does.
  std::function<void(const std::string&)> warn{};
};

/// Opens the store at `path`, or makes a new one, and begins a new life of the process there.
///
/// Everything is read and verified once; from then on nothing is read. A tail of the write-ahead
/// log that was never synced may be torn or missing: it is dropped. Errors, each with a hint:
///   `locked`        another process (or this one) has it open
///   `newer_format`  a later version of the program wrote it
///   `foreign`       it belongs to another cluster
///   `bad_input`     no usable directory, other number of shards, or no store of ours
///   `corrupt`       something that was synced is damaged or missing; says column family and record
///   `io`            the disk is full (then nothing was tried), or the operating system said no
base::result<std::unique_ptr<store>> open_rocks_store(const rocks_options& how);

} // namespace tutti::persistence
