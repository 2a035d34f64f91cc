// The words in which stories of a store are told, the same for RocksDB and the memory twin.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <unistd.h>

#include "persistence/book.hpp"
#include "persistence/format.hpp"
#include "persistence/memory_store.hpp"
#include "persistence/rocks_store.hpp"
#include "protocol/records_codec.hpp"

namespace tutti::persistence::testing {

using base::code;
using protocol::decision;
using protocol::record;

/// A directory that is gone with its owner.
class temp_directory {
public:
  temp_directory() {
    auto pattern = (std::filesystem::temp_directory_path() / "tutti-store-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~temp_directory() { std::filesystem::remove_all(path_); }
  temp_directory(const temp_directory&) = delete;
  temp_directory& operator=(const temp_directory&) = delete;

  std::string path() const { return path_; }

private:
  std::string path_;
};

// ---------------------------------------------------------------- facts of the stories

inline protocol::address shard(unsigned n) {
  return protocol::to_shard({n});
}
inline protocol::address partition(unsigned n) {
  return protocol::to_partition({n});
}

inline base::attempt_id attempt(const std::string& gang, std::uint64_t ordinal,
                                std::uint64_t epoch = 1, std::uint64_t try_no = 1) {
  return {{gang}, ordinal, {epoch}, try_no};
}

/// One member on one node of the shard.
inline protocol::slice slice_of(unsigned shard_no, const std::string& pod) {
  protocol::seat s;
  s.pod = {pod};
  s.pod_name = pod + "-name";
  s.node = {"node-uid"};
  s.node_name = {"node-1"};
  s.takes.amounts.cpu_milli = 1500;
  s.takes.amounts.pods = 1;
  s.takes.amounts.set(base::symbol{"nvidia.com/gpu"}, 2);
  s.takes.ports.push_back({base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 80});
  protocol::slice x;
  x.shard = {shard_no};
  x.seats.push_back(std::move(s));
  x.quotes.push_back({{"node-uid"}, 17});
  return x;
}

inline protocol::prepared_record prepared(const base::attempt_id& a, unsigned shard_no = 0) {
  return {a, {3}, std::make_shared<protocol::slice>(slice_of(shard_no, "pod-" + a.gang.value))};
}

inline decision committed(const base::attempt_id& by) {
  decision x;
  x.by = by;
  x.what = protocol::verdict::committed;
  x.gang_name = {"default", by.gang.value};
  x.groups.push_back({"workers", "group-uid", 1, ""});
  x.bound_already = {0};
  x.chosen.slices.push_back(slice_of(0, "pod-" + by.gang.value));
  x.seat_versions = {"77"};
  return x;
}
inline decision aborted(const base::attempt_id& by) {
  decision x;
  x.by = by;
  return x;
}

// Not inline: g++ 12 sees an uninitialised variant in the inlined move, where there is none.
request append(const protocol::address& writer, record what, bool synced = false,
               std::uint64_t incarnation = 1);
inline request decide(decision what, std::vector<protocol::rider> riders = {}) {
  auto slot = base::slot_of(what.by);
  return decide_request{{std::move(slot), std::move(what), std::move(riders)}};
}
inline protocol::rider rider(const base::attempt_id& a, unsigned shard_no,
                             std::uint64_t incarnation = 1) {
  return {{shard_no}, {incarnation}, prepared(a, shard_no)};
}
inline request amend(const std::string& gang, std::uint64_t ordinal, protocol::amendment what) {
  return amend_request{{{{gang}, ordinal}, std::move(what)}};
}
inline protocol::amendment finish(std::uint64_t by) {
  return {{by}, {}, false, true};
}
inline protocol::amendment adopt(std::uint64_t by) {
  return {{by}, {}, true, false};
}
inline protocol::amendment cancel(std::uint64_t by, const std::string& pod) {
  return {{by}, {{pod}}, false, false};
}
inline request snapshot(const protocol::address& writer, journal_index applied, std::string bytes) {
  return checkpoint_request{writer, applied, std::move(bytes)};
}

/// Everything of `x` as text, so that two recoveries can be compared and differences read.
inline std::string story_of(const remains& x) {
  std::string out = fmt::format("incarnation {}\n", x.last_incarnation.value);
  for (const auto& [who, left] : x.roles) {
    out += fmt::format("{}: '{}' up to {}\n", to_text(who), left.checkpoint, left.applied);
    for (const auto& [index, what] : left.records)
      out += fmt::format("  {} kind {} hash {}\n", index, what.index(),
                         base::hash_of(protocol::encode(what)));
  }
  for (const auto& d : x.decisions)
    out +=
        fmt::format("decision {} of {}: {} cancelled {} adopted {} done {} hash {}\n",
                    d->by.ordinal, d->by.gang.value, static_cast<int>(d->what), d->cancelled.size(),
                    d->adopted_by.value, d->is_done, base::hash_of(protocol::encode(*d)));
  for (const auto& [p, epoch] : x.partition_epochs)
    out += fmt::format("partition {} epoch {}\n", p, epoch.value);
  return out;
}

// ---------------------------------------------------------------- one store of either kind

/// A store that can be opened, asked, ended and damaged, whichever kind it is.
class bench {
public:
  virtual ~bench() = default;

  virtual base::result<void> open(std::uint32_t shards = 0, std::string cluster_uid = {}) = 0;
  /// An orderly end.
  virtual void close() = 0;
  /// Queues all of them before the first is written, and waits for the answers.
  virtual std::vector<base::result<outcome>> ask_all(std::vector<request> what) = 0;
  /// The value of a closed store; unset if there is none.
  virtual std::optional<std::string> raw(family where, const std::string& key) = 0;
  /// Changes a closed store behind its back; no value = remove.
  virtual void set_raw(family where, const std::string& key, std::optional<std::string> to) = 0;
  virtual store& use() = 0;

  base::result<outcome> ask(request what) {
    std::vector<request> one;
    one.push_back(std::move(what));
    return ask_all(std::move(one)).at(0);
  }
  journal_index append_one(request what) {
    return std::get<appended>(ask(std::move(what)).value()).index;
  }
  decide_outcome decided(request what) {
    return std::get<decide_outcome>(ask(std::move(what)).value());
  }
  amend_outcome amended(request what) {
    return std::get<amend_outcome>(ask(std::move(what)).value());
  }
  /// Ends the process in order and reads what it left.
  remains reopen() {
    close();
    EXPECT_TRUE(open()) << "the store must open";
    return use().take_remains();
  }
};

class memory_bench final : public bench {
public:
  base::result<void> open(std::uint32_t shards, std::string cluster_uid) override {
    auto made = memory_store::open(disk_, {shards, std::move(cluster_uid)});
    if (!made)
      return made.error();
    store_ = std::move(*made);
    return {};
  }
  void close() override {
    if (!store_)
      return;
    store_->close();
    disk_ = store_->durable();
    store_.reset();
  }
  std::vector<base::result<outcome>> ask_all(std::vector<request> what) override {
    std::vector<base::result<outcome>> out;
    for (auto& r : what)
      store_->submit(std::move(r), [&](base::result<outcome> x) { out.push_back(std::move(x)); });
    store_->run_all();
    return out;
  }
  std::optional<std::string> raw(family where, const std::string& key) override {
    const auto pos = disk_.of(where).find(key);
    return pos == disk_.of(where).end() ? std::nullopt : std::optional{pos->second};
  }
  void set_raw(family where, const std::string& key, std::optional<std::string> to) override {
    if (to)
      disk_.of(where)[key] = *to;
    else
      disk_.of(where).erase(key);
  }
  store& use() override { return *store_; }
  memory_store& memory() { return *store_; }

private:
  disk disk_;
  std::unique_ptr<memory_store> store_;
};

class rocks_bench final : public bench {
public:
  explicit rocks_bench(rocksdb::Env* env = nullptr, std::uint64_t reserve = disk_reserve_default)
      : env_(env), reserve_(reserve) {}

  base::result<void> open(std::uint32_t shards, std::string cluster_uid) override {
    auto made = open_rocks_store({.path = path(),
                                  .shards = shards,
                                  .cluster_uid = std::move(cluster_uid),
                                  .env = env_,
                                  .reserve = reserve_,
                                  .warn = [this](const std::string& x) { warnings.push_back(x); }});
    if (!made)
      return made.error();
    store_ = std::move(*made);
    return {};
  }
  base::result<void> open() { return open(0, {}); }
  void close() override { store_.reset(); }

  std::vector<base::result<outcome>> ask_all(std::vector<request> what) override {
    // The writer thread waits in the first completion until everything is queued.
    std::promise<void> all_queued;
    auto may_go = all_queued.get_future().share();
    std::vector<std::promise<base::result<outcome>>> answers(what.size());
    store_->submit(retire_request{partition(63), {0}}, [may_go](auto) { may_go.wait(); });
    for (std::size_t i = 0; i < what.size(); ++i)
      store_->submit(std::move(what[i]),
                     [p = &answers[i]](base::result<outcome> x) { p->set_value(std::move(x)); });
    all_queued.set_value();
    std::vector<base::result<outcome>> out;
    for (auto& a : answers)
      out.push_back(a.get_future().get());
    return out;
  }
  std::optional<std::string> raw(family where, const std::string& key) override {
    std::string value;
    const opened db{path()};
    return db.it->Get({}, db.of(where), key, &value).ok() ? std::optional{value} : std::nullopt;
  }
  void set_raw(family where, const std::string& key, std::optional<std::string> to) override {
    const opened db{path()};
    const auto s =
        to ? db.it->Put({}, db.of(where), key, *to) : db.it->Delete({}, db.of(where), key);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  store& use() override { return *store_; }
  std::string path() const { return directory_.path() + "/store"; }
  std::string directory() const { return directory_.path(); }

  std::vector<std::string> warnings; ///< of all openings

private:
  /// The database without our store around it.
  struct opened {
    explicit opened(const std::string& path) {
      std::vector<rocksdb::ColumnFamilyDescriptor> families{
          {rocksdb::kDefaultColumnFamilyName, {}}};
      for (int i = 0; i < family_count; ++i)
        families.emplace_back(std::string{name_of(static_cast<family>(i))},
                              rocksdb::ColumnFamilyOptions{});
      const auto s = rocksdb::DB::Open({}, path, families, &handles, &it);
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
    ~opened() {
      for (auto* h : handles)
        it->DestroyColumnFamilyHandle(h);
      delete it;
    }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    rocksdb::ColumnFamilyHandle* of(family x) const {
      return handles.at(1 + static_cast<std::size_t>(x));
    }
    rocksdb::DB* it = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
  };

  temp_directory directory_;
  rocksdb::Env* env_;
  std::uint64_t reserve_;
  std::unique_ptr<store> store_;
};

} // namespace tutti::persistence::testing
