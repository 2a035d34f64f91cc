// Several levels of the topology at once: required ones always hold, preferred ones as far as they
// cost no member its seat.
#include "placement/engine/preferred_levels.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/placement/engine/cluster.hpp"

namespace tutti::placement::engine::testing {
namespace {

using base::reason_code;
using kept = std::vector<std::uint32_t>;

/// Two blocks (zones here) of two racks with two nodes of 8 GPUs each.
struct Levels : ::testing::Test {
  cluster c;
  std::map<std::string, std::pair<std::string, std::string>> place; // node: zone, rack

  Levels() {
    for (const std::string zone : {"b1", "b2"})
      for (const std::string rack : {"r1", "r2"})
        for (const std::string n : {"n1", "n2"})
          node(zone, rack, n, 0);
  }
  void node(const std::string& zone, const std::string& rack, const std::string& n,
            std::int64_t used) {
    const auto name = zone + rack + n;
    place[name] = {zone, rack};
    c.node({.name = name, .rack = rack, .zone = zone, .gpus_used = used});
  }
  placement placed(const gang_spec& what) {
    const auto got = c.ask(what);
    const auto* x = std::get_if<placement>(&got);
    EXPECT_NE(x, nullptr) << to_text(std::get<base::explanation>(got));
    return x ? *x : placement{};
  }
  /// Zones, and racks within zones, that a placement uses.
  std::pair<std::size_t, std::size_t> spread_of(const placement& x) {
    std::set<std::string> zones;
    std::set<std::pair<std::string, std::string>> racks;
    for (const auto& s : x.seats) {
      const auto& at = place.at(c.view.now().node(s.node).name.value);
      zones.insert(at.first);
      racks.insert(at);
    }
    return {zones.size(), racks.size()};
  }
  static gang_spec gang(int n, std::vector<std::string> required,
                        std::vector<std::string> preferred, int minimum = 0) {
    auto out =
        gang_words{static_cast<std::uint32_t>(minimum > 0 ? minimum : n)}.pods(n, {.gpus = 8});
    out.what.groups[0].required_levels = std::move(required);
    out.what.groups[0].preferred_levels = std::move(preferred);
    return out.what;
  }
};

TEST_F(Levels, a_gang_that_fits_one_rack_stays_in_one) {
  const auto x = placed(gang(2, {zone_key}, {rack_key}));
  EXPECT_EQ(x.levels_kept, kept{1});
  EXPECT_EQ(spread_of(x).second, 1u);
  EXPECT_EQ(x.domains[0], "b1/r1");
}

TEST_F(Levels, the_preferred_rack_is_given_up_and_the_required_block_is_not) {
  const auto x = placed(gang(3, {zone_key}, {rack_key}));
  EXPECT_EQ(x.levels_kept, kept{0});
  EXPECT_EQ(spread_of(x), (std::pair<std::size_t, std::size_t>{1, 2}));
  EXPECT_EQ(x.domains[0], "b1");
  const auto why = c.refusal(gang(5, {zone_key}, {rack_key}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  ASSERT_FALSE(why.closest.empty());
  EXPECT_EQ(why.closest[0].level, zone_key);
  EXPECT_EQ(why.closest[0].placed, 4);
}

TEST_F(Levels, preferred_ones_are_given_up_from_the_innermost) {
  EXPECT_EQ(placed(gang(2, {}, {zone_key, rack_key})).levels_kept, kept{2});
  const auto one_block = placed(gang(4, {}, {zone_key, rack_key}));
  EXPECT_EQ(one_block.levels_kept, kept{1});
  EXPECT_EQ(spread_of(one_block).first, 1u);
  EXPECT_EQ(placed(gang(8, {}, {zone_key, rack_key})).levels_kept, kept{0});
}

TEST_F(Levels, two_required_ones_mean_one_rack_of_one_block) {
  // Racks of both blocks have the same names: one label alone would mean two racks.
  auto by_rack = gang(4, {}, {});
  by_rack.groups[0].topology_key = rack_key;
  EXPECT_EQ(spread_of(placed(by_rack)).second, 2u);
  EXPECT_EQ(spread_of(placed(gang(2, {zone_key, rack_key}, {}))).second, 1u);
  const auto why = c.refusal(gang(3, {zone_key, rack_key}, {}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  ASSERT_FALSE(why.closest.empty());
  EXPECT_EQ(why.closest[0].level, std::string{zone_key} + "+" + rack_key);
  EXPECT_EQ(why.closest[0].domain, "b1/r1");
}

TEST_F(Levels, the_single_key_of_upstream_comes_first_and_may_be_named_again) {
  auto what = gang(2, {zone_key, rack_key}, {rack_key});
  what.groups[0].topology_key = zone_key;
  const auto x = placed(what);
  EXPECT_EQ(x.domains[0], "b1/r1");
  EXPECT_EQ(x.levels_kept, kept{1});
}

TEST_F(Levels, a_preferred_level_costs_no_member_beyond_the_minimum) {
  // Two of the three fit one rack, and two are enough; but the third could be placed, too.
  const auto x = placed(gang(3, {zone_key}, {rack_key}, 2));
  EXPECT_EQ(x.seats.size(), 3u);
  EXPECT_EQ(x.levels_kept, kept{0});
  // Where it cannot, the level is kept.
  for (const std::string other : {"b1r2", "b2r1", "b2r2"})
    for (const std::string n : {"n1", "n2"})
      node(other.substr(0, 2), other.substr(2), n, 8);
  const auto full = placed(gang(3, {zone_key}, {rack_key}, 2));
  EXPECT_EQ(full.seats.size(), 2u);
  EXPECT_EQ(full.levels_kept, kept{1});
}

TEST(LevelsOfGroups, the_last_of_several_gives_up_first) {
  cluster c;
  c.nodes("a", 2, {.rack = "r1"});
  c.node({.name = "b", .rack = "r2"});
  c.node({.name = "d", .rack = "r3"});
  auto gang = gang_words{2}.pods(2, {.gpus = 8});
  gang.group(2).pods(2, {.gpus = 8});
  for (auto& g : gang.what.groups)
    g.preferred_levels = {rack_key};
  const auto got = c.ask(gang);
  ASSERT_TRUE(std::holds_alternative<placement>(got));
  EXPECT_EQ(std::get<placement>(got).levels_kept, (kept{1, 0})); // one rack holds two
  EXPECT_EQ(c.seats(gang).at("pod0").substr(0, 1), "a");
  c.node({.name = "e", .rack = "r3"});
  EXPECT_EQ(std::get<placement>(c.ask(gang)).levels_kept, (kept{1, 1}));
}

TEST(GiveUpOne, takes_the_innermost_of_the_group_that_prefers_most) {
  kept levels{1, 2, 2, 0};
  std::vector<kept> seen;
  while (give_up_one(levels))
    seen.push_back(levels);
  EXPECT_EQ(seen, (std::vector<kept>{
                      {1, 2, 1, 0}, {1, 1, 1, 0}, {1, 1, 0, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}}));
}

TEST_F(Levels, bound_members_pin_what_they_share_and_give_up_what_they_do_not) {
  auto what = gang(1, {zone_key}, {rack_key});
  const auto bind = [&](const std::string& node) {
    what.members.push_back({"bound", 0, shape_of({}), member_spec::state::bound, c.at(node)});
  };
  bind("b2r2n1");
  EXPECT_EQ(placed(what).domains[0], "b2/r2");
  bind("b2r1n1");
  const auto x = placed(what);
  EXPECT_EQ(x.levels_kept, kept{0});
  EXPECT_EQ(x.domains[0], "b2");
  bind("b1r1n1");
  EXPECT_EQ(c.refusal(what).primary, reason_code::scheduler_error);
}

TEST_F(Levels, nodes_without_a_required_label_are_in_no_domain) {
  c.node({.name = "bare", .gpus = 64});
  EXPECT_EQ(c.placed(gang(2, {zone_key, "no/such"}, {})), 0u);
  const auto why = c.refusal(gang(2, {zone_key, "no/such"}, {}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_NE(why.detail.find("no/such"), std::string::npos) << why.detail;
  EXPECT_EQ(placed(gang(2, {zone_key}, {"no/such"})).levels_kept, kept{0});
}

/// Wishes decide where, never whether.
RC_GTEST_PROP(LevelWishes, never_decide_whether_a_gang_is_placed_or_how_much_of_it, ()) {
  cluster c;
  for (int i = *rc::gen::inRange(1, 9); i > 0; --i)
    c.node({.name = "n" + std::to_string(i),
            .rack = "r" + std::to_string(*rc::gen::inRange(0, 3)),
            .zone = "z" + std::to_string(*rc::gen::inRange(0, 2)),
            .cpu = *rc::gen::inRange(1, 9)});
  const auto members = *rc::gen::inRange(1, 9);
  gang_words gang{static_cast<std::uint32_t>(*rc::gen::inRange(1, members + 1))};
  gang.pods(members, {.cpu = *rc::gen::inRange(1, 4)});
  if (*rc::gen::arbitrary<bool>())
    gang.what.groups[0].required_levels = {zone_key};
  const auto without = c.placed(gang);
  gang.what.groups[0].preferred_levels = {zone_key, rack_key};
  RC_ASSERT(c.placed(gang) == without);
}

} // namespace
} // namespace tutti::placement::engine::testing
