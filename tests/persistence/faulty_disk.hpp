// A real directory seen through a disk that can fill up, fail to sync, or lose power.
#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include "base/random.hpp"

namespace tutti::persistence::testing {

/// What the disk does to writers, and what it would keep if the power went now.
struct disk_state {
  std::atomic<bool> is_full = false;
  std::atomic<bool> fails_sync = false;
  std::atomic<bool> is_dead = false; ///< the power is gone: nothing reaches the disk any more
  std::atomic<int> syncs = 0;

  std::mutex mutex;
  std::map<std::string, std::uint64_t> synced_size; ///< per file that was written
};

class faulty_file final : public rocksdb::FSWritableFileOwnerWrapper {
public:
  faulty_file(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::string name,
              std::shared_ptr<disk_state> state)
      : FSWritableFileOwnerWrapper(std::move(file)), name_(std::move(name)),
        state_(std::move(state)) {}

  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* dbg) override {
    if (auto s = accepts(data.size()); !s.ok())
      return s;
    return target()->Append(data, options, dbg);
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& info,
                           rocksdb::IODebugContext* dbg) override {
    if (auto s = accepts(data.size()); !s.ok())
      return s;
    return target()->Append(data, options, info, dbg);
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext*) override {
    return synced(options);
  }
  rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext*) override {
    return synced(options);
  }

private:
  bool is_log() const { return name_.ends_with(".log"); }

  rocksdb::IOStatus accepts(std::size_t bytes) {
    if (state_->is_dead)
      return rocksdb::IOStatus::IOError("no power");
    if (state_->is_full && is_log())
      return rocksdb::IOStatus::NoSpace("disk full");
    size_ += bytes;
    return {};
  }
  // The bytes are in the page cache of the real machine, which does not fail: that is enough here.
  rocksdb::IOStatus synced(const rocksdb::IOOptions& options) {
    if (state_->is_dead)
      return rocksdb::IOStatus::IOError("no power");
    if (state_->fails_sync && is_log())
      return rocksdb::IOStatus::IOError("sync failed");
    auto s = target()->Flush(options, nullptr);
    const std::lock_guard lock{state_->mutex};
    state_->synced_size[name_] = size_;
    state_->syncs += is_log() ? 1 : 0;
    return s;
  }

  std::string name_;
  std::shared_ptr<disk_state> state_;
  std::uint64_t size_ = 0;
};

class faulty_file_system final : public rocksdb::FileSystemWrapper {
public:
  explicit faulty_file_system(std::shared_ptr<disk_state> state)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), state_(std::move(state)) {}

  const char* Name() const override { return "faulty"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* out,
                                    rocksdb::IODebugContext* dbg) override {
    if (state_->is_dead)
      return rocksdb::IOStatus::IOError("no power");
    auto plain = options;
    plain.use_mmap_writes = false;
    std::unique_ptr<rocksdb::FSWritableFile> file;
    auto s = target()->NewWritableFile(name, plain, &file, dbg);
    if (s.ok()) {
      const std::lock_guard lock{state_->mutex};
      state_->synced_size[name] = 0;
      *out = std::make_unique<faulty_file>(std::move(file), name, state_);
    }
    return s;
  }
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override {
    return state_->is_dead ? rocksdb::IOStatus::IOError("no power")
                           : target()->DeleteFile(name, options, dbg);
  }
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* dbg) override {
    if (state_->is_dead)
      return rocksdb::IOStatus::IOError("no power");
    const std::lock_guard lock{state_->mutex};
    if (auto pos = state_->synced_size.find(from); pos != state_->synced_size.end()) {
      state_->synced_size[to] = pos->second;
      state_->synced_size.erase(from);
    }
    return target()->RenameFile(from, to, options, dbg);
  }

private:
  std::shared_ptr<disk_state> state_;
};

/// Hand this to `rocks_options::env`.
class faulty_env final : public rocksdb::EnvWrapper {
public:
  faulty_env() : EnvWrapper(rocksdb::Env::Default()), state_(std::make_shared<disk_state>()) {
    file_system_ = std::make_shared<faulty_file_system>(state_);
  }
  const char* Name() const override { return "faulty"; }

  disk_state& state() { return *state_; }

  /// After the store is gone: every log keeps what was synced and a random part of the rest, of
  /// which the end may be zeroes or noise. Then the power is back.
  void lose_unsynced(base::random_stream& random) {
    for (const auto& [name, synced] : state_->synced_size) {
      if (!name.ends_with(".log") || !std::filesystem::exists(name))
        continue;
      const auto size = std::filesystem::file_size(name);
      const auto rest = size - std::min<std::uint64_t>(size, synced);
      const auto kept = random.below(rest + 1);
      std::filesystem::resize_file(name, size - rest + kept);
      if (kept == 0 || random.chance(1, 2))
        continue;
      const auto spoiled = random.below(kept + 1);
      std::fstream file{name, std::ios::in | std::ios::out | std::ios::binary};
      file.seekp(static_cast<std::streamoff>(size - rest + kept - spoiled));
      const bool zeroes = random.chance(1, 2);
      for (std::uint64_t i = 0; i < spoiled; ++i)
        file.put(zeroes ? '\0' : static_cast<char>(random.below(256)));
    }
    state_->synced_size.clear();
    state_->is_dead = false;
  }

private:
  std::shared_ptr<disk_state> state_;
};

} // namespace tutti::persistence::testing
