// A disk that keeps its promises and no more: what was not synced is gone after a power cut, a sync
// may fail, and space may run out.
//
// A real directory cannot show what a power cut takes: the page cache of the machine that runs the
// test survives. So the files live in memory, and RocksDB sees them through its own `FileSystem`.
// It stands here and not in `sim/`, because RocksDB brings threads of its own: simulated worlds use
// the memory twin of the store, and this is for tests of the real one only.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "base/random.hpp"

namespace tutti::persistence::testing {

/// One file, by whatever names it has. Guarded by its disk's mutex.
struct disk_file {
  std::string bytes;                  ///< what is read now
  std::size_t synced = 0;             ///< so much of it is on the platter
  std::vector<std::size_t> marks;     ///< how much was, after each sync
  std::vector<std::size_t> lost_from; ///< a sync failed …
  std::vector<std::size_t> lost_to;   ///< … and what was between these was dropped as if written
};
using file_ptr = std::shared_ptr<disk_file>;

/// The promises, as POSIX and Linux give them:
///   * what was appended survives once the file is synced; before, any part of it, torn or spoiled;
///   * a file's name survives once its directory is synced; before, changes of names survive in
///     their order up to some point;
///   * a sync that fails has dropped what was to be written: it is still read, a later sync says
///   ok,
///     and it is never on the disk.
/// Thread-safe.
class crash_disk {
public:
  // ---- what befalls it
  /// The power goes at the n-th change from here on (1 = the next); `lands`: that one is still
  /// done, though nobody hears of it. From then on every change fails.
  void cut_power_after(std::uint64_t n, bool lands);
  void cut_power() { cut_power_after(1, false); }
  bool has_power() const;
  /// After its users are gone: what a power cut leaves, and the power is back.
  void restart(base::random_stream& random);
  /// The n-th sync of a file from here on fails (1 = the next), and no other.
  void fail_sync_after(std::uint64_t n);
  /// While set, every sync of a write-ahead log fails.
  void fail_log_syncs(bool yes);
  /// So much is free from here on; whoever appends more is told "no space".
  void leave_free(std::uint64_t bytes);
  void leave_all_free();

  // ---- what is seen of it
  std::uint64_t changes() const;
  std::uint64_t log_syncs() const;
  std::uint64_t used() const;
  std::vector<std::string> names(const std::string& ending) const;
  disk_file file(const std::string& name) const;
  /// The last `restart` spoiled what was not synced of a file that this text names, and nobody has
  /// said `forget_spoiled` since.
  bool has_spoiled_one_of(const std::string& names) const;
  void forget_spoiled();
  void flip_byte(const std::string& name, std::size_t at);

  // ---- what RocksDB does to it; an error as the operating system would give it
  rocksdb::IOStatus create(const std::string& name, file_ptr& out);
  rocksdb::IOStatus append(disk_file& to, std::string_view bytes);
  rocksdb::IOStatus truncate(disk_file& x, std::size_t size);
  rocksdb::IOStatus sync(disk_file& x, bool is_log);
  rocksdb::IOStatus sync_names();
  rocksdb::IOStatus rename(const std::string& from, const std::string& to);
  rocksdb::IOStatus link(const std::string& from, const std::string& to);
  rocksdb::IOStatus remove(const std::string& name);
  void make_directory(const std::string& name);
  bool is_directory(const std::string& name) const;
  file_ptr find(const std::string& name) const;
  std::optional<std::vector<std::string>> children(const std::string& directory) const;
  std::string read(const disk_file& x, std::uint64_t from, std::size_t n) const;
  std::size_t size(const disk_file& x) const;
  std::uint64_t free() const;
  bool lock(const std::string& name);
  void unlock(const std::string& name);

private:
  using names_map = std::map<std::string, file_ptr>;
  using change = std::function<void(names_map&)>;

  /// Called before each change. Nothing, or the error; `may_land` is set if it is to be done all
  /// the same.
  rocksdb::IOStatus allow(bool& may_land);
  rocksdb::IOStatus change_names(change what);
  std::uint64_t used_now() const;

  mutable std::mutex mutex_;
  names_map names_;
  names_map durable_names_;
  std::vector<change> unsynced_; ///< of names, in order
  std::set<std::string> directories_;
  std::set<std::string> locks_;
  std::set<std::string> spoiled_;
  bool is_dead_ = false;
  std::uint64_t changes_ = 0;
  std::uint64_t dies_at_ = 0; ///< 0 = never
  bool last_lands_ = false;
  std::uint64_t syncs_to_failure_ = 0; ///< 0 = none fails
  bool fails_log_syncs_ = false;
  std::uint64_t log_syncs_ = 0;
  std::optional<std::uint64_t> capacity_;
};

/// Hand this to `rocks_options::env`. Sleeps of RocksDB's threads return at once.
class crash_env final : public rocksdb::EnvWrapper {
public:
  crash_env();
  const char* Name() const override { return "crash"; }
  crash_disk& disk() { return *disk_; }

private:
  explicit crash_env(std::shared_ptr<crash_disk> disk);

  std::shared_ptr<crash_disk> disk_;
};

} // namespace tutti::persistence::testing
