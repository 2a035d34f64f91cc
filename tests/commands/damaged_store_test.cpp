// A store that is damaged, or that a later version wrote, ends the start with one line that names
// the place and the cure. Nothing is lost by it: with the damage mended all goes on.
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include "judge.hpp"
#include "persistence/rocks_database.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

namespace fs = std::filesystem;
using persistence::family;

/// Takes the damage back.
using mending = std::function<void()>;
/// Damages what is stored in a data directory.
using damage = std::function<mending(const std::string& data)>;
/// What a value becomes; nothing = it is taken away.
using change = std::function<std::optional<std::string>(std::string)>;

std::optional<std::string> one_byte_flipped(std::string x) {
  x.at(x.size() / 2) ^= '\x5a';
  return x;
}

std::optional<std::string> taken_away(const std::string&) {
  return std::nullopt;
}

change replaced_by(const std::string& text) {
  return [text](const std::string&) { return text; };
}

/// The scheduler's store without a scheduler.
std::unique_ptr<persistence::rocks_database> open_scheduler_store(const std::string& data) {
  auto opened = persistence::rocks_database::open(data + "/scheduler", nullptr, nullptr);
  if (!opened)
    throw std::runtime_error(opened.error().message());
  return std::move(*opened);
}

void put(persistence::rocks_database& db, family where, const std::string& key,
         const std::optional<std::string>& value) {
  persistence::batch b;
  if (value)
    b.puts.push_back({where, key, *value});
  else
    b.removals.emplace_back(where, key);
  b.synced = true;
  EXPECT_TRUE(db.write(b));
}

/// The first key of its kind that a settled scheduler has left.
std::string some_key(persistence::rocks_database& db, family where) {
  const auto found = db.read_all().value();
  switch (where) {
  case family::meta:
    return std::string{persistence::meta_key::format};
  case family::journal:
    return persistence::journal_key(found.all.ends.last);
  case family::decisions:
    return persistence::decision_key(found.all.decisions.begin()->first);
  case family::checkpoint:
    for (const auto& [who, role] : found.all.roles)
      if (role.has_checkpoint)
        return persistence::checkpoint_key(who);
  }
  throw std::runtime_error("there is no checkpoint");
}

damage in_scheduler(family where, change to) {
  return [=](const std::string& data) -> mending {
    auto db = open_scheduler_store(data);
    const auto key = some_key(*db, where);
    const auto good = db->read(where, key).value();
    EXPECT_TRUE(good) << "it is not there before the damage";
    put(*db, where, key, to(good.value_or("")));
    return [=] { put(*open_scheduler_store(data), where, key, good); };
  };
}

/// The API server's store is one plain column family.
class api_store {
public:
  explicit api_store(const std::string& data) {
    rocksdb::DB* raw = nullptr;
    const auto s = rocksdb::DB::Open({}, data + "/api", &raw);
    if (!s.ok())
      throw std::runtime_error(s.ToString());
    db_.reset(raw);
  }
  std::string get(const std::string& key) {
    std::string value;
    EXPECT_TRUE(db_->Get({}, key, &value).ok()) << key;
    return value;
  }
  void put(const std::string& key, const std::string& value) {
    EXPECT_TRUE(db_->Put({}, key, value).ok()) << key;
  }

private:
  std::unique_ptr<rocksdb::DB> db_;
};

damage in_api_server(const std::string& key, change to) {
  return [=](const std::string& data) -> mending {
    const auto good = api_store{data}.get(key);
    api_store{data}.put(key, *to(good));
    return [=] { api_store{data}.put(key, good); };
  };
}

/// Flips one byte of the newest log, not far behind its beginning: later writes are durable.
damage in_log_of(const std::string& store) {
  return [store](const std::string& data) -> mending {
    std::string log;
    for (const auto& x : fs::directory_iterator{data + "/" + store})
      if (x.path().extension() == ".log")
        log = std::max(log, x.path().string());
    const auto flip = [log] {
      std::fstream file{log, std::ios::in | std::ios::out | std::ios::binary};
      const auto at = static_cast<std::streamoff>(fs::file_size(log) / 8);
      file.seekg(at);
      const auto byte = static_cast<char>(file.get() ^ 0x5a);
      file.seekp(at);
      file.put(byte);
      EXPECT_TRUE(file.good()) << log;
    };
    flip();
    return flip;
  };
}

struct damaged_store {
  std::string name;
  damage what;
  std::vector<std::string> must_say;
  bool is_killed =
      false; ///< the scheduler; an orderly end leaves no journal behind its checkpoints
};

void PrintTo(const damaged_store& x, std::ostream* out) {
  *out << x.name;
}

