// A scheduler and its store: orderly ends, restarts, and disks that fail.
#include "tests/actors/stage.hpp"

#include <fmt/core.h>

#include "actors/admin_api.hpp"
#include "tests/persistence/crash_disk.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;
using protocol::to;

void add_nodes(stage& on) {
  on.node("a1", 8, "a");
  on.node("b1", 8, "b");
}

std::int64_t committed(stage& on) {
  std::int64_t sum = 0;
  for (std::uint32_t s = 0; s < 2; ++s) {
    const auto said = on.ask(protocol::to_shard({s}), "shards", {});
    sum += said.is_object() ? said.at("committed").as_int64() : 0;
  }
  return sum;
}

struct SchedulerStore : ::testing::Test {
  stage on;
  void SetUp() override { add_nodes(on); }
};

TEST_F(SchedulerStore, stops_in_time_and_goes_on_after_a_restart) {
  ASSERT_TRUE(on.start());
  on.gang("fits", 2, 4);
  on.gang("waits", 3, 8);
  ASSERT_TRUE(eventually([this] { return on.is_bound("fits", 2); }));
  ASSERT_TRUE(eventually([this] { return on.word("waits", "reason") == "NeverFits"; }))
      << on.word("waits", "reason");
  const auto begun = std::chrono::steady_clock::now();
  on.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{5});
  ASSERT_TRUE(on.start());
  EXPECT_TRUE(eventually([this] { return on.word("waits", "reason") == "NeverFits"; }));
  on.node("c1", 8, "c");
  on.node("d1", 8, "d");
  on.node("e1", 8, "e");
  EXPECT_TRUE(eventually([this] { return on.is_bound("waits", 3); }));
  EXPECT_EQ(on.failures(), 0u);
}

TEST_F(SchedulerStore, decided_reservations_are_known_before_the_first_list) {
  ASSERT_TRUE(on.start());
  ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  on.keep_bindings();
  on.gang("g", 2, 4);
  ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 2 && committed(on) > 0; }));
  const auto before = committed(on);
  on.stop();
  on.keep_bindings(); // or it is over before anybody looks
  ASSERT_TRUE(on.start());
  EXPECT_EQ(committed(on), before);
  on.let_bindings_go();
  EXPECT_TRUE(eventually([this] { return on.is_bound("g", 2); })) << "and rolled forward";
}

struct SchedulerDisk : ::testing::Test {
  explicit SchedulerDisk(std::uint64_t reserve = persistence::disk_reserve_default)
      : on{{.env = &env, .disk_reserve = reserve}} {}

  persistence::testing::crash_env env;
  stage on;

  void SetUp() override {
    add_nodes(on);
    ASSERT_TRUE(on.start());
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
    on.keep_bindings();
    on.gang("before", 2, 2);
    ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 2 && committed(on) > 0; }));
  }
  http_reply ready() { return answer_admin(on.it(), {}, "GET", "/readyz?verbose"); }
  bool shards_say(const std::string& gang) {
    return on.word(gang, "reason") == "ShardUnavailable"
           && on.all_words(gang).find("disk is nearly full") != std::string::npos;
  }
  void fails_and_recovers() {
    on.gang("during", 2, 2);
    ASSERT_TRUE(eventually([this] { return on.failures() == 1; }));
    EXPECT_EQ(on.failure().what(), base::code::io);
    EXPECT_NE(on.failure().message().find("takes no writes any more"), std::string::npos);
    EXPECT_EQ(on.failure().message().find('\n'), std::string::npos) << "one line";
    EXPECT_NE(on.failure().hint().find("restart"), std::string::npos);
    const auto begun = std::chrono::steady_clock::now();
    on.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{5});
    env.disk().leave_all_free();
    env.disk().fail_log_syncs(false);
    on.keep_bindings(); // or it is over before anybody looks
    ASSERT_TRUE(on.start());
    EXPECT_GT(committed(on), 0) << "what was decided is there";
    on.let_bindings_go();
    EXPECT_TRUE(
        eventually([this] { return on.is_bound("before", 2) && on.is_bound("during", 2); }));
    EXPECT_EQ(on.failures(), 1u) << "told once";
  }
};

/// Without a reserve nobody looks, as if somebody else took the space between look and write.
struct SchedulerDiskUnwatched : SchedulerDisk {
  SchedulerDiskUnwatched() : SchedulerDisk(0) {}
};

TEST_F(SchedulerDisk, F9_a_full_disk_takes_no_new_promise_and_is_waited_out) {
  EXPECT_EQ(ready().status, 200) << ready().body;
  env.disk().leave_free(0);
  ASSERT_TRUE(eventually([this] { return on.noted("shard.disk_scarce") == 2; }));
  EXPECT_EQ(ready().status, 503);
  EXPECT_NE(ready().body.find("[-]disk-space failed"), std::string::npos) << ready().body;
  on.gang("during", 2, 2);
  EXPECT_TRUE(eventually([&] { return shards_say("during"); })) << on.all_words("during");
  on.let_bindings_go();
  EXPECT_TRUE(eventually([this] { return on.is_bound("before", 2); })) << "decided: it goes on";
  EXPECT_FALSE(on.is_bound("during", 2));
  env.disk().leave_all_free();
  EXPECT_TRUE(eventually([this] { return on.is_bound("during", 2); })) << "without a restart";
  EXPECT_TRUE(eventually([this] { return committed(on) == 0; })) << "and both come to their end";
  EXPECT_EQ(ready().status, 200) << ready().body;
  EXPECT_EQ(on.failures(), 0u);
}

TEST_F(SchedulerDisk, F9_stops_in_time_on_a_full_disk_and_loses_nothing) {
  env.disk().leave_free(0);
  ASSERT_TRUE(eventually([this] { return on.noted("shard.disk_scarce") == 2; }));
  on.gang("during", 2, 2);
  const auto begun = std::chrono::steady_clock::now();
  on.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{5});
  EXPECT_FALSE(on.start()) << "there is no space for a new life";
  env.disk().leave_all_free();
  on.keep_bindings();
  ASSERT_TRUE(on.start());
  EXPECT_GT(committed(on), 0) << "what was decided is there";
  on.let_bindings_go();
  EXPECT_TRUE(eventually([this] { return on.is_bound("before", 2) && on.is_bound("during", 2); }));
  EXPECT_EQ(on.failures(), 0u);
}

TEST_F(SchedulerDiskUnwatched, F9_a_write_that_finds_no_space_ends_the_process_and_loses_nothing) {
  env.disk().leave_free(0);
  fails_and_recovers();
}

TEST_F(SchedulerDisk, F10_a_failed_sync_ends_the_process_with_one_clear_line_and_loses_nothing) {
  env.disk().fail_log_syncs(true);
  fails_and_recovers();
}

} // namespace
} // namespace tutti::actors::testing
