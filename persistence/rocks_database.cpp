// How RocksDB is set up, and what its refusals mean to an operator.
#include "persistence/rocks_database.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <unistd.h>

#include "base/ensure.hpp"
#include "persistence/format.hpp"
#include "persistence/no_log.hpp"

namespace tutti::persistence {
namespace {

using base::code;
using base::error;

/// Memtables are small: what we write is read back only at the next start. All of them together are
/// resident for good, whatever the cluster's size.
constexpr std::size_t memtable_bytes = 4u << 20;
/// Bounds what a start has to replay, and what `find_synced` has to search.
constexpr std::uint64_t log_bytes_max = 64u << 20;

using handles = std::vector<rocksdb::ColumnFamilyHandle*>;

rocksdb::Env* env_or_default(rocksdb::Env* env) {
  return env == nullptr ? rocksdb::Env::Default() : env;
}

rocksdb::DBOptions database_options(rocksdb::Env* env, rocksdb::WALRecoveryMode mode) {
  rocksdb::DBOptions o;
  o.env = env_or_default(env);
  o.create_if_missing = true;
  o.create_missing_column_families = true;
  o.paranoid_checks = true;
  // A log file that is missing or shorter than when it was closed is an error, not the end.
  o.track_and_verify_wals_in_manifest = true;
  o.wal_recovery_mode = mode;
  o.max_total_wal_size = log_bytes_max;
  o.info_log = std::make_shared<no_log>();
  // F10: never retry and believe.
  o.max_bgerror_resume_count = 0;
  o.max_background_jobs = 2;
  // Our tables are few: sixteen threads to open them cost more than they save.
  o.max_file_opening_threads = 1;
  o.stats_dump_period_sec = 0;
  o.stats_persist_period_sec = 0;
  return o;
}

std::vector<rocksdb::ColumnFamilyDescriptor> column_families() {
  std::vector<rocksdb::ColumnFamilyDescriptor> out;
  rocksdb::ColumnFamilyOptions plain;
  plain.write_buffer_size = memtable_bytes;
  plain.compression = rocksdb::kNoCompression; // small, and short-lived
  out.emplace_back(rocksdb::kDefaultColumnFamilyName, plain);
  for (int i = 0; i < family_count; ++i) {
    auto options = plain;
    const auto which = static_cast<family>(i);
    if (which == family::checkpoint)
      options.compression = rocksdb::kZSTD; // large and repetitive
    out.emplace_back(std::string{name_of(which)}, options);
  }
  return out;
}

/// What a failed open means. The texts are RocksDB's; none of this has a code of its own there.
error meaning_of_open(const rocksdb::Status& s) {
  const auto text = s.ToString();
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  if (s.IsIOError() && (says("lock file") || says("lock hold")))
    return {code::locked, "the store is open in another process",
            "stop the other scheduler, or give this one a directory of its own"};
  if (s.IsInvalidArgument() && says("olumn families not opened"))
    return {code::newer_format, text,
            "the directory belongs to a later version of tutti, or to another program"};
  if (s.IsNotSupported())
    return {code::newer_format, text, "start the version of tutti that wrote it, or a later one"};
  if (s.IsCorruption())
    return {code::corrupt, text,
            "restore the volume, or move the directory away: the scheduler then rebuilds its state "
            "from the API server"};
  return {code::io, text, "see whether the disk is full, read-only or failing"};
}

struct opened {
  std::unique_ptr<rocksdb::DB> db;
  handles columns;
};

enum class access { writing, looking };

rocksdb::Status open_as(const std::string& path, rocksdb::Env* env, rocksdb::WALRecoveryMode mode,
                        access how, opened& into) {
  const auto options = database_options(env, mode);
  rocksdb::DB* db = nullptr;
  into.columns.clear();
  const auto s =
      how == access::writing
          ? rocksdb::DB::Open(options, path, column_families(), &into.columns, &db)
          : rocksdb::DB::OpenForReadOnly(options, path, column_families(), &into.columns, &db);
  into.db.reset(s.ok() ? db : nullptr);
  return s;
}

void close(opened& x) {
  for (auto* h : x.columns)
    x.db->DestroyColumnFamilyHandle(h);
  x.columns.clear();
  x.db.reset();
}

/// The highest batch that the logs themselves call durable, searched in their raw bytes.
std::uint64_t find_synced(const std::string& path, rocksdb::Env* env) {
  std::vector<std::string> names;
  if (!env->GetChildren(path, &names).ok())
    return 0;
  std::uint64_t found = 0;
  for (const auto& name : names) {
    std::string bytes;
    if (name.ends_with(".log") && rocksdb::ReadFileToString(env, path + "/" + name, &bytes).ok())
      found = std::max(found, find_synced_batch(bytes));
  }
  return found;
}

/// RocksDB calls the log damaged. If only what was never synced is hit, so that it may be dropped:
/// the tail of the store that is left then. Else `corrupt`. Changes nothing on the disk.
base::result<tail> check_only_tail_is_torn(const std::string& path, rocksdb::Env* env,
                                           const rocksdb::Status& complaint) {
  const auto synced = find_synced(path, env_or_default(env));
  opened prefix;
  const auto s =
      open_as(path, env, rocksdb::WALRecoveryMode::kPointInTimeRecovery, access::looking, prefix);
  if (!s.ok())
    return meaning_of_open(s);
  std::string value;
  const auto got =
      prefix.db->Get(rocksdb::ReadOptions{}, prefix.columns[1 + static_cast<int>(family::meta)],
                     std::string{meta_key::tail}, &value);
  close(prefix);
  tail last;
  if (got.ok()) {
    auto t = read_tail(value);
    if (!t)
      return t.error();
    last = *t;
  } else if (!got.IsNotFound()) {
    return meaning_of_open(got);
  }
  if (last.batch >= std::max(synced, last.synced_batch))
    return last;
  return error{code::corrupt,
               fmt::format("the write-ahead log is damaged behind batch {} (column family journal: "
                           "record {}), but everything up to batch {} was durable: {}",
                           last.batch, last.last, synced, complaint.ToString()),
               "restore the volume, or move the directory away: the scheduler then rebuilds its "
               "state from the API server"};
}

} // namespace

base::result<void> rocks_database::prepare(const std::string& path) {
  std::error_code ec;
  std::filesystem::create_directories(path, ec);
  if (ec)
    return error{code::bad_input, fmt::format("cannot make the directory: {}", ec.message()),
                 "name a directory that may be written to (--data-dir)"};
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    return error{
        code::bad_input, "the directory may not be written to",
        "give the user of this process the right to write there, or name another directory "
        "(--data-dir)"};
  return {};
}

base::result<std::unique_ptr<rocks_database>>
rocks_database::open(const std::string& path, rocksdb::Env* env,
                     const std::function<void(const std::string&)>& warn) {
  opened made;
  auto s =
      open_as(path, env, rocksdb::WALRecoveryMode::kAbsoluteConsistency, access::writing, made);
  if (s.IsCorruption()) {
    const auto left = check_only_tail_is_torn(path, env, s);
    if (!left)
      return left.error();
    s = open_as(path, env, rocksdb::WALRecoveryMode::kPointInTimeRecovery, access::writing, made);
    if (s.ok() && warn)
      warn(fmt::format("the write-ahead log in {} is torn behind batch {} (record {}): what comes "
                       "after was never synced, nobody was told of it, and it is dropped",
                       path, left->batch, left->last));
  }
  if (!s.ok())
    return meaning_of_open(s);
  return std::unique_ptr<rocks_database>{
      new rocks_database(path, std::move(made.db), std::move(made.columns))};
}

rocks_database::rocks_database(std::string path, std::unique_ptr<rocksdb::DB> db, handles columns)
    : path_(std::move(path)), db_(std::move(db)), handles_(std::move(columns)) {
  ensure(handles_.size() == 1 + family_count, handles_.size());
}

rocks_database::~rocks_database() {
  for (auto* h : handles_)
    db_->DestroyColumnFamilyHandle(h);
  db_->Close();
}

base::result<recovered> rocks_database::read_all() {
  recovery reading;
  for (auto where : recovery::reading_order) {
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> pos{db_->NewIterator(options, handle_of(where))};
    std::string last;
    for (pos->SeekToFirst(); pos->Valid(); pos->Next()) {
      const auto key = pos->key();
      const auto value = pos->value();
      if (auto ok = reading.take(where, {key.data(), key.size()}, {value.data(), value.size()});
          !ok)
        return ok.error();
      last.assign(key.data(), key.size());
    }
    if (!pos->status().ok())
      return meaning_of_open(pos->status())
          .in(fmt::format("column family {}, behind {}", name_of(where),
                          last.empty() ? "the beginning" : describe_key(where, last)));
  }
  return reading.finish();
}

base::result<void> rocks_database::write(const batch& b) {
  rocksdb::WriteBatch out;
  for (const auto& p : b.puts)
    out.Put(handle_of(p.where), p.key, p.value);
  for (const auto& [where, key] : b.removals)
    out.Delete(handle_of(where), key);
  if (b.has_cut())
    out.DeleteRange(handle_of(family::journal), journal_key(b.cut_from), journal_key(b.cut_below));
  rocksdb::WriteOptions options;
  options.sync = b.synced;
  if (const auto s = db_->Write(options, &out); !s.ok())
    return error{code::io, s.ToString()};
  return {};
}

base::result<std::optional<std::string>> rocks_database::read(family where,
                                                              const std::string& key) {
  rocksdb::ReadOptions options;
  options.verify_checksums = true;
  std::string value;
  const auto s = db_->Get(options, handle_of(where), key, &value);
  if (s.IsNotFound())
    return std::nullopt;
  if (!s.ok())
    return meaning_of_open(s).in(
        fmt::format("column family {}, {}", name_of(where), describe_key(where, key)));
  return std::optional{std::move(value)};
}

void rocks_database::sync() {
  db_->FlushWAL(true).PermitUncheckedError();
}

rocksdb::ColumnFamilyHandle* rocks_database::handle_of(family x) const {
  return handles_.at(1 + static_cast<std::size_t>(x));
}

} // namespace tutti::persistence
