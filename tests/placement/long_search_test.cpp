// A hard gang goes to a planner, and what the planner finds is checked before it is offered.
#include "tests/placement/topology_world.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::testing {
namespace {

/// Nodes with an odd number of GPUs and members that want even numbers: there are enough GPUs in
/// total, and yet the last member never fits. Only a full search knows, and it takes a while.
struct LongSearch : ::testing::Test {
  topology_world world{1};
  planner_role planner{{world.board, shards}};
  std::vector<node_words> nodes;
  protocol::gang_ptr hard;
  const protocol::address to_planner{protocol::role_kind::planner, 0, {}};

  LongSearch() {
    for (int i = 0; i < 8; ++i) // unequal in cores, so that no two look alike
      nodes.push_back({.name = "n" + std::to_string(i), .gpus = 9, .cpu = 64 + i});
    world.cluster(nodes);
    // 66 of 72 GPUs, and no more than 64 can be used in twos, fours and sixes.
    auto gang = std::make_shared<protocol::gang>(*gang_of("hard", 19, 2));
    for (std::size_t i = 0; i < 11; ++i)
      gang->members[i].kind = gang_of("hard", 1, i < 3 ? 6 : 4)->members[0].kind;
    hard = gang;
  }
  void ask(const protocol::gang_ptr& who) {
    world.hear(protocol::to_gang(who->uid),
               protocol::plan_request{attempt_of(who->uid.value), who});
  }
  protocol::effects run_planner() {
    return planner.on(protocol::received{protocol::to(protocol::role_kind::topology),
                                         protocol::plan_request{attempt_of("hard"), hard}},
                      {});
  }
  /// A plan that a planner might have found: made on a cluster of the same nodes.
  protocol::plan_ptr some_plan() {
    topology_world other;
    other.cluster(nodes);
    return other.ask(gang_of("hard", 9, 1)).placement;
  }
  const protocol::plan_answer* answer() {
    return world.find<protocol::plan_answer>(protocol::to_gang({"hard"}));
  }
};

TEST_F(LongSearch, an_easy_gang_is_answered_at_once) {
  EXPECT_TRUE(world.fits(gang_of("g", 8, 1)));
}

TEST_F(LongSearch, a_hard_gang_is_handed_over_once) {
  ask(hard);
  EXPECT_EQ(answer(), nullptr);
  EXPECT_NE(world.find<protocol::plan_request>(to_planner), nullptr);
  ask(hard);
  EXPECT_TRUE(world.said.empty()) << "a second copy of the request starts nothing";
}

TEST_F(LongSearch, a_planner_answers_from_the_board_once) {
  ask(hard);
  const auto said = run_planner();
  ASSERT_EQ(said.list().size(), 1u);
  const auto& sent = std::get<protocol::send>(said.list()[0]);
  EXPECT_EQ(sent.to, protocol::to(protocol::role_kind::topology));
  EXPECT_EQ(std::get<protocol::plan_answer>(sent.what).why_not.primary,
            base::reason_code::never_fits);
  EXPECT_TRUE(run_planner().empty());
  world.hear(to_planner, sent.what);
  ASSERT_NE(answer(), nullptr);
  EXPECT_EQ(answer()->why_not.primary, base::reason_code::never_fits);
}

TEST_F(LongSearch, what_a_planner_found_is_proposed_and_marked) {
  ask(hard);
  world.hear(to_planner, protocol::plan_answer{attempt_of("hard"), some_plan(), {}});
  ASSERT_NE(answer(), nullptr);
  EXPECT_NE(answer()->placement, nullptr);
  EXPECT_FALSE(world.fits(gang_of("g", 64, 1)));
  EXPECT_TRUE(world.fits(gang_of("g", 63, 1), 2));
}

TEST_F(LongSearch, what_does_not_fit_any_more_is_planned_anew) {
  ask(hard);
  const auto found = some_plan();
  for (auto& n : nodes)
    n.facts_hash = 2;
  world.cluster(nodes);
  world.hear(to_planner, protocol::plan_answer{attempt_of("hard"), found, {}});
  ASSERT_NE(answer(), nullptr);
  EXPECT_EQ(answer()->placement, nullptr) << "the nodes are not those that were searched";
}

TEST_F(LongSearch, a_dropped_search_is_not_run) {
  ask(hard);
  world.drop("hard");
  EXPECT_TRUE(run_planner().empty());
}

TEST_F(LongSearch, a_planner_that_never_answers_costs_a_refusal_and_no_more) {
  ask(hard);
  const auto timers = world.effects<protocol::arm>();
  ASSERT_EQ(timers.size(), 1u);
  world.on(protocol::timer_fired{timers[0].timer});
  ASSERT_NE(answer(), nullptr);
  EXPECT_EQ(answer()->why_not.primary, base::reason_code::undecided);
  world.hear(to_planner, protocol::plan_answer{attempt_of("hard"), some_plan(), {}});
  EXPECT_TRUE(world.said.empty()) << "too late";
}

} // namespace
} // namespace tutti::placement::testing
