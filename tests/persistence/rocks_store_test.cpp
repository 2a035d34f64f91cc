// What only the store on a real disk can meet: locks, torn logs, full disks, power cuts.
#include "persistence/rocks_store.hpp"

#include <fstream>

#include <sys/wait.h>

#include "base/fault_point.hpp"
#include "tests/persistence/crash_disk.hpp"
#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {
namespace {

namespace fs = std::filesystem;

code opening(const std::string& path) {
  auto made = open_rocks_store({.path = path});
  return made ? code::ok : made.error().what();
}

// ---------------------------------------------------------------- directory and lock

struct RocksDirectory : ::testing::Test {
  temp_directory directory;
  std::string path = directory.path() + "/a/b/store";
};

TEST_F(RocksDirectory, is_made_if_it_is_not_there) {
  EXPECT_EQ(opening(path), code::ok);
  EXPECT_TRUE(fs::is_directory(path));
}

TEST_F(RocksDirectory, cannot_be_below_a_file) {
  std::ofstream{directory.path() + "/a"} << "x";
  auto made = open_rocks_store({.path = path});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().what(), code::bad_input);
  EXPECT_NE(made.error().hint().find("--data-dir"), std::string::npos);
}

TEST_F(RocksDirectory, opens_once_in_one_process) {
  auto first = open_rocks_store({.path = path});
  ASSERT_TRUE(first);
  auto second = open_rocks_store({.path = path});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what(), code::locked) << second.error().message();
  EXPECT_FALSE(second.error().hint().empty());
  first->reset();
  EXPECT_EQ(opening(path), code::ok);
}

TEST_F(RocksDirectory, opens_in_one_process_at_a_time) {
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const auto child = ::fork();
  if (child == 0) {
    auto held = open_rocks_store({.path = path});
    char byte = held ? 'y' : 'n';
    (void)!::write(ready[1], &byte, 1);
    (void)!::read(done[0], &byte, 1);
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  EXPECT_EQ(opening(path), code::locked);
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(opening(path), code::ok) << "a dead process locks nothing";
}

TEST_F(RocksDirectory, of_another_program_is_refused) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* db = nullptr;
  fs::create_directories(path);
  ASSERT_TRUE(rocksdb::DB::Open(options, path, &db).ok());
  rocksdb::ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily({}, "objects", &other).ok());
  db->DestroyColumnFamilyHandle(other);
  delete db;
  EXPECT_EQ(opening(path), code::newer_format);
}

// ---------------------------------------------------------------- damage of the log

/// A store with five synced records and then five lazy ones, and an image of its files as kill -9
/// leaves them.
struct RocksLog : ::testing::Test {
  rocks_bench live;
  temp_directory directory;
  std::string image = directory.path() + "/image";
  std::string log; ///< the image's write-ahead log
  std::size_t synced_size = 0;

  void SetUp() override {
    ASSERT_TRUE(live.open());
    for (int i = 0; i < 5; ++i)
      live.append_one(append(shard(1), prepared(attempt("synced", 1)), true));
    synced_size = fs::file_size(newest_log(live.path()));
    for (int i = 0; i < 5; ++i)
      live.append_one(append(shard(1), prepared(attempt("lazy", 1))));
    fs::copy(live.path(), image, fs::copy_options::recursive);
    log = newest_log(image);
    ASSERT_GT(fs::file_size(log), synced_size);
  }
  static std::string newest_log(const std::string& path) {
    std::string newest;
    for (const auto& entry : fs::directory_iterator{path})
      if (entry.path().extension() == ".log")
        newest = std::max(newest, entry.path().string());
    return newest;
  }
  void overwrite(std::size_t at, const std::string& bytes) {
    std::fstream file{log, std::ios::in | std::ios::out | std::ios::binary};
    file.seekp(static_cast<std::streamoff>(at));
    file << bytes;
  }
  std::size_t records_left() {
    auto made = open_rocks_store({.path = image});
    if (!made) {
      ADD_FAILURE() << made.error().message();
      return 0;
    }
    return (*made)->take_remains().roles[shard(1)].records.size();
  }
};

TEST_F(RocksLog, of_a_killed_process_is_complete) {
  EXPECT_EQ(records_left(), 10u);
}

