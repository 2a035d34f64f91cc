// How full a disk is called, and that both stores wait for space instead of failing.
#include "persistence/disk_space.hpp"

#include <atomic>
#include <future>

#include <gtest/gtest.h>

#include "tests/persistence/crash_disk.hpp"
#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {
namespace {

using namespace std::chrono_literals;

TEST(DiskSpace, has_two_marks_and_does_not_flutter_at_them) {
  space_gauge it{1000};
  struct look {
    std::uint64_t free;
    space_level is;
  };
  for (const auto& x : std::vector<look>{{5000, space_level::plenty},
                                         {1000, space_level::plenty},
                                         {999, space_level::scarce},
                                         {1249, space_level::scarce},
                                         {1250, space_level::plenty},
                                         {250, space_level::scarce},
                                         {249, space_level::none},
                                         {311, space_level::none},
                                         {312, space_level::scarce},
                                         {0, space_level::none},
                                         {5000, space_level::plenty}})
    EXPECT_EQ(it.look(x.free).level, x.is) << x.free;
}

TEST(DiskSpace, is_always_plenty_without_a_reserve) {
  space_gauge it{0};
  EXPECT_TRUE(it.look(0).has_plenty());
}

TEST(DiskSpace, is_told_with_both_numbers) {
  const auto e = full_error({space_level::none, 1u << 20, 16u << 20});
  EXPECT_EQ(e.what(), code::io);
  EXPECT_EQ(e.message(),
            "the disk is full: 1.0 MiB are free, and nothing is written until 5.0 MiB are");
  EXPECT_EQ(full_error({space_level::scarce, 9u << 20, 16u << 20}).message(),
            "the disk is nearly full: 9.0 MiB are free, and nothing new is begun until 20.0 MiB "
            "are");
  EXPECT_FALSE(e.hint().empty());
}

// ---------------------------------------------------------------- the real store

struct FullDisk : ::testing::Test {
  static constexpr std::uint64_t reserve = 1u << 20;
  crash_env env;
  rocks_bench it{&env, reserve};

  void SetUp() override { ASSERT_TRUE(it.open()); }
  std::future<base::result<outcome>> ask_later(request what) {
    auto promise = std::make_shared<std::promise<base::result<outcome>>>();
    it.use().submit(std::move(what),
                    [promise](base::result<outcome> x) { promise->set_value(std::move(x)); });
    return promise->get_future();
  }
};

TEST_F(FullDisk, F9_nobody_is_answered_until_there_is_space_and_then_everybody_is) {
  // The writer is held while the disk fills: idle, it would write down what was synced.
  std::promise<void> is_held, may_go;
  it.use().submit(retire_request{partition(63), {0}}, [&](const auto&) {
    is_held.set_value();
    may_go.get_future().wait();
  });
  is_held.get_future().wait();
  env.disk().leave_free(reserve / 4 - 1);
  auto decided = ask_later(decide(committed(attempt("g", 1))));
  auto noted = ask_later(append(shard(1), prepared(attempt("a", 1))));
  EXPECT_TRUE(it.use().look_at_disk().has_none());
  const auto changes = env.disk().changes();
  may_go.set_value();
  EXPECT_EQ(decided.wait_for(0ms), std::future_status::timeout);
  EXPECT_EQ(noted.wait_for(3 * std::chrono::milliseconds{disk_look_interval_ms}),
            std::future_status::timeout);
  EXPECT_EQ(env.disk().changes(), changes) << "the disk is left alone";
  env.disk().leave_free(2 * reserve);
  EXPECT_TRUE(decided.get());
  EXPECT_TRUE(noted.get());
  auto left = it.reopen();
  EXPECT_EQ(left.decisions.size(), 1u) << "without a restart, and it is durable";
  EXPECT_EQ(left.roles[shard(1)].records.size(), 1u);
}

TEST_F(FullDisk, F9_a_scarce_disk_takes_what_is_under_way) {
  env.disk().leave_free(reserve / 2);
  EXPECT_EQ(it.use().look_at_disk().level, space_level::scarce);
  EXPECT_TRUE(it.ask(decide(committed(attempt("g", 1)))));
}

TEST_F(FullDisk, F9_closing_refuses_what_waits_and_has_written_none_of_it) {
  env.disk().leave_free(0);
  auto decided = ask_later(decide(committed(attempt("g", 1))));
  auto claimed = std::async(std::launch::async, [this] { return it.use().claim("cluster"); });
  it.use().close();
  EXPECT_EQ(decided.get().error().what(), code::io);
  EXPECT_FALSE(claimed.get());
  it.close();
  env.disk().leave_all_free();
  ASSERT_TRUE(it.open());
  EXPECT_TRUE(it.use().take_remains().decisions.empty()) << "never half-written";
}

TEST_F(FullDisk, F9_does_not_open_and_says_why) {
  it.close();
  env.disk().leave_free(0);
  const auto changes = env.disk().changes();
  auto ok = it.open();
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().what(), code::io);
  EXPECT_NE(ok.error().message().find("the disk is full"), std::string::npos);
  EXPECT_EQ(env.disk().changes(), changes) << "nothing was tried";
  env.disk().leave_all_free();
  EXPECT_TRUE(it.open());
}

// ---------------------------------------------------------------- its twin

TEST(FullMemory, F9_nobody_is_answered_until_there_is_space_and_then_everybody_is) {
  std::uint64_t free = UINT64_MAX;
  auto it = memory_store::open({}, {.free_bytes = [&free] { return free; }}).value();
  int answers = 0;
  free = 0;
  it->submit(decide(committed(attempt("g", 1))), [&](const auto& x) { answers += x ? 1 : 0; });
  it->run_all();
  EXPECT_FALSE(it->run_one());
  EXPECT_EQ(answers, 0);
  EXPECT_EQ(it->queued(), 1u);
  free = UINT64_MAX;
  it->run_all();
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(memory_store::open(it->durable()).value()->take_remains().decisions.size(), 1u);
}

TEST(FullMemory, F9_a_crash_finds_nothing_of_what_waited) {
  std::uint64_t free = UINT64_MAX;
  auto it = memory_store::open({}, {.free_bytes = [&free] { return free; }}).value();
  free = 0;
  code answer = code::ok;
  it->submit(decide(committed(attempt("g", 1))),
             [&](const auto& x) { answer = x ? code::ok : x.error().what(); });
  EXPECT_TRUE(memory_store::open(it->crash(9)).value()->take_remains().decisions.empty());
  EXPECT_EQ(answer, code::ok) << "nobody was told";
}

TEST(FullMemory, F9_closing_refuses_what_waits) {
  std::uint64_t free = UINT64_MAX;
  auto it = memory_store::open({}, {.free_bytes = [&free] { return free; }}).value();
  free = 0;
  code answer = code::ok;
  it->submit(decide(committed(attempt("g", 1))),
             [&](const auto& x) { answer = x ? code::ok : x.error().what(); });
  it->close();
  EXPECT_EQ(answer, code::io);
  EXPECT_TRUE(memory_store::open(it->durable()).value()->take_remains().decisions.empty());
}

} // namespace
} // namespace tutti::persistence::testing
