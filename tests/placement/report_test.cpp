// What people read of the view: nodes and racks.
#include "tests/placement/topology_world.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace tutti::placement::testing {
namespace {

namespace json = boost::json;

struct Report : ::testing::Test {
  topology_world world;

  json::value ask(const std::string& what, const std::string& name = {}) {
    world.hear(protocol::to(protocol::role_kind::admin), protocol::inspect{5, what, name});
    const auto* answer = world.find<protocol::inspected>(protocol::to(protocol::role_kind::admin));
    EXPECT_NE(answer, nullptr);
    EXPECT_EQ(answer->id, 5u);
    return answer->json.empty() ? json::value{} : json::parse(answer->json);
  }
};

TEST_F(Report, lists_nodes_by_name_with_their_numbers) {
  world.cluster({{.name = "b", .rack = "r1", .gpus_used = 3}, {.name = "a", .rack = "r0"}});
  const auto nodes = ask("nodes").as_array();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].at("name").as_string(), "a");
  EXPECT_EQ(nodes[1].at("domains").at("rack").as_string(), "r1");
  EXPECT_EQ(nodes[1].at("free").at("nvidia.com/gpu").as_int64(), 5);
  EXPECT_EQ(nodes[1].at("allocatable").at("nvidia.com/gpu").as_int64(), 8);
  EXPECT_TRUE(nodes[1].at("schedulable").as_bool());
}

TEST_F(Report, sums_racks) {
  world.cluster({{.name = "a", .rack = "r0", .gpus_used = 3},
                 {.name = "b", .rack = "r0", .gpus_used = 8},
                 {.name = "c", .rack = "r1"}});
  const auto racks = ask("racks").as_array();
  ASSERT_EQ(racks.size(), 2u);
  EXPECT_EQ(racks[0].at("name").as_string(), "r0");
  EXPECT_EQ(racks[0].at("nodes").as_int64(), 2);
  EXPECT_EQ(racks[0].at("gpus").as_int64(), 16);
  EXPECT_EQ(racks[0].at("gpus_used").as_int64(), 11);
  EXPECT_EQ(racks[0].at("used").at("cpu_milli").as_int64(), 0);
}

TEST_F(Report, one_by_name_or_nothing) {
  world.cluster({{.name = "a"}});
  EXPECT_EQ(ask("nodes", "a").at("uid").as_string(), "uid-a");
  EXPECT_TRUE(ask("nodes", "x").is_null());
  EXPECT_TRUE(ask("racks", "x").is_null());
  EXPECT_TRUE(ask("gangs").is_null());
}

} // namespace
} // namespace tutti::placement::testing
