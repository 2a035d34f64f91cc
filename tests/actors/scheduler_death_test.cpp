// Actors of a running scheduler die, one at a time, in the middle of something.
#include "tests/actors/stage.hpp"

#include "actors/admin_api.hpp"
#include "actors/supervisor.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;
using protocol::to;

struct SchedulerDeath : ::testing::TestWithParam<bool> {
  stage on{{.fast_path = GetParam()}};

  void SetUp() override {
    on.node("a1", 8, "a");
    on.node("a2", 8, "a");
    on.node("b1", 8, "b");
    ASSERT_TRUE(on.start());
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  }
  std::int64_t committed() {
    std::int64_t sum = 0;
    for (std::uint32_t s = 0; s < 2; ++s) {
      const auto said = on.ask(protocol::to_shard({s}), "shards", {});
      sum += said.is_object() ? said.at("committed").as_int64() : 0;
    }
    return sum;
  }
  std::int64_t incarnation_of(std::uint32_t s) {
    const auto said = on.ask(protocol::to_shard({s}), "shards", {});
    return said.is_object() ? said.at("incarnation").as_int64() : 0;
  }
  /// Gang "g" of three is decided, and its Bindings are on their way but do not arrive.
  void decide_and_stand_still() {
    on.keep_bindings();
    on.gang("g", 3, 4);
    ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 3; }));
    ASSERT_TRUE(eventually([this] { return committed() > 0; }));
  }
  void everything_ends_bound() {
    on.let_bindings_go();
    EXPECT_TRUE(eventually([this] { return on.is_bound("g", 3); }));
    on.gang("after", 2, 2);
    EXPECT_TRUE(eventually([this] { return on.is_bound("after", 2); }))
        << on.word("after", "reason");
    EXPECT_EQ(on.failures(), 0u) << on.failure().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, SchedulerDeath, ::testing::Values(true, false),
                         [](const auto& x) { return x.param ? "fast_path" : "long_path"; });

TEST_P(SchedulerDeath, F6_a_shard_comes_back_with_what_it_has_promised) {
  decide_and_stand_still();
  const auto before = committed();
  for (std::uint32_t s = 0; s < 2; ++s) {
    const auto life = incarnation_of(s);
    on.kill(protocol::to_shard({s}));
    ASSERT_TRUE(eventually([&] { return incarnation_of(s) > life; }));
  }
  EXPECT_EQ(committed(), before);
  ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  everything_ends_bound();
  EXPECT_EQ(on.noted("actor.made_anew"), 2u);
}

TEST_P(SchedulerDeath, F6_a_gang_actor_that_had_decided_is_rolled_forward) {
  decide_and_stand_still();
  on.kill(protocol::to_gang({on.uid("g")}));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  everything_ends_bound();
  EXPECT_EQ(on.noted("gang.decided"), 3u) << "g twice: resumed, not decided anew; after once";
}

TEST_P(SchedulerDeath, F6_a_gang_actor_that_had_not_decided_is_tried_again) {
  const auto topology = to(role_kind::topology);
  const auto heard = on.tap(topology, [](const protocol::message& m) {
    return !std::holds_alternative<protocol::plan_request>(m);
  });
  on.gang("g", 3, 4);
  ASSERT_TRUE(eventually([&] { return heard->count<protocol::plan_request>() > 0; }));
  on.kill(protocol::to_gang({on.uid("g")}));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  const auto old = heard->all<protocol::plan_request>().front().attempt;
  ASSERT_TRUE(eventually([&] {
    return heard->all<protocol::plan_request>().back().attempt.epoch > old.epoch;
  })) << "it is under way anew";
  on.untap(topology);
  everything_ends_bound();
}

TEST_P(SchedulerDeath, F6_a_partition_resumes_its_gangs) {
  decide_and_stand_still();
  on.kill(protocol::to_partition(protocol::partition_of({on.uid("g")})));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  everything_ends_bound();
}

TEST_P(SchedulerDeath, P10_a_node_actor_comes_back_with_what_it_holds) {
  decide_and_stand_still();
  const auto nodes = on.noted("shard.node_actor_died");
  for (const auto& who : {"a1", "a2", "b1"})
    on.kill(protocol::to_node(on.node_uid(who)));
  ASSERT_TRUE(eventually([&] { return on.noted("shard.node_actor_died") == nodes + 3; }));
  everything_ends_bound();
}

TEST_P(SchedulerDeath, F6_any_other_founder_comes_back_and_gangs_go_on) {
  for (auto kind :
       {role_kind::topology, role_kind::queue, role_kind::binder, role_kind::evictor,
        role_kind::status, role_kind::preemption, role_kind::mirror, role_kind::admin}) {
    const auto before = on.noted("actor.made_anew");
    on.kill(to(kind));
    ASSERT_TRUE(eventually([&] { return on.noted("actor.made_anew") == before + 1; }));
  }
  ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  on.gang("g", 3, 4);
  everything_ends_bound();
}

