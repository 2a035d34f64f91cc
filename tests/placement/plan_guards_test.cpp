// Which guards a plan takes, on which shards, and what it quotes.
#include "placement/plan_guards.hpp"

#include <gtest/gtest.h>

#include "api/ties.hpp"
#include "tests/placement/topology_world.hpp"

namespace tutti::placement::testing {
namespace {

using guards = std::vector<protocol::guard_use>;

api::pod_term apart(std::string key, std::string app = "db") {
  api::pod_term out;
  out.topology_key = std::move(key);
  out.pods.requirements = {{"app", api::label_requirement::operation::in, {std::move(app)}}};
  out.spaces = {"ns"};
  return out;
}

api::pod_ties labelled(std::string app) {
  api::pod_ties out;
  out.space = "ns";
  out.labels = {{"app", std::move(app)}};
  return out;
}

/// Two shards, with a node each, and guards of which they have told.
struct PlanGuards : ::testing::Test {
  topology_world world;
  std::string in_0 = rack_in(0);
  std::string in_1 = rack_in(1);

  void SetUp() override {
    world.cluster({{.name = "a", .rack = in_0}, {.name = "b", .rack = in_1}});
  }
  static protocol::guard_id id(std::string kind, std::string key) {
    return {std::move(kind), "ns", std::move(key)};
  }
  void tells(std::uint32_t shard, const protocol::guard_id& guard, std::uint64_t any,
             std::uint64_t exclusive, std::uint64_t known) {
    protocol::view_delta news{{shard}, {1}, ++world.versions[shard], false, {}, {}};
    news.guards = {{guard, {1, any}, {1, exclusive}}};
    news.guards_known = {1, known};
    world.hear(protocol::to_shard({shard}), news);
  }
  static protocol::gang_ptr gang(const api::pod_ties& ties) {
    auto out = std::make_shared<protocol::gang>(*gang_of("g", 1, 8));
    for (auto& m : out->members)
      m.ties = api::make_ties(ties);
    return out;
  }
  const std::vector<protocol::slice>& slices(const api::pod_ties& ties) {
    answer = world.ask(gang(ties), ++tries);
    EXPECT_NE(answer.placement, nullptr);
    return answer.placement->slices;
  }
  protocol::plan_answer answer;
  std::uint64_t tries = 0;
};

TEST_F(PlanGuards, a_gang_that_nobody_means_takes_none_and_asks_no_shard_more) {
  tells(0, id("anti-affinity", "zone app=db"), 5, 3, 9);
  const auto& asked = slices(labelled("web"));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(asked[0].guards.empty());
  EXPECT_EQ(asked[0].space, "ns");
  const bool has_told = asked[0].shard.value == 0;
  EXPECT_EQ(asked[0].guards_known,
            has_told ? (protocol::guard_version{1, 9}) : protocol::guard_version{});
}

TEST_F(PlanGuards, distance_by_host_is_asked_where_the_members_are) {
  auto who = labelled("web");
  who.anti_affinity = {apart("kubernetes.io/hostname")};
  const auto& asked = slices(who);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].guards,
            (guards{{id("anti-affinity", "kubernetes.io/hostname app=db"), true, {}}}));
}

TEST_F(PlanGuards, distance_by_the_level_that_deals_out_nodes_is_asked_there_too) {
  auto who = labelled("web");
  who.anti_affinity = {apart("rack")};
  EXPECT_EQ(slices(who).size(), 1u);
}

TEST_F(PlanGuards, wider_terms_are_asked_of_every_shard_and_quote_what_each_has_told) {
  const auto wide = id("anti-affinity", "zone app=db");
  tells(0, wide, 5, 3, 9);
  tells(1, wide, 7, 4, 9);
  auto who = labelled("web");
  who.anti_affinity = {apart("zone")};
  const auto& asked = slices(who);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].guards, (guards{{wide, true, {1, 5}}}));
  EXPECT_EQ(asked[1].guards, (guards{{wide, true, {1, 7}}}));
  EXPECT_EQ(asked[0].seats.size() + asked[1].seats.size(), 1u);
}

TEST_F(PlanGuards, whom_a_wider_distance_means_asks_every_shard_shared) {
  const auto wide = id("anti-affinity", "zone app=db");
  tells(0, wide, 5, 3, 9);
  const auto& asked = slices(labelled("db"));
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].guards, (guards{{wide, false, {1, 3}}}));
  EXPECT_EQ(asked[1].guards, (guards{{wide, false, {}}})) << "this shard has not told of it";
}

TEST_F(PlanGuards, whom_company_or_evenness_means_asks_only_its_own_shards) {
  tells(0, id("affinity", "zone app=db"), 5, 3, 9);
  tells(0, id("spread", "zone app=db"), 6, 3, 10);
  const auto& asked = slices(labelled("db"));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].guards.size(), 2u);
  EXPECT_FALSE(asked[0].guards[0].is_exclusive);
}

TEST_F(PlanGuards, a_term_that_means_its_own_pods_is_taken_once_and_exclusively) {
  tells(0, id("anti-affinity", "zone app=db"), 5, 3, 9);
  auto who = labelled("db");
  who.anti_affinity = {apart("zone")};
  const auto& asked = slices(who);
  ASSERT_EQ(asked.size(), 2u);
  ASSERT_EQ(asked[0].guards.size(), 1u);
  EXPECT_TRUE(asked[0].guards[0].is_exclusive);
}

} // namespace
} // namespace tutti::placement::testing
