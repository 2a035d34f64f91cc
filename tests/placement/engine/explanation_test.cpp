// Every refusal has its word and its numbers.
#include "tests/placement/engine/cluster.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

using base::domain_fit;
using base::reason_code;

struct Explanation : ::testing::Test {
  cluster c;
};

TEST_F(Explanation, insufficient_resources_names_dimension_and_shortage) {
  c.nodes("n", 3, {.gpus = 8, .gpus_used = 6});
  const auto why = c.refusal(gang_of(10, {.gpus = 1}));
  EXPECT_EQ(why.primary, reason_code::insufficient_resources);
  EXPECT_EQ(why.nodes_seen, 3);
  EXPECT_EQ(why.nodes_fit, 3);
  EXPECT_EQ(why.wanted, 10);
  EXPECT_EQ(why.placed, 6);
  EXPECT_EQ(why.dimension, "nvidia.com/gpu");
  EXPECT_EQ(why.short_by, 4);
  EXPECT_EQ(why.closest, (std::vector<domain_fit>{{"", "", 10, 6}}));
}

TEST_F(Explanation, fragmentation_shows_the_three_closest_domains) {
  c.nodes("a", 1, {.rack = "r1", .gpus_used = 4});
  c.nodes("b", 1, {.rack = "r2", .gpus_used = 1});
  c.nodes("d", 1, {.rack = "r3", .gpus_used = 2});
  c.nodes("e", 1, {.rack = "r4", .gpus_used = 7});
  c.nodes("f", 1, {.gpus_used = 0});
  const auto why = c.refusal(gang_of(8, {.gpus = 1}, rack_key));
  EXPECT_EQ(why.primary, reason_code::topology_too_fragmented);
  EXPECT_EQ(why.closest,
            (std::vector<domain_fit>{
                {rack_key, "r2", 8, 7}, {rack_key, "r3", 8, 6}, {rack_key, "r1", 8, 4}}));
  EXPECT_EQ(why.placed, 7);
  EXPECT_EQ(why.short_by, 1);
  EXPECT_EQ(nodes_for(why, "node(s) didn't have the topology label topology/rack"), 1);
  EXPECT_EQ(why.nodes_fit, 4);
}

TEST_F(Explanation, never_fits_if_it_would_not_fit_an_empty_cluster) {
  c.nodes("n", 2, {.gpus = 8, .gpus_used = 5});
  const auto why = c.refusal(gang_of(3, {.gpus = 8}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.detail, "2 of 3 would fit with every pod removed");
  EXPECT_EQ(c.refusal(gang_of(2, {.gpus = 8})).primary, reason_code::insufficient_resources);
}

TEST_F(Explanation, a_key_that_no_node_has_never_fits) {
  c.nodes("n", 2, {});
  const auto why = c.refusal(gang_of(2, {}, "no/such-key"));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.others.front(), reason_code::topology_too_fragmented);
  EXPECT_EQ(nodes_for(why, "node(s) didn't have the topology label no/such-key"), 2);
  EXPECT_EQ(why.detail, "no node has the topology label no/such-key");
  EXPECT_EQ(why.dimension, "") << "nothing of it is short";
  EXPECT_EQ(why.short_by, 0);
  EXPECT_EQ(base::to_text(why), "NeverFits: 0 of 2 members can be placed: no node has the topology "
                                "label no/such-key; 0/2 nodes are available: 2 node(s) didn't have "
                                "the topology label no/such-key");
}

TEST_F(Explanation, a_key_that_no_node_has_hides_no_shortage_of_everything) {
  c.nodes("n", 2, {.gpus = 8});
  const auto why = c.refusal(gang_of(9, {.gpus = 8}, "no/such-key"));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.others, std::vector{reason_code::insufficient_resources});
}

TEST_F(Explanation, ports_that_are_taken_are_no_shortage_of_resources) {
  c.nodes("n", 2, {});
  const base::host_port web{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 80};
  const auto why = c.refusal(gang_of(3, {.ports = {web}}));
  EXPECT_EQ(why.placed, 2);
  EXPECT_EQ(why.dimension, "");
}

TEST_F(Explanation, a_selector_that_no_node_matches_never_fits) {
  c.nodes("n", 2, {});
  pod_words pod;
  pod.terms.selector = {{"disk", "ssd"}};
  const auto why = c.refusal(gang_of(1, pod));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.others.front(), reason_code::node_constraints_unmet);
}

TEST_F(Explanation, constraints_are_named_where_only_excluded_nodes_have_room) {
  c.node({.name = "a", .gpus_used = 8});
  c.node({.name = "b", .taints = {{"maintenance", "", api::taint_effect::no_schedule}}});
  const auto why = c.refusal(gang_of(8, {.gpus = 1}));
  EXPECT_EQ(why.primary, reason_code::node_constraints_unmet);
  EXPECT_EQ(nodes_for(why, "node(s) had untolerated taint(s) {maintenance: }"), 1);
  EXPECT_EQ(nodes_for(why, "Insufficient nvidia.com/gpu"), 1);
}

TEST_F(Explanation, a_node_counts_once_per_resource_that_is_short) {
  c.node({.name = "a", .cpu = 2, .gpus = 1});
  const auto why = c.refusal(gang_of(1, {.cpu = 3, .gpus = 2}));
  EXPECT_EQ(nodes_for(why, "Insufficient cpu"), 1);
  EXPECT_EQ(nodes_for(why, "Insufficient nvidia.com/gpu"), 1);
  EXPECT_EQ(why.nodes_fit, 0);
}

TEST_F(Explanation, an_empty_cluster_is_explained_too) {
  const auto why = c.refusal(gang_of(1, {}));
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(why.nodes_seen, 0);
}

} // namespace
} // namespace tutti::placement::engine::testing
