// Gangs that are tried at the same moment get room in the order of the queue, whoever asks first.
#include "tests/placement/topology_world.hpp"

#include <gtest/gtest.h>

#include "placement/planning_turns.hpp"

namespace tutti::placement::testing {
namespace {

using names = std::vector<std::string>;

struct PlanningOrder : ::testing::Test {
  topology_world world;
  std::map<std::uint64_t, bool> armed; ///< batches that are waited for
  names placed;
  names refused;

  void SetUp() override { world.cluster({{.name = "n", .gpus = 8}}); }

  void note() {
    for (const auto& e : world.said.list()) {
      if (const auto* a = std::get_if<protocol::arm>(&e); a && a->timer.kind == 4)
        armed[a->timer.key] = true;
      if (const auto* d = std::get_if<protocol::disarm>(&e); d && d->timer.kind == 4)
        armed.erase(d->timer.key);
      const auto* s = std::get_if<protocol::send>(&e);
      const auto* answer = s ? std::get_if<protocol::plan_answer>(&s->what) : nullptr;
      if (answer)
        (answer->placement ? placed : refused).push_back(answer->attempt.gang.value);
    }
  }
  void order(std::vector<base::gang_uid> gangs) {
    world.hear(protocol::to(protocol::role_kind::queue), protocol::plan_order{std::move(gangs)});
    note();
  }
  void asks(const std::string& gang, std::int64_t gpus, std::uint64_t try_no = 1) {
    (void)world.ask(gang_of(gang, 1, gpus), try_no);
    note();
  }
  void patience_ends() {
    ASSERT_EQ(armed.size(), 1u);
    world.on(protocol::timer_fired{{4, armed.begin()->first}});
    note();
  }
};

TEST_F(PlanningOrder, who_is_named_first_gets_the_room_though_it_asks_last) {
  order({{"high"}, {"low"}});
  asks("low", 8);
  EXPECT_EQ(placed, names{}) << "somebody before it has not asked yet";
  asks("high", 8);
  EXPECT_EQ(placed, names{"high"});
  EXPECT_EQ(refused, names{"low"});
  EXPECT_TRUE(armed.empty()) << "nobody is waited for any more";
}

TEST_F(PlanningOrder, whoever_has_no_turn_waits_for_nobody) {
  order({{"high"}, {"low"}});
  asks("other", 1);
  EXPECT_EQ(placed, names{"other"});
}

TEST_F(PlanningOrder, nobody_waits_for_long_for_one_that_does_not_ask) {
  order({{"lost"}, {"a"}, {"b"}});
  asks("b", 1);
  asks("a", 1);
  EXPECT_EQ(placed, names{});
  patience_ends();
  EXPECT_EQ(placed, (names{"a", "b"}));
  asks("lost", 1);
  EXPECT_EQ(placed, (names{"a", "b", "lost"})) << "late, and then at once";
}

TEST_F(PlanningOrder, a_question_that_is_taken_back_stands_in_nobodys_way) {
  order({{"a"}, {"b"}, {"c"}});
  asks("c", 1);
  asks("b", 1);
  world.drop("b");
  asks("a", 1);
  EXPECT_EQ(placed, (names{"a", "c"}));
}

TEST_F(PlanningOrder, a_second_copy_keeps_its_place_and_a_newer_attempt_takes_it) {
  order({{"a"}, {"b"}});
  asks("b", 1);
  asks("b", 1);
  asks("b", 1, 2);
  asks("a", 1);
  EXPECT_EQ(placed, (names{"a", "b"}));
  EXPECT_NE(world.find<protocol::plan_answer>(), nullptr);
}

TEST_F(PlanningOrder, batches_do_not_wait_for_each_other) {
  order({{"lost"}, {"a"}});
  order({{"b"}, {"c"}});
  asks("c", 1);
  asks("b", 1);
  EXPECT_EQ(placed, (names{"b", "c"}));
}

TEST_F(PlanningOrder, a_gang_that_is_released_again_is_awaited_once) {
  order({{"g"}, {"a"}});
  order({{"b"}, {"g"}});
  asks("a", 1);
  EXPECT_EQ(placed, names{"a"}) << "g has its turn in the later batch";
  asks("g", 1);
  EXPECT_EQ(placed, names{"a"});
  asks("b", 1);
  EXPECT_EQ(placed, (names{"a", "b", "g"}));
}

TEST_F(PlanningOrder, holds_though_the_view_was_not_complete_when_they_asked) {
  world = topology_world{};
  order({{"high"}, {"low"}});
  asks("low", 8);
  asks("high", 8);
  EXPECT_EQ(placed, names{});
  world.whole(0, {seen({.name = "n", .rack = rack_in(0), .gpus = 8})});
  note();
  world.whole(1, {});
  note();
  EXPECT_EQ(placed, names{"high"});
  EXPECT_EQ(refused, names{"low"});
}

TEST_F(PlanningOrder, a_view_that_stays_away_is_told_to_all_of_them) {
  world = topology_world{};
  order({{"high"}, {"low"}});
  asks("low", 8);
  world.on(protocol::timer_fired{{3, 0}});
  note();
  EXPECT_EQ(refused, names{"low"});
}

/// While a long search runs for one of them.
struct PlanningTurns : ::testing::Test {
  planning_turns turns;
  std::optional<base::attempt_id> searched;

  void asks(const std::string& gang, std::int32_t priority) {
    auto who = std::make_shared<protocol::gang>(*gang_of(gang, 1, 1));
    who->priority = priority;
    EXPECT_TRUE(turns.keep({attempt_of(gang), protocol::to_gang({gang}), who}));
  }
  std::string next() {
    const auto x = turns.next([this](const auto& a) { return searched == a; });
    return x ? x->attempt.gang.value : std::string{};
  }
};

TEST_F(PlanningTurns, lower_ones_wait_for_a_search_and_equals_do_not) {
  turns.open({{"hard"}, {"equal"}, {"low"}});
  asks("low", 0);
  asks("equal", 5);
  asks("hard", 5);
  EXPECT_EQ(next(), "hard");
  searched = attempt_of("hard");
  EXPECT_EQ(next(), "equal");
  EXPECT_EQ(next(), "");
  searched.reset();
  EXPECT_EQ(next(), "low");
  EXPECT_EQ(next(), "");
  EXPECT_EQ(turns.take_over().size(), 1u);
}

} // namespace
} // namespace tutti::placement::testing
