// RocksDB behind the API server, and the thread that syncs.
#include "sim/api_server/disk.hpp"

#include <charconv>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "base/ensure.hpp"
#include "base/seed.hpp"
#include "persistence/free_bytes.hpp"
#include "persistence/no_log.hpp"

namespace tutti::sim::api_server {

namespace {

constexpr std::string_view format_now = "1";
constexpr std::string_view revision_key = "m/revision";
constexpr std::string_view release_key = "m/release";
constexpr std::string_view format_key = "m/format";
constexpr std::string_view seed_key = "m/seed";
/// Of a store that keeps none: what all clusters had before they drew one.
constexpr std::uint64_t seed_before_seeds = 1;
/// Before a memtable is flushed; holds minutes of a busy simulation.
constexpr std::size_t write_buffer_bytes = 64u << 20;
/// Runs the directory may keep open.
constexpr int files_max = 256;

/// What to do about a damaged store: nothing but a copy has what it says.
constexpr const char* cure_of_damage = "restore the directory, or choose another --data-dir";

rocksdb::Slice slice(std::string_view s) {
  return {s.data(), s.size()};
}

std::string key_on_disk(kind_id kind, std::string_view key) {
  return fmt::format("o/{}/{}", info_of(kind).plural, key);
}

base::error to_error(const rocksdb::Status& s, std::string_view directory) {
  auto text = s.ToString();
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (s.IsIOError() && (says("lock file") || says("lock hold"))) // nor "block checksum mismatch"
    return {base::code::locked,
            fmt::format("the API server's store in {} is open in another process", directory),
            "stop the other process, or choose another --data-dir"};
  const auto what = fmt::format("the API server's store in {}: {}", directory, text);
  if (s.IsCorruption())
    return {base::code::corrupt, what, cure_of_damage};
  return {base::code::io, what,
          "free space or replace the disk, then start again; or choose another --data-dir"};
}

} // namespace

struct disk::inside {
  inside(std::string where, const disk_options& how)
      : directory(std::move(where)), gauge(how.reserve), env(how.env) {}

  const std::string directory;
  persistence::space_gauge gauge;
  rocksdb::Env* const env;
  std::unique_ptr<rocksdb::DB> db;
  std::uint64_t seed = seed_before_seeds;

  std::mutex guard;
  std::condition_variable wake;
  bool is_stopping = false;
  bool has_batch = false;
  std::vector<pending_write> batch;
  revision last = 0;
  std::function<void(base::result<void>)> done;
  std::thread worker;

  persistence::disk_space look() { return gauge.look(persistence::free_bytes_at(directory, env)); }

  base::result<void> write_now(const std::vector<pending_write>& writes, revision up_to) {
    rocksdb::WriteBatch out;
    for (const auto& w : writes) {
      auto key = key_on_disk(w.kind, w.now->key);
      if (w.is_gone)
        out.Delete(key);
      else
        out.Put(key, w.now->body);
    }
    out.Put(slice(revision_key), fmt::format("{}", up_to));
    rocksdb::WriteOptions how;
    how.sync = true;
    if (auto s = db->Write(how, &out); !s.ok())
      return to_error(s, directory);
    return {};
  }

  /// What a new store says of itself.
  base::result<void> begin(release kubernetes, std::optional<std::uint64_t> wanted) {
    seed = wanted ? *wanted : base::draw_seed();
    rocksdb::WriteBatch first;
    first.Put(slice(format_key), slice(format_now));
    first.Put(slice(release_key), slice(api::name_of(kubernetes)));
    first.Put(slice(seed_key), fmt::format("{}", seed));
    rocksdb::WriteOptions sync;
    sync.sync = true;
    if (auto w = db->Write(sync, &first); !w.ok())
      return to_error(w, directory);
    return {};
  }

  /// Compares what an old store says of itself with what is wanted of it.
  base::result<void> resume(release kubernetes, std::optional<std::uint64_t> wanted) {
    std::string format, of, drawn;
    if (auto s = db->Get({}, slice(format_key), &format); !s.ok())
      return to_error(s, directory);
    if (format != format_now)
      return base::error{base::code::newer_format,
                         fmt::format("the API server's store in {} has format {}, this program "
                                     "reads {}",
                                     directory, format, format_now),
                         "start the version of tutti that wrote it, or choose another --data-dir"};
    if (auto s = db->Get({}, slice(release_key), &of); of != api::name_of(kubernetes))
      return base::error{
          base::code::bad_input,
          fmt::format("the API server's store in {} was made for Kubernetes {}, not {}", directory,
                      of, api::name_of(kubernetes)),
          fmt::format("use --kubernetes {}, or choose another --data-dir", of)};
    if (auto s = db->Get({}, slice(seed_key), &drawn); s.ok())
      std::from_chars(drawn.data(), drawn.data() + drawn.size(), seed);
    if (wanted && *wanted != seed)
      return base::error{
          base::code::bad_input,
          fmt::format("the API server's store in {} was made with seed {}, not {}", directory, seed,
                      *wanted),
          "the seed is fixed when a cluster is made: leave it out, or choose another --data-dir"};
    return {};
  }