std::vector<damaged_store> damaged_stores() {
  const std::string restore = "hint: restore the volume, or move the directory away: the scheduler "
                              "then rebuilds its state from the API server";
  const std::string restore_api = "hint: restore the directory, or choose another --data-dir";
  const std::string later = "hint: start the version of tutti that wrote it";
  const std::string no_checksum = "checksum does not hold";
  return {
      {"by_a_later_version",
       in_scheduler(family::meta, replaced_by("tutti store, format 2")),
       {"data/scheduler: ", "has format 2, this version of tutti reads up to 1", later}},
      {"with_a_flipped_record",
       in_scheduler(family::journal, one_byte_flipped),
       {"data/scheduler: ", "column family journal: record ", no_checksum, restore},
       true},
      {"without_its_last_record",
       in_scheduler(family::journal, taken_away),
       {"data/scheduler: ", "column family journal: record ", "is missing", restore},
       true},
      {"with_a_flipped_decision",
       in_scheduler(family::decisions, one_byte_flipped),
       {"data/scheduler: ", "column family decisions: decision 1 of gang ", no_checksum, restore}},
      {"without_a_decision",
       in_scheduler(family::decisions, taken_away),
       {"data/scheduler: ", "column family decisions: ", "were written", restore}},
      {"with_a_flipped_checkpoint",
       in_scheduler(family::checkpoint, one_byte_flipped),
       {"data/scheduler: ", "column family checkpoint: checkpoint of ", no_checksum, restore}},
      {"with_a_flipped_log",
       in_log_of("scheduler"),
       {"data/scheduler: ", "the write-ahead log is damaged behind batch ", "record ", restore}},
      {"of_the_cluster_by_a_later_version",
       in_api_server("m/format", replaced_by("2")),
       {"data/api has format 2, this program reads 1", later}},
      {"of_the_cluster_with_a_cut_object",
       in_api_server("o/nodes/n1", replaced_by("{\"kind\": \"No")),
       {"data/api: o/nodes/n1: ", "is no JSON", restore_api}},
      {"of_the_cluster_with_a_flipped_log",
       in_log_of("api"),
       {"data/api: ", "checksum mismatch", restore_api}},
  };
}

/// "error: …" and "hint: …", a line each.
bool is_error_and_cure(const std::string& said) {
  const auto end = said.find("\nhint: ");
  return said.starts_with("error: ") && end != said.npos && said.find('\n') == end
         && said.find('\n', end + 1) == said.size() - 1;
}

class DamagedStore : public testing::TestWithParam<damaged_store> {};

TEST_P(DamagedStore, ends_the_start_with_place_and_cure_and_loses_nothing) {
  temp_dir home;
  const arguments data{"--data-dir", home.sub("data")};
  daemon first{{.what = {"--data-dir", home.sub("data"), "-f", example("small")}, .listens = true}};
  first.settle();
  const auto before = look_at(first.api());
  if (GetParam().is_killed)
    first.itself().kill();
  else
    first.stop();

  const auto mend = GetParam().what(home.sub("data"));
  for (int i = 0; i < 2; ++i) { // a second look finds the same
    const auto said = run(local_in(home, {"--until", "settled"}));
    EXPECT_EQ(said.code(), 1) << said.out << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_TRUE(is_error_and_cure(said.err)) << said.err;
    for (const auto& word : GetParam().must_say)
      EXPECT_NE(said.err.find(word), said.err.npos) << "lacks \"" << word << "\": " << said.err;
  }

  mend();
  daemon second{{.what = data, .listens = true}};
  second.settle();
  const auto after = look_at(second.api());
  EXPECT_EQ(before.pods.size(), 8u);
  EXPECT_EQ(after.pods.size(), 8u);
  EXPECT_EQ(after.bound_of("ring"), 3);
  expect_nobody_moved(before, after);
  second.stop();
}

INSTANTIATE_TEST_SUITE_P(Of, DamagedStore, testing::ValuesIn(damaged_stores()),
                         [](const auto& x) { return x.param.name; });

TEST(DamagedStoreOfTheScheduler, that_is_moved_away_as_the_hint_says_is_rebuilt) {
  temp_dir home;
  daemon first{{.what = {"--data-dir", home.sub("data"), "-f", example("small")}, .listens = true}};
  first.settle();
  const auto before = look_at(first.api());
  first.stop();
  in_scheduler(family::decisions, one_byte_flipped)(home.sub("data"));
  EXPECT_EQ(run(local_in(home, {"--until", "settled"})).code(), 1);

  fs::rename(home.sub("data/scheduler"), home.sub("damaged"));
  daemon second{{.what = {"--data-dir", home.sub("data")}, .listens = true}};
  second.settle();
  const auto after = look_at(second.api());
  EXPECT_EQ(after.bound_of("ring"), 3);
  expect_nobody_moved(before, after);
  second.stop();
}

} // namespace
} // namespace tutti::commands
