// Policies choose among seats that fit; they never decide whether a gang is placed.
#include "placement/engine/policy.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/placement/engine/cluster.hpp"

namespace tutti::placement::engine::testing {
namespace {

struct Policy : ::testing::Test {
  cluster c;

  std::string node_of(const std::string& rule, const gang_spec& what, const std::string& pod) {
    c.bounds.rule = find_policy(rule);
    EXPECT_NE(c.bounds.rule, nullptr) << rule;
    return c.seats(what).at(pod);
  }
};

TEST_F(Policy, is_found_by_its_name) {
  std::set<std::string_view> names;
  for (const auto* p : policies()) {
    EXPECT_EQ(find_policy(p->name), p);
    EXPECT_FALSE(p->about.empty());
    names.insert(p->name);
  }
  EXPECT_EQ(names.size(), policies().size());
  EXPECT_EQ(find_policy("best"), nullptr);
}

TEST_F(Policy, bin_pack_fills_the_fuller_node) {
  c.node({.name = "empty"});
  c.node({.name = "used", .cpu_used = 16, .gpus_used = 4});
  EXPECT_EQ(node_of("bin-pack", gang_of(1, {.gpus = 1}), "pod0"), "used");
}

TEST_F(Policy, spread_goes_where_most_is_left_member_by_member) {
  c.node({.name = "a"});
  c.node({.name = "b", .cpu_used = 4, .gpus_used = 1});
  const auto gang = gang_of(3, {.cpu = 1, .gpus = 1});
  EXPECT_EQ(node_of("spread", gang, "pod0"), "a");
  std::map<std::string, int> on;
  for (const auto& [pod, node] : c.seats(gang))
    ++on[node];
  EXPECT_EQ(on["a"], 2); // 8 → 7, then b has 7, too
  EXPECT_EQ(on["b"], 1);
}

TEST_F(Policy, upstream_looks_at_cpu_and_memory_alone) {
  c.node({.name = "few-gpus", .gpus_used = 7});
  c.node({.name = "less-cpu", .cpu_used = 32});
  EXPECT_EQ(node_of("upstream", gang_of(1, {.gpus = 1, .memory_gib = 1}), "pod0"), "few-gpus");
  EXPECT_EQ(node_of("spread", gang_of(1, {.gpus = 1, .memory_gib = 1}), "pod0"), "less-cpu");
}

TEST_F(Policy, least_fragmentation_keeps_whole_nodes_for_pods_that_need_them) {
  c.node({.name = "a"});
  c.node({.name = "b", .gpus_used = 7});
  // Of 8 GPUs one less makes the other seven useless to pods of 8.
  EXPECT_EQ(node_of("least-fragmentation", gang_of(1, {.gpus = 1}), "pod0"), "b");
}

TEST_F(Policy, least_stranded_sends_hungry_pods_where_cpu_is_left_over) {
  const usual_pod like{{10'000, 0, 1, whole_gpu, 0}, 1};
  c.bounds.usual = {&like, 1};
  c.node({.name = "a", .cpu = 40, .gpus = 4});
  c.node({.name = "b", .cpu = 100, .gpus = 4});
  EXPECT_EQ(node_of("least-stranded", gang_of(1, {.cpu = 20}), "pod0"), "b");
  EXPECT_EQ(node_of("bin-pack", gang_of(1, {.cpu = 20}), "pod0"), "a");
}

TEST_F(Policy, prefers_what_the_pod_prefers_among_equal_scores) {
  c.node({.name = "a"});
  c.node({.name = "b", .labels = {{"disk", "fast"}}});
  pod_words like{.gpus = 1};
  like.terms.preferred = {
      {10, {{{{"disk", api::label_requirement::operation::in, {"fast"}}}, {}}}}};
  EXPECT_EQ(node_of("least-fragmentation", gang_of(1, like), "pod0"), "b");
}

TEST(PolicyRoom, a_share_is_taken_of_the_fullest_gpu_among_equals) {
  node_room on;
  on.whole_gpus = 1;
  on.parts = {200, 500, 700};
  const auto none = [](const seat_view&) { return std::int64_t{0}; };
  const auto got = best_seat_with(on, {0, 0, 1, 400, 0}, {}, none);
  EXPECT_EQ(got.after.parts, (decltype(on.parts){100, 200, 700}));
  EXPECT_EQ(got.after.whole_gpus, 1);
  const auto last = best_seat_with(on, {0, 0, 1, 500, 0}, {}, none);
  EXPECT_EQ(last.after.parts, (decltype(on.parts){200, 700})); // used up
  const auto whole = best_seat_with(on, {0, 0, 1, 800, 0}, {}, none);
  EXPECT_EQ(whole.after.whole_gpus, 0);
  EXPECT_EQ(whole.after.parts, (decltype(on.parts){200, 200, 500, 700}));
}

TEST(PolicyRoom, a_pod_fits_by_cpu_memory_gpus_and_model) {
  node_room on;
  on.cpu_milli = 1'000;
  on.memory_bytes = 1'000;
  on.whole_gpus = 1;
  on.parts = {300};
  on.model = 2;
  EXPECT_TRUE(fits(on, {1'000, 1'000, 1, whole_gpu, 0}));
  EXPECT_TRUE(fits(on, {0, 0, 1, 300, 2}));
  EXPECT_FALSE(fits(on, {1'001, 0, 0, 0, 0}));
  EXPECT_FALSE(fits(on, {0, 1'001, 0, 0, 0}));
  EXPECT_FALSE(fits(on, {0, 0, 2, whole_gpu, 0}));
  EXPECT_FALSE(fits(on, {0, 0, 1, 300, 1}));
  on.whole_gpus = 0;
  EXPECT_FALSE(fits(on, {0, 0, 1, 301, 0}));
}

/// With and without a policy the same gangs are placed, with as many members.
RC_GTEST_PROP(PolicyChoice, never_decides_whether_a_gang_is_placed, ()) {
  cluster c;
  for (int i = *rc::gen::inRange(1, 8); i > 0; --i)
    c.node({.name = "n" + std::to_string(i),
            .rack = *rc::gen::arbitrary<bool>() ? "r1" : "r2",
            .cpu = *rc::gen::inRange(1, 17),
            .gpus_used = *rc::gen::inRange(0, 9)});
  gang_words gang{static_cast<std::uint32_t>(*rc::gen::inRange(1, 9)),
                  *rc::gen::arbitrary<bool>() ? rack_key : ""};
  gang.pods(*rc::gen::inRange(1, 7),
            {.cpu = *rc::gen::inRange(1, 5), .gpus = *rc::gen::inRange(0, 5)});
  if (*rc::gen::arbitrary<bool>())
    gang.pods(*rc::gen::inRange(1, 5), {.cpu = *rc::gen::inRange(1, 9)});
  const auto without = c.seats(gang);
  const bool is_of_one_kind =
      gang.what.members.front().kind->id == gang.what.members.back().kind->id;
  for (const auto* p : policies()) {
    c.bounds.rule = p;
    const auto with = c.seats(gang);
    RC_ASSERT(with.empty() == without.empty());
    RC_ASSERT(!is_of_one_kind || with.size() == without.size());
  }
}

} // namespace
} // namespace tutti::placement::engine::testing