TEST_P(SchedulerDeath, F6_whoever_asks_is_answered_after_the_admin_role_has_died) {
  on.kill(to(role_kind::admin));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  EXPECT_TRUE(on.is_ready());
  on.gang("g", 3, 4);
  EXPECT_TRUE(eventually([this] { return on.word("g", "phase") == "Bound"; }));
  everything_ends_bound();
}

TEST_P(SchedulerDeath, F6_a_queue_that_dies_alone_asks_for_the_facts_again) {
  on.kill(to(role_kind::queue));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  on.gang("g", 3, 4);
  everything_ends_bound();
}

TEST_P(SchedulerDeath, F6_the_binder_dies_with_bindings_in_its_hands) {
  decide_and_stand_still();
  on.kill(to(role_kind::binder));
  ASSERT_TRUE(eventually([this] { return on.noted("actor.made_anew") == 1; }));
  everything_ends_bound();
}

TEST_P(SchedulerDeath, who_dies_too_often_ends_the_process) {
  for (std::size_t i = 1; i <= restarts_max; ++i) {
    on.kill(to(role_kind::evictor));
    ASSERT_TRUE(eventually([&] { return on.noted("actor.made_anew") == i; }));
  }
  EXPECT_EQ(on.failures(), 0u);
  on.kill(to(role_kind::evictor));
  ASSERT_TRUE(eventually([this] { return on.failures() == 1; }));
  EXPECT_NE(on.failure().message().find("evictor has died 6 times"), std::string::npos)
      << on.failure().message();
  EXPECT_FALSE(on.failure().hint().empty());
}

/// Gang "bad" of three is quarantined: its actor has died too often.
struct Quarantine : SchedulerDeath {
  void SetUp() override {
    SchedulerDeath::SetUp();
    const auto topology = to(role_kind::topology);
    const auto heard = on.tap(topology, [](const protocol::message& m) {
      return !std::holds_alternative<protocol::plan_request>(m);
    });
    on.gang("bad", 3, 4);
    const auto bad = protocol::to_gang({on.uid("bad")});
    base::epoch_no last;
    for (std::size_t n = 1; n <= gang_deaths_max; ++n) {
      ASSERT_TRUE(eventually([&] {
        const auto asked = heard->all<protocol::plan_request>();
        return !asked.empty() && last < asked.back().attempt.epoch;
      }));
      last = heard->all<protocol::plan_request>().back().attempt.epoch;
      on.kill(bad);
      ASSERT_TRUE(eventually([&] { return on.noted("actor.made_anew") == n; }));
    }
    EXPECT_TRUE(eventually([this] { return on.word("bad", "reason") == "SchedulerError"; }))
        << on.all_words("bad");
    EXPECT_EQ(on.noted("gang.quarantined"), 1u);
    on.untap(topology);
  }
  http_reply retry(const std::string& name) {
    return answer_admin(on.it(), {}, "POST", "/api/gangs/default/" + name + "/retry");
  }
};

INSTANTIATE_TEST_SUITE_P(Both, Quarantine, ::testing::Values(true, false),
                         [](const auto& x) { return x.param ? "fast_path" : "long_path"; });

TEST_P(Quarantine, of_a_gang_that_always_kills_its_actor_lets_the_process_live_on) {
  on.gang("g", 3, 4);
  everything_ends_bound();
  EXPECT_FALSE(on.is_bound("bad", 3));
}

TEST_P(Quarantine, ends_when_somebody_asks_for_it) {
  const auto said = retry("bad");
  EXPECT_EQ(said.status, 200) << said.body;
  EXPECT_NE(said.body.find(R"("was_quarantined":true)"), said.body.npos) << said.body;
  EXPECT_TRUE(eventually([this] { return on.is_bound("bad", 3); })) << on.all_words("bad");
  EXPECT_EQ(on.noted("gang.freed"), 1u);
  EXPECT_EQ(on.noted("queue.retried"), 1u);
  EXPECT_EQ(on.failures(), 0u) << "the partition that ended for it is not held against it";
}

TEST_P(Quarantine, is_no_matter_of_other_gangs_and_of_no_gang) {
  on.gang("g", 3, 64);
  ASSERT_TRUE(eventually([this] { return on.word("g", "reason") == "NeverFits"; }));
  const auto said = retry("g");
  EXPECT_NE(said.body.find(R"("was_quarantined":false)"), said.body.npos) << said.body;
  EXPECT_EQ(retry("nobody").status, 404);
  EXPECT_EQ(on.noted("gang.freed"), 0u);
  EXPECT_EQ(answer_admin(on.it(), {}, "POST", "/api/gangs").status, 405);
}

TEST_P(SchedulerDeath, a_stop_in_the_middle_of_a_death_is_in_time) {
  decide_and_stand_still();
  for (std::uint32_t s = 0; s < 2; ++s)
    on.kill(protocol::to_shard({s}));
  on.kill(to(role_kind::queue));
  const auto begun = std::chrono::steady_clock::now();
  on.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds{5});
  ASSERT_TRUE(on.start());
  everything_ends_bound();
}

} // namespace
} // namespace tutti::actors::testing
