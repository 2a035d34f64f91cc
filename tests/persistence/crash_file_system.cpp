// The crash disk as RocksDB's file system: every call is handed on, nothing is decided here.
#include <algorithm>
#include <cstring>

#include <rocksdb/system_clock.h>

#include "tests/persistence/crash_disk.hpp"

namespace tutti::persistence::testing {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;
using disk_ptr = std::shared_ptr<crash_disk>;

/// Copies what was read to where RocksDB wants it.
void give(const std::string& bytes, Slice* result, char* scratch) {
  std::memcpy(scratch, bytes.data(), bytes.size());
  *result = Slice{scratch, bytes.size()};
}

class written_file final : public rocksdb::FSWritableFile {
public:
  written_file(disk_ptr disk, file_ptr x, bool is_log)
      : disk_(std::move(disk)), file_(std::move(x)), is_log_(is_log) {}

  IOStatus Append(const Slice& x, const IOOptions&, IODebugContext*) override {
    return disk_->append(*file_, x.ToStringView());
  }
  IOStatus Append(const Slice& x, const IOOptions&, const rocksdb::DataVerificationInfo&,
                  IODebugContext*) override {
    return disk_->append(*file_, x.ToStringView());
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions&, IODebugContext*) override {
    return disk_->truncate(*file_, size);
  }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return {}; }
  IOStatus Flush(const IOOptions&, IODebugContext*) override { return {}; }
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return disk_->sync(*file_, is_log_); }
  std::uint64_t GetFileSize(const IOOptions&, IODebugContext*) override {
    return disk_->size(*file_);
  }

private:
  const disk_ptr disk_;
  const file_ptr file_;
  const bool is_log_;
};

class read_file final : public rocksdb::FSSequentialFile, public rocksdb::FSRandomAccessFile {
public:
  read_file(disk_ptr disk, file_ptr x) : disk_(std::move(disk)), file_(std::move(x)) {}

  IOStatus Read(std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    give(disk_->read(*file_, at_, n), result, scratch);
    at_ += result->size();
    return {};
  }
  IOStatus Skip(std::uint64_t n) override {
    at_ += n;
    return {};
  }
  IOStatus Read(std::uint64_t from, std::size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) const override {
    give(disk_->read(*file_, from, n), result, scratch);
    return {};
  }
  IOStatus InvalidateCache(std::size_t, std::size_t) override { return {}; }
  bool use_direct_io() const override { return false; }
  std::size_t GetRequiredBufferAlignment() const override { return 1; }

private:
  const disk_ptr disk_;
  const file_ptr file_;
  std::uint64_t at_ = 0;
};

class names_of_directory final : public rocksdb::FSDirectory {
public:
  explicit names_of_directory(disk_ptr disk) : disk_(std::move(disk)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return disk_->sync_names(); }
  IOStatus Close(const IOOptions&, IODebugContext*) override { return {}; }

private:
  const disk_ptr disk_;
};

struct held_lock final : rocksdb::FileLock {
  explicit held_lock(std::string x) : name(std::move(x)) {}
  std::string name;
};

class crash_file_system final : public rocksdb::FileSystem {
public:
  explicit crash_file_system(disk_ptr disk) : disk_(std::move(disk)) {}
  const char* Name() const override { return "crash"; }