TEST_F(RocksLog, with_a_torn_tail_loses_only_what_was_never_synced_and_says_so) {
  fs::resize_file(log, fs::file_size(log) - 5);
  std::vector<std::string> said;
  ASSERT_TRUE(open_rocks_store({.path = image, .warn = [&](auto& x) { said.push_back(x); }}));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("torn behind batch"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("(record 9)"), std::string::npos) << said[0];
  EXPECT_EQ(records_left(), 9u);
  EXPECT_EQ(records_left(), 9u) << "and goes on from there";
}

TEST_F(RocksLog, without_its_tail_loses_only_what_was_never_synced) {
  fs::resize_file(log, synced_size);
  EXPECT_EQ(records_left(), 5u);
}

TEST_F(RocksLog, with_a_zeroed_tail_opens) {
  const auto size = fs::file_size(log);
  overwrite(synced_size + 10, std::string(size - synced_size - 10, '\0'));
  EXPECT_EQ(records_left(), 5u);
}

TEST_F(RocksLog, with_garbage_in_the_tail_opens) {
  const auto size = fs::file_size(log);
  overwrite(size - 40, std::string(40, 'x'));
  EXPECT_EQ(records_left(), 9u);
}

TEST_F(RocksLog, damaged_in_what_was_synced_is_refused_and_left_as_it_is) {
  overwrite(synced_size / 2, "damage");
  auto made = open_rocks_store({.path = image});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().what(), code::corrupt) << made.error().message();
  EXPECT_NE(made.error().message().find("journal"), std::string::npos) << made.error().message();
  EXPECT_NE(made.error().message().find("record"), std::string::npos) << made.error().message();
  EXPECT_EQ(opening(image), code::corrupt) << "a second look finds the same";
}

TEST_F(RocksLog, damaged_anywhere_never_loses_what_was_synced_in_silence) {
  const auto whole = directory.path() + "/whole";
  fs::copy(image, whole, fs::copy_options::recursive);
  const auto size = fs::file_size(log);
  for (std::size_t at = 0; at < size; at += 97) {
    fs::remove_all(image);
    fs::copy(whole, image, fs::copy_options::recursive);
    overwrite(at, "\x5a");
    auto made = open_rocks_store({.path = image});
    if (made) {
      EXPECT_GE((*made)->take_remains().roles[shard(1)].records.size(), 5u) << at;
    } else {
      EXPECT_EQ(made.error().what(), code::corrupt) << at << ": " << made.error().message();
    }
    EXPECT_TRUE(made || at < synced_size) << "only the unsynced tail is hit at " << at;
  }
}

TEST_F(RocksLog, that_is_gone_as_a_whole_leaves_what_was_there_at_the_last_start) {
  live.close();
  ASSERT_TRUE(live.open());
  live.append_one(append(shard(1), prepared(attempt("after", 1)), true));
  fs::remove_all(image);
  fs::copy(live.path(), image, fs::copy_options::recursive);
  fs::remove(newest_log(image));
  EXPECT_EQ(records_left(), 10u) << "a whole file that somebody takes away cannot be noticed";
}

// ---------------------------------------------------------------- crash points

/// A process that dies at a named point inside a write, and what the next one finds.
struct RocksCrash : ::testing::Test {
  temp_directory directory;
  std::string path = directory.path() + "/store";

