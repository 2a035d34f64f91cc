// What a refused gang lacks: every remedy is tried, and one less of it is not enough.
#include "placement/engine/what_if.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine::testing {
namespace {

using kind = remedy::kind;

struct WhatIf : ::testing::Test {
  cluster c;

  std::vector<remedy> changes(const gang_spec& what) {
    return smallest_changes(c.view.now(), what, c.bounds, c.memory);
  }
  std::vector<std::string> words(const gang_spec& what) {
    std::vector<std::string> out;
    for (const auto& x : changes(what))
      out.push_back(to_text(x, what));
    return out;
  }
  std::optional<near_miss> miss(const gang_spec& what) {
    return nearest_miss(c.view.now(), what, c.bounds, c.memory);
  }
};

TEST_F(WhatIf, tells_nodes_members_and_level_of_a_gang_that_no_rack_holds) {
  c.nodes("a", 2, {.rack = "r1"});
  c.nodes("b", 3, {.rack = "r2", .gpus_used = 4});
  const auto gang = gang_of(20, {.gpus = 1}, rack_key);
  EXPECT_EQ(words(gang),
            (std::vector<std::string>{"add 1 node like a0",
                                      "drop 4 of the 20 members that group group0 must have",
                                      "do not ask group group0 to stay in one topology/rack"}));
  const auto near = miss(gang);
  ASSERT_TRUE(near);
  EXPECT_EQ(to_text(*near), "needs 20 in one topology/rack, r1 has room for 16");
}

TEST_F(WhatIf, says_how_much_pods_that_are_there_take) {
  c.nodes("b", 3, {.rack = "r2", .gpus_used = 3});
  const auto near = miss(gang_of(18, {.gpus = 1}, rack_key));
  ASSERT_TRUE(near);
  EXPECT_EQ(to_text(*near), "needs 18 in one topology/rack, r2 has room for 15, for 3 more "
                            "without the pods that are there");
  EXPECT_EQ(to_text(*miss(gang_of(25, {.gpus = 1}))),
            "needs 25, there is room for 15, for 9 more without the pods that are there");
}

TEST_F(WhatIf, has_nothing_to_say_of_gangs_that_fit_or_lack_members) {
  c.node({.name = "a"});
  EXPECT_TRUE(changes(gang_of(8, {.gpus = 1})).empty());
  EXPECT_FALSE(miss(gang_of(8, {.gpus = 1})));
  auto few = gang_of(2, {.gpus = 1});
  few.what.groups[0].min_count = 3;
  EXPECT_TRUE(changes(few).empty());
}

TEST_F(WhatIf, adds_no_nodes_that_would_not_help) {
  c.node({.name = "small", .gpus = 1});
  EXPECT_TRUE(changes(gang_of(1, {.gpus = 2})).empty());
  EXPECT_EQ(words(gang_of(3, {.gpus = 1})),
            (std::vector<std::string>{"add 2 nodes like small",
                                      "drop 2 of the 3 members that group group0 must have"}));
}

TEST_F(WhatIf, adds_the_kind_of_node_of_which_fewest_are_needed) {
  c.nodes("small", 3, {.gpus = 2});
  c.node({.name = "large", .gpus = 8});
  const auto got = changes(gang_of(20, {.gpus = 1}));
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0], (remedy{kind::add_nodes, 0, 1, "large"}));
}

TEST_F(WhatIf, relaxes_the_innermost_level_that_is_enough) {
  for (const std::string zone : {"z1", "z2"})
    for (const std::string rack : {"r1", "r2"})
      c.node({.name = zone + rack, .rack = zone + rack, .zone = zone});
  auto gang = gang_of(16, {.gpus = 1});
  gang.what.groups[0].required_levels = {zone_key, rack_key};
  auto got = level_to_relax(c.view.now(), gang, c.bounds, c.memory);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->name, rack_key);
  auto more = gang_of(32, {.gpus = 1});
  more.what.groups[0].required_levels = {zone_key, rack_key};
  EXPECT_FALSE(level_to_relax(c.view.now(), more, c.bounds, c.memory)); // one alone is not enough
}

TEST_F(WhatIf, lowers_the_minimum_of_the_group_that_costs_least) {
  c.node({.name = "a", .gpus = 4});
  auto gang = gang_words{3}.pods(3, {.gpus = 1});
  gang.group(2).pods(2, {.gpus = 1});
  const auto got = members_to_drop(c.view.now(), gang, c.bounds, c.memory);
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (remedy{kind::drop_members, 0, 1, ""}));
}

TEST_F(WhatIf, added_nodes_are_hosts_of_their_own) {
  c.node({.name = "a"});
  const auto gang = tied_gang(3, {.cpu = 1}, pod("web").apart("web", host_key));
  EXPECT_EQ(nodes_to_add(c.view.now(), gang, c.at("a"), c.bounds), 2);
}

TEST_F(WhatIf, more_nodes_than_a_block_holds_can_be_added) {
  c.node({.name = "a", .rack = "r1", .gpus = 1});
  EXPECT_EQ(nodes_to_add(c.view.now(), gang_of(700, {.gpus = 1}, rack_key), c.at("a"), c.bounds),
            699);
}

/// With what a remedy says the gang is placed, and with one less of it it is not.
RC_GTEST_PROP(WhatIfChange, is_enough_and_not_more_than_that, ()) {
  cluster c;
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i)
    c.node({.name = "n" + std::to_string(i),
            .rack = "r" + std::to_string(*rc::gen::inRange(0, 2)),
            .cpu = *rc::gen::inRange(1, 9),
            .gpus = 2});
  gang_words gang{static_cast<std::uint32_t>(*rc::gen::inRange(1, 6)),
                  *rc::gen::arbitrary<bool>() ? rack_key : ""};
  gang.pods(5, {.cpu = *rc::gen::inRange(1, 7)});
  if (*rc::gen::arbitrary<bool>())
    gang.pods(2, {.cpu = *rc::gen::inRange(1, 7), .gpus = 1});
  const auto& where = c.view.now();
  const bool is_placed = c.placed(gang) > 0;
  for (const auto& x : smallest_changes(where, gang, c.bounds, c.memory)) {
    RC_ASSERT(!is_placed);
    for (const bool is_less : {false, true}) {
      auto what = gang.what;
      auto view = where;
      const auto count = x.count - (is_less ? 1 : 0);
      if (x.what == kind::add_nodes)
        view = with_nodes_like(where, c.at(x.name), static_cast<std::uint32_t>(count));
      else if (x.what == kind::drop_members)
        what.groups[x.group].min_count -= static_cast<std::uint32_t>(count);
      else if (!is_less)
        what.groups[x.group].topology_key.clear();
      workspace fresh;
      RC_ASSERT(std::holds_alternative<placement>(plan(view, what, c.bounds, fresh)) == !is_less);
    }
  }
}

} // namespace
} // namespace tutti::placement::engine::testing