  IOStatus NewSequentialFile(const std::string& name, const FileOptions&,
                             std::unique_ptr<rocksdb::FSSequentialFile>* out,
                             IODebugContext*) override {
    return open(name, *out);
  }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions&,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* out,
                               IODebugContext*) override {
    return open(name, *out);
  }
  IOStatus NewWritableFile(const std::string& name, const FileOptions&,
                           std::unique_ptr<rocksdb::FSWritableFile>* out,
                           IODebugContext*) override {
    file_ptr made;
    auto s = disk_->create(name, made);
    if (s.ok())
      *out = std::make_unique<written_file>(disk_, std::move(made), name.ends_with(".log"));
    return s;
  }
  IOStatus NewDirectory(const std::string&, const IOOptions&,
                        std::unique_ptr<rocksdb::FSDirectory>* out, IODebugContext*) override {
    *out = std::make_unique<names_of_directory>(disk_);
    return {};
  }
  IOStatus FileExists(const std::string& name, const IOOptions&, IODebugContext*) override {
    return disk_->find(name) || disk_->is_directory(name) ? IOStatus{} : IOStatus::NotFound(name);
  }
  IOStatus GetChildren(const std::string& name, const IOOptions&, std::vector<std::string>* out,
                       IODebugContext*) override {
    auto found = disk_->children(name);
    if (!found)
      return IOStatus::NotFound(name);
    *out = std::move(*found);
    return {};
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions&, IODebugContext*) override {
    return disk_->remove(name);
  }
  IOStatus CreateDir(const std::string& name, const IOOptions&, IODebugContext*) override {
    disk_->make_directory(name);
    return {};
  }
  IOStatus CreateDirIfMissing(const std::string& name, const IOOptions&, IODebugContext*) override {
    disk_->make_directory(name);
    return {};
  }
  IOStatus DeleteDir(const std::string& name, const IOOptions&, IODebugContext*) override {
    return IOStatus::NotSupported(name);
  }
  IOStatus GetFileSize(const std::string& name, const IOOptions&, std::uint64_t* out,
                       IODebugContext*) override {
    const auto x = disk_->find(name);
    if (!x)
      return IOStatus::NotFound(name);
    *out = disk_->size(*x);
    return {};
  }
  IOStatus GetFileModificationTime(const std::string& name, const IOOptions&, std::uint64_t* out,
                                   IODebugContext*) override {
    *out = 0;
    return disk_->find(name) ? IOStatus{} : IOStatus::NotFound(name);
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions&,
                      IODebugContext*) override {
    return disk_->rename(from, to);
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions&,
                    IODebugContext*) override {
    return disk_->link(from, to);
  }
  IOStatus LockFile(const std::string& name, const IOOptions&, rocksdb::FileLock** out,
                    IODebugContext*) override {
    if (!disk_->lock(name))
      return IOStatus::IOError("lock hold by current process: " + name);
    *out = new held_lock{name};
    return {};
  }
  IOStatus UnlockFile(rocksdb::FileLock* x, const IOOptions&, IODebugContext*) override {
    const std::unique_ptr<held_lock> held{static_cast<held_lock*>(x)};
    disk_->unlock(held->name);
    return {};
  }
  IOStatus GetTestDirectory(const IOOptions&, std::string* out, IODebugContext*) override {
    *out = "/test";
    return {};
  }
  IOStatus GetAbsolutePath(const std::string& name, const IOOptions&, std::string* out,
                           IODebugContext*) override {
    *out = name;
    return {};
  }
  IOStatus IsDirectory(const std::string& name, const IOOptions&, bool* out,
                       IODebugContext*) override {
    *out = disk_->is_directory(name);
    return {};
  }
  IOStatus GetFreeSpace(const std::string&, const IOOptions&, std::uint64_t* out,
                        IODebugContext*) override {
    *out = disk_->free();
    return {};
  }

private:
  template <class File>
  IOStatus open(const std::string& name, std::unique_ptr<File>& out) {
    auto x = disk_->find(name);
    if (!x)
      return IOStatus::PathNotFound(name);
    out = std::make_unique<read_file>(disk_, std::move(x));
    return {};
  }

  const disk_ptr disk_;
};

/// RocksDB sleeps for a second after a flush that failed.
class impatient_clock final : public rocksdb::SystemClockWrapper {
public:
  impatient_clock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "impatient"; }
  void SleepForMicroseconds(int) override {}
};

} // namespace

crash_env::crash_env() : crash_env(std::make_shared<crash_disk>()) {}

/// RocksDB goes to the file system by two ways: by `GetFileSystem`, and by the calls of `Env`.
crash_env::crash_env(std::shared_ptr<crash_disk> disk)
    : EnvWrapper(rocksdb::NewCompositeEnv(std::make_shared<crash_file_system>(disk))),
      disk_(std::move(disk)) {
  file_system_ = std::make_shared<crash_file_system>(disk_);
  system_clock_ = std::make_shared<impatient_clock>();
}

} // namespace tutti::persistence::testing
