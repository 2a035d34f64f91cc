// The cluster changes while an actor that should have seen it is dead, or the process is.
#include "tests/actors/stage.hpp"

#include <optional>

#include "protocol/sharding.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;
using protocol::to;

struct SchedulerFacts : ::testing::TestWithParam<bool> {
  stage on{{.fast_path = GetParam()}};

  void SetUp() override {
    on.node("a1", 8, "a");
    on.node("a2", 8, "a");
    on.node("b1", 8, "b");
  }
  void begins() {
    ASSERT_TRUE(on.start());
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  }
  void dies(role_kind kind) {
    const auto before = on.noted("actor.made_anew");
    on.kill(to(kind));
    ASSERT_TRUE(eventually([&] { return on.noted("actor.made_anew") == before + 1; }));
  }
  bool is_settled(const std::string& gang) {
    return on.word(gang, "phase") == "Bound" && on.word(gang, "pool").empty();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, SchedulerFacts, ::testing::Values(true, false),
                         [](const auto& x) { return x.param ? "fast_path" : "long_path"; });

// ---------------------------------------------------------------- what vanished

TEST_P(SchedulerFacts, F6_a_gang_that_was_deleted_while_the_mirror_was_dead_is_gone) {
  begins();
  on.gang("wide", 9, 8);
  ASSERT_TRUE(eventually([this] { return !on.word("wide", "explanation").empty(); }));
  on.keep_lists();
  dies(role_kind::mirror);
  ASSERT_TRUE(eventually([this] { return on.lists_kept() == 4; }));
  on.remove_gang("wide", 9);
  EXPECT_NE(on.word("wide", "phase"), "") << "nobody can know yet";
  on.let_lists_go();
  EXPECT_TRUE(eventually([this] { return on.word("wide", "phase").empty(); }))
      << on.all_words("wide");
  on.gang("after", 2, 2);
  EXPECT_TRUE(eventually([this] { return on.is_bound("after", 2); }));
  EXPECT_EQ(on.failures(), 0u) << on.failure().message();
}

TEST_P(SchedulerFacts, F6_the_record_of_a_gang_that_was_deleted_while_the_queue_was_dead_goes_too) {
  begins();
  on.gang("g", 2, 2);
  on.gang("stays", 2, 2);
  ASSERT_TRUE(eventually([this] { return is_settled("g") && is_settled("stays"); }));
  const auto queue = to(role_kind::queue);
  const auto heard = on.tap(queue, [](const protocol::message&) { return false; });
  on.remove_gang("g", 2);
  ASSERT_TRUE(eventually([&] { return heard->count<protocol::group_gone>() > 0; }));
  on.untap(queue); // the news of it is lost, and so is the queue
  dies(role_kind::queue);
  ASSERT_TRUE(eventually([this] { return is_settled("stays"); }));
  on.gang("after", 1, 2);
  ASSERT_TRUE(eventually([this] { return is_settled("after"); }));
  on.stop();
  EXPECT_EQ(on.gangs_in_store(), 2u) << "stays, and after";
}

// ---------------------------------------------------------------- the order of a batch

TEST_P(SchedulerFacts, the_gang_of_the_highest_priority_gets_the_room_though_it_asks_last) {
  on.priority_class("urgent", 1000);
  for (int i = 0; i < 4; ++i)
    on.gang("low-" + std::to_string(i), 3, 8); // each takes all there is
  on.gang("high", 3, 8, "urgent");
  const base::gang_uid high{on.uid("high")};
  on.keep_lists(); // so that all of them are released at the same moment
  ASSERT_TRUE(on.start());
  const auto home = protocol::to_partition(protocol::partition_of(high));
  std::optional<protocol::message> held; // both taps live on one thread
  bool has_low_asked = false;
  on.tap(home, [&](const protocol::message& m) {
    const auto* asked = std::get_if<protocol::try_gang>(&m);
    if (!asked || asked->who->uid != high || has_low_asked)
      return true;
    held = m;
    return false;
  });
  on.tap(to(role_kind::topology), [&](const protocol::message& m) {
    const auto* asked = std::get_if<protocol::plan_request>(&m);
    if (asked && asked->who->uid != high && held) {
      has_low_asked = true;
      on.it().routes().send(to(role_kind::queue), home, *std::exchange(held, std::nullopt));
    }
    return true;
  });
  on.let_lists_go();
  EXPECT_TRUE(eventually([this] { return on.is_bound("high", 3); })) << on.all_words("high");
  EXPECT_EQ(on.bound().size(), 3u);
  on.untap(home);
  on.untap(to(role_kind::topology));
  on.stop();
}

// ---------------------------------------------------------------- decided before a restart

struct SchedulerRestart : SchedulerFacts {
  /// Gang "g" of three is decided, its Bindings do not arrive, two more pods join it, and the
  /// process ends.
  void decided_and_stopped() {
    begins();
    on.keep_bindings();
    on.gang("g", 3, 4);
    ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 3; }));
    on.member("g", 3, 4);
    on.member("g", 4, 4);
    on.stop();
  }
  void everything_settles() {
    EXPECT_TRUE(eventually([this] { return on.is_bound("g", 5); })) << on.all_words("g");
    EXPECT_TRUE(eventually([this] { return is_settled("g"); })) << on.all_words("g");
    EXPECT_EQ(on.failures(), 0u) << on.failure().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, SchedulerRestart, ::testing::Values(true, false),
                         [](const auto& x) { return x.param ? "fast_path" : "long_path"; });

TEST_P(SchedulerRestart, C4_a_decided_gang_settles_whose_partition_comes_up_before_the_facts) {
  decided_and_stopped();
  on.keep_lists();
  ASSERT_TRUE(on.start());
  ASSERT_TRUE(eventually([this] { return on.noted("gang.decided") == 1; })) << "it is resumed";
  on.let_lists_go();
  everything_settles();
}

TEST_P(SchedulerRestart, C4_a_decided_gang_settles_whose_facts_come_before_its_partition) {
  decided_and_stopped();
  ASSERT_TRUE(on.start());
  on.keep_bindings();
  ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  dies(role_kind::queue); // the next one knows the facts first, and asks for who is under way
  ASSERT_TRUE(eventually([this] { return !on.word("g", "pool").empty(); }));
  on.kill(protocol::to_partition(protocol::partition_of({on.uid("g")})));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 2; }));
  on.let_bindings_go();
  everything_settles();
}

TEST_P(SchedulerRestart, C8_a_gang_that_was_bound_before_the_restart_settles) {
  decided_and_stopped();
  ASSERT_TRUE(on.start());
  ASSERT_TRUE(eventually([this] { return on.bound().size() >= 3; }));
  on.stop(); // with or without its DONE
  ASSERT_TRUE(on.start());
  everything_settles();
}

} // namespace
} // namespace tutti::actors::testing