  void run() {
    for (;;) {
      std::vector<pending_write> writes;
      revision up_to = 0;
      std::function<void(base::result<void>)> tell;
      {
        std::unique_lock hold{guard};
        wake.wait(hold, [&] { return has_batch || is_stopping; });
        if (!has_batch)
          return;
        has_batch = false;
        writes = std::move(batch);
        up_to = last;
        tell = std::move(done);
      }
      tell(write_now(writes, up_to));
    }
  }
};

disk::disk(std::unique_ptr<inside> in) : in_(std::move(in)) {
  in_->worker = std::thread{[in = in_.get()] { in->run(); }};
  ::pthread_setname_np(in_->worker.native_handle(), "api.sync");
}

disk::~disk() {
  {
    std::lock_guard hold{in_->guard};
    in_->is_stopping = true;
  }
  in_->wake.notify_one();
  in_->worker.join();
}

persistence::disk_space disk::look() {
  return in_->look();
}

base::result<std::unique_ptr<disk>> disk::open(const std::string& directory, release kubernetes,
                                               const disk_options& options) {
  std::error_code failed;
  std::filesystem::create_directories(directory, failed);
  if (failed)
    return base::error{base::code::io,
                       fmt::format("cannot make directory {}: {}", directory, failed.message()),
                       "choose a directory that this user may write, on a disk that has room"};
  auto in = std::make_unique<inside>(directory, options);
  if (const auto seen = in->look(); seen.has_none())
    return persistence::full_error(seen).in(directory);
  rocksdb::Options how;
  if (in->env != nullptr)
    how.env = in->env;
  how.create_if_missing = true;
  how.write_buffer_size = write_buffer_bytes;
  how.max_open_files = files_max;
  how.info_log = std::make_shared<persistence::no_log>();
  // A torn tail was never acknowledged; anything else that is damaged must not pass in silence.
  how.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  rocksdb::DB* raw = nullptr;
  if (auto s = rocksdb::DB::Open(how, directory, &raw); !s.ok())
    return to_error(s, directory);
  in->db.reset(raw);
  std::string format;
  auto s = in->db->Get({}, slice(format_key), &format);
  auto ok =
      s.IsNotFound() ? in->begin(kubernetes, options.seed) : in->resume(kubernetes, options.seed);
  if (!ok)
    return ok.error();
  return std::unique_ptr<disk>{new disk{std::move(in)}};
}

std::uint64_t disk::seed() const {
  return in_->seed;
}

base::result<object_ptr> read_object(kind_id kind, std::string_view body) {
  boost::system::error_code failed;
  auto value = json::parse(body, failed);
  if (failed || !value.is_object())
    return base::error{base::code::corrupt, "a stored object is no JSON"};
  auto text = std::string{text_at(value.get_object(), {"metadata", "resourceVersion"})};
  revision rev = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), rev);
  if (text.empty() || ec != std::errc{} || text_at(value.get_object(), {"metadata", "uid"}).empty())
    return base::error{base::code::corrupt, "a stored object has no uid or revision"};
  return make_object(kind, value.get_object(), rev);
}

base::result<void> disk::load(store& into) const {
  std::string last;
  auto s = in_->db->Get({}, slice(revision_key), &last);
  if (s.IsNotFound())
    return {};
  revision rev = 0;
  std::from_chars(last.data(), last.data() + last.size(), rev);
  std::unique_ptr<rocksdb::Iterator> it{in_->db->NewIterator({})};
  for (std::size_t k = 0; k < kind_count; ++k) {
    auto kind = static_cast<kind_id>(k);
    auto prefix = key_on_disk(kind, "");
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) {
      auto x = read_object(kind, it->value().ToStringView());
      const auto damaged = [&](std::string_view why) {
        return base::error{base::code::corrupt,
                           fmt::format("the API server's store in {}: {}: {}", in_->directory,
                                       it->key().ToString(), why),
                           cure_of_damage};
      };
      if (!x)
        return damaged(x.error().message());
      if (x.value()->rev > rev)
        return damaged("it is newer than the store");
      into.restore(kind, std::move(x.value()));
    }
    if (!it->status().ok()) // before the next seek forgets it
      return to_error(it->status(), in_->directory);
  }
  into.restored(rev);
  return {};
}

void disk::write(std::vector<pending_write> batch, revision last,
                 std::function<void(base::result<void>)> done) {
  std::lock_guard hold{in_->guard};
  ensure(!in_->has_batch, last);
  in_->batch = std::move(batch);
  in_->last = last;
  in_->done = std::move(done);
  in_->has_batch = true;
  in_->wake.notify_one();
}

} // namespace tutti::sim::api_server
