// The API server's objects in a RocksDB of its own. One thread writes: many writes, one sync.
//
// Keys: "o/PLURAL/NAMESPACE/NAME" → the object's JSON, "m/revision" → the last revision,
// "m/release" → whose API the objects follow, "m/seed" → what the cluster's uids are made of,
// "m/format" → version of this layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "persistence/disk_space.hpp"
#include "sim/api_server/store.hpp"

namespace rocksdb {
class Env;
}

namespace tutti::sim::api_server {

struct disk_options {
  /// Of the cluster; without one it is the store's own, and a new store draws one.
  std::optional<std::uint64_t> seed;
  std::uint64_t reserve = persistence::disk_reserve_default; ///< free bytes: see `disk_space.hpp`
  rocksdb::Env* env = nullptr; ///< disk faults for tests; null = the real file system
};

class disk {
public:
  /// Opens or makes the store in `directory`. `locked` if another process has it open,
  /// `newer_format`, `bad_input` if it was made for another release or seed, `corrupt`, `io` (also
  /// if it is full: then nothing was tried).
  static base::result<std::unique_ptr<disk>> open(const std::string& directory, release kubernetes,
                                                  const disk_options& how);
  /// Waits for the write under way, then closes.
  ~disk();
  disk(const disk&) = delete;
  disk& operator=(const disk&) = delete;

  /// What the cluster's uids are made of; the same at every start.
  std::uint64_t seed() const;

  /// Looks how much space there is. Any thread; one system call.
  persistence::disk_space look();

  /// Puts everything into an empty store.
  base::result<void> load(store& into) const;

  /// Writes and syncs a batch on the disk's thread, then calls `done` there with nothing or with
  /// what went wrong. One batch at a time. After a failure all later ones fail, too.
  void write(std::vector<pending_write> batch, revision last,
             std::function<void(base::result<void>)> done);

private:
  struct inside;
  explicit disk(std::unique_ptr<inside> in);
  std::unique_ptr<inside> in_;
};

/// An object as it was stored.
base::result<object_ptr> read_object(kind_id kind, std::string_view body);

} // namespace tutti::sim::api_server