  /// Asks `before`, then dies at `fault` while it asks `last`.
  remains after_dying_at(const char* fault, request before, request last) {
    const auto child = ::fork();
    if (child == 0) {
      auto it = std::move(open_rocks_store({.path = path}).value());
      std::promise<void> asked;
      it->submit(std::move(before), [&](auto) { asked.set_value(); });
      asked.get_future().wait();
      base::arm_fault(fault);
      it->submit(std::move(last), [](auto) { ::_exit(1); });
      it->close();
      ::_exit(2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "it must die at " << fault;
    return open_rocks_store({.path = path}).value()->take_remains();
  }
};

TEST_F(RocksCrash, C3_dies_inside_the_decision_write_and_the_slot_is_empty) {
  const auto mine = committed(attempt("g", 1));
  auto left =
      after_dying_at("C3", decide(committed(attempt("f", 1))), decide(mine, {rider(mine.by, 0)}));
  ASSERT_EQ(left.decisions.size(), 1u);
  EXPECT_EQ(left.decisions[0]->by.gang.value, "f");
  EXPECT_FALSE(left.roles.contains(shard(0))) << "no rider without its decision";
}

TEST_F(RocksCrash, P0_dies_before_prepared_is_on_disk_and_it_is_forgotten) {
  auto left = after_dying_at("P0", append(shard(1), protocol::epoch_record{{1}, {1}, 1}),
                             append(shard(1), prepared(attempt("a", 1))));
  EXPECT_EQ(left.roles[shard(1)].records.size(), 1u);
}

TEST_F(RocksCrash, P8_dies_with_a_checkpoint_half_made_and_the_journal_is_used) {
  auto left = after_dying_at("P8", append(shard(1), prepared(attempt("a", 1)), true),
                             snapshot(shard(1), 1, "half"));
  EXPECT_TRUE(left.roles[shard(1)].checkpoint.empty());
  EXPECT_EQ(left.roles[shard(1)].records.size(), 1u);
}

// ---------------------------------------------------------------- failing disks

struct RocksDisk : ::testing::Test {
  crash_env env;
  rocks_bench it{&env, 0}; // it does not look for space before it writes

  void SetUp() override {
    ASSERT_TRUE(it.open());
    it.append_one(append(shard(1), prepared(attempt("before", 1)), true));
  }
  code asking(request what) {
    auto answer = it.ask(std::move(what));
    return answer ? code::ok : answer.error().what();
  }
};

TEST_F(RocksDisk, that_is_full_fails_every_write_until_the_next_start) {
  env.disk().leave_free(0);
  EXPECT_EQ(asking(decide(committed(attempt("g", 1)))), code::io);
  env.disk().leave_all_free();
  EXPECT_EQ(asking(append(shard(1), prepared(attempt("a", 1)))), code::io) << "F9";
  EXPECT_EQ(asking(retire_request{shard(1), {2}}), code::io);
  auto left = it.reopen();
  EXPECT_EQ(left.roles[shard(1)].records.size(), 1u);
  EXPECT_TRUE(left.decisions.empty()) << "never half-written";
}

TEST_F(RocksDisk, that_is_full_is_told_to_whoever_checks_the_journal) {
  using part = check_request::part;
  EXPECT_EQ(asking(check_request{part::journal}), code::ok);
  EXPECT_EQ(asking(check_request{part::decision_log}), code::ok) << "with nothing in it";
  EXPECT_EQ(asking(decide(committed(attempt("g", 1)))), code::ok);
  EXPECT_EQ(asking(check_request{part::decision_log}), code::ok);
  env.disk().leave_free(0);
  EXPECT_EQ(asking(check_request{part::journal}), code::io);
  env.disk().leave_all_free();
  EXPECT_EQ(asking(check_request{part::journal}), code::io) << "F9";
  EXPECT_EQ(it.reopen().decisions.size(), 1u) << "a check changes nothing";
}

TEST_F(RocksDisk, is_synced_by_a_check_of_the_journal) {
  const auto before = env.disk().log_syncs();
  EXPECT_EQ(asking(check_request{check_request::part::journal}), code::ok);
  EXPECT_EQ(env.disk().log_syncs() - before, 1u);
}

TEST_F(RocksDisk, whose_sync_fails_is_never_believed_again) {
  env.disk().fail_log_syncs(true);
  EXPECT_EQ(asking(decide(committed(attempt("g", 1)))), code::io);
  env.disk().fail_log_syncs(false);
  EXPECT_EQ(asking(decide(committed(attempt("g", 1)))), code::io) << "F10";
  EXPECT_EQ(it.use().claim("x").error().what(), code::io);
  EXPECT_LE(it.reopen().decisions.size(), 1u) << "whole or absent";
}

TEST_F(RocksDisk, is_synced_once_for_a_hundred_decisions) {
  const auto before = env.disk().log_syncs();
  std::vector<request> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(decide(committed(attempt("g" + std::to_string(i), 1))));
  it.ask_all(std::move(all));
  EXPECT_LE(env.disk().log_syncs() - before, 2u);
}

} // namespace
} // namespace tutti::persistence::testing
