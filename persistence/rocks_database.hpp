// Opens a RocksDB so that nothing synced can be missing unnoticed, writes batches, reads it whole.
//
// RocksDB offers four ways to treat a damaged write-ahead log, and none is right alone. A power cut
// may leave the unsynced tail short, zeroed or garbled; that must open. A flipped bit in what was
// synced must not: decisions stand there. `kPointInTimeRecovery` (the default) opens both and says
// nothing; `kAbsoluteConsistency` refuses both; `kTolerateCorruptedTailRecords` refuses zeroes.
//
// So the log is opened with kAbsoluteConsistency. If RocksDB refuses, we find out what is behind
// the damage: each batch carries the number of the last batch that was known to be durable when it
// was written (`tail`), and the raw log is searched for such tails, whatever RocksDB thinks of it.
// If the prefix before the damage reaches that number, only the unsynced tail is hit and the store
// is opened with kPointInTimeRecovery; else it is `corrupt`, and nothing is changed on the disk.
// FORMAT.md, "Recovery", has the steps and what cannot be told.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <rocksdb/db.h>

#include "base/result.hpp"
#include "persistence/book.hpp"
#include "persistence/recovery.hpp"

namespace tutti::persistence {

class rocks_database {
public:
  /// Makes the directory if it is not there. `bad_input` if it cannot be used.
  static base::result<void> prepare(const std::string& path);

  /// Opens or makes the database in a prepared directory; `env` and `warn` may be null: see
  /// `rocks_options`. Errors as `open_rocks_store`.
  static base::result<std::unique_ptr<rocks_database>>
  open(const std::string& path, rocksdb::Env* env,
       const std::function<void(const std::string&)>& warn);
  ~rocks_database();

  /// Reads and verifies everything.
  base::result<recovered> read_all();

  /// Writes the batch whole or not at all, with one sync if it asks for it. After an error it may
  /// or may not be there, and nothing may be written any more.
  base::result<void> write(const batch& b);

  /// One value as it was written last; none if it is not there.
  base::result<std::optional<std::string>> read(family where, const std::string& key);

  /// Makes everything durable.
  void sync();

  const std::string& path() const { return path_; }

private:
  rocks_database(std::string path, std::unique_ptr<rocksdb::DB> db,
                 std::vector<rocksdb::ColumnFamilyHandle*> handles);

  rocksdb::ColumnFamilyHandle* handle_of(family x) const;

  std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> handles_; // default, then in the order of `family`
};

} // namespace tutti::persistence
