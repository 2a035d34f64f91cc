// Each filter says what kube-scheduler says, and in its words.
#include "tests/placement/engine/cluster.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

using base::reason_code;

struct Filters : ::testing::Test {
  cluster c;

  static gang_words one(const pod_words& like) { return gang_of(1, like); }
  static api::label_requirement in(std::string key, std::vector<std::string> values) {
    return {std::move(key), api::label_requirement::operation::in, std::move(values)};
  }
};

TEST_F(Filters, a_cordoned_node_takes_nothing) {
  c.node({.name = "a", .unschedulable = true});
  EXPECT_EQ(c.placed(one({})), 0u);
  EXPECT_EQ(nodes_for(c.refusal(one({})), "node(s) were unschedulable"), 1);
  c.node({.name = "b"});
  EXPECT_EQ(c.seats(one({})), (std::map<std::string, std::string>{{"pod0", "b"}}));
}

TEST_F(Filters, a_pod_that_tolerates_the_cordon_is_placed) {
  c.node({.name = "a", .unschedulable = true});
  pod_words pod;
  pod.terms.tolerations = {{"node.kubernetes.io/unschedulable", true, "", true, {}}};
  EXPECT_EQ(c.placed(one(pod)), 1u);
}

TEST_F(Filters, a_pod_that_names_a_node_goes_there_only) {
  c.nodes("n", 3, {});
  pod_words pod;
  pod.terms.node_name = "n1";
  EXPECT_EQ(c.seats(one(pod)).at("pod0"), "n1");
  pod.terms.node_name = "n9";
  EXPECT_EQ(nodes_for(c.refusal(one(pod)), "node(s) didn't match the requested node name"), 3);
}

TEST_F(Filters, taints_keep_out_who_does_not_tolerate_them) {
  c.node({.name = "a", .taints = {{"maintenance", "yes", api::taint_effect::no_schedule}}});
  EXPECT_EQ(nodes_for(c.refusal(one({})), "node(s) had untolerated taint(s) {maintenance: yes}"),
            1);
  pod_words pod;
  pod.terms.tolerations = {{"maintenance", false, "yes", true, {}}};
  EXPECT_EQ(c.placed(one(pod)), 1u);
}

TEST_F(Filters, a_soft_taint_only_decides_between_equal_nodes) {
  c.node({.name = "a", .taints = {{"old", "", api::taint_effect::prefer_no_schedule}}});
  c.node({.name = "b"});
  EXPECT_EQ(c.seats(one({})).at("pod0"), "b");
  c.view.remove({"uid-b"});
  EXPECT_EQ(c.seats(one({})).at("pod0"), "a");
}

TEST_F(Filters, selector_and_required_affinity_must_hold) {
  c.node({.name = "a", .labels = {{"disk", "hdd"}}});
  c.node({.name = "b", .labels = {{"disk", "ssd"}}});
  pod_words by_selector;
  by_selector.terms.selector = {{"disk", "ssd"}};
  EXPECT_EQ(c.seats(one(by_selector)).at("pod0"), "b");
  pod_words by_affinity;
  by_affinity.terms.has_required = true;
  by_affinity.terms.required = {{{in("disk", {"tape", "hdd"})}, {}}};
  EXPECT_EQ(c.seats(one(by_affinity)).at("pod0"), "a");
  pod_words by_nothing;
  by_nothing.terms.has_required = true;
  EXPECT_EQ(
      nodes_for(c.refusal(one(by_nothing)), "node(s) didn't match Pod's node affinity/selector"),
      2);
}

TEST_F(Filters, affinity_to_a_host_name_is_judged_node_by_node) {
  c.nodes("n", 3, {});
  pod_words pod;
  pod.terms.has_required = true;
  pod.terms.required = {{{in("kubernetes.io/hostname", {"n2"})}, {}}};
  EXPECT_EQ(c.seats(one(pod)).at("pod0"), "n2");
}

TEST_F(Filters, preferred_affinity_decides_between_equal_nodes) {
  c.node({.name = "a", .labels = {{"disk", "hdd"}}});
  c.node({.name = "b", .labels = {{"disk", "ssd"}}});
  pod_words pod;
  pod.terms.preferred = {{10, {{in("disk", {"ssd"})}, {}}}};
  EXPECT_EQ(c.seats(one(pod)).at("pod0"), "b");
}

TEST_F(Filters, a_host_port_is_taken_once_per_node) {
  const base::host_port port{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 8080};
  c.node({.name = "a", .ports = {port}});
  c.node({.name = "b"});
  pod_words pod;
  pod.ports = {port};
  EXPECT_EQ(c.seats(one(pod)).at("pod0"), "b");
  EXPECT_EQ(c.placed(gang_of(2, pod)), 0u);
  EXPECT_EQ(nodes_for(c.refusal(gang_of(2, pod)),
                      "node(s) didn't have free ports for the requested pod ports"),
            1);
  c.node({.name = "c"});
  EXPECT_EQ(c.placed(gang_of(2, pod)), 2u);
}

TEST_F(Filters, members_of_different_shape_do_not_share_a_port) {
  const base::host_port port{base::symbol{"0.0.0.0"}, base::symbol{"TCP"}, 8080};
  c.node({.name = "a"});
  pod_words small;
  small.ports = {port};
  auto large = small;
  large.cpu = 2;
  auto gang = gang_words{2}.pods(1, small).pods(1, large);
  EXPECT_EQ(c.placed(gang), 0u);
  c.node({.name = "b"});
  EXPECT_EQ(c.placed(gang), 2u);
}

TEST_F(Filters, every_resource_counts_and_so_does_the_number_of_pods) {
  c.node({.name = "a", .cpu = 4, .memory_gib = 8, .gpus = 2, .pods = 3});
  EXPECT_EQ(c.placed(gang_of(3, {.cpu = 1})), 3u);
  EXPECT_EQ(nodes_for(c.refusal(gang_of(1, {.cpu = 5})), "Insufficient cpu"), 1);
  EXPECT_EQ(nodes_for(c.refusal(gang_of(1, {.memory_gib = 9})), "Insufficient memory"), 1);
  EXPECT_EQ(nodes_for(c.refusal(gang_of(1, {.gpus = 3})), "Insufficient nvidia.com/gpu"), 1);
  c.node({.name = "a", .pods = 0});
  EXPECT_EQ(nodes_for(c.refusal(gang_of(1, {})), "Too many pods"), 1);
}

TEST_F(Filters, a_resource_that_no_node_has_is_named) {
  c.nodes("n", 2, {.gpus = 0});
  base::footprint takes;
  takes.amounts.pods = 1;
  takes.amounts.set(base::symbol{"example.com/fpga"}, 1);
  gang_words gang;
  gang.pods(1, {});
  gang.what.members[0].kind = api::make_shape({}, takes);
  const auto why = c.refusal(gang);
  EXPECT_EQ(why.primary, reason_code::never_fits);
  EXPECT_EQ(nodes_for(why, "Insufficient example.com/fpga"), 2);
  EXPECT_EQ(why.dimension, "example.com/fpga");
}

TEST_F(Filters, a_request_of_zero_fits_a_node_that_is_over_used) {
  c.node({.name = "a", .cpu = 4, .cpu_used = 6});
  EXPECT_EQ(c.placed(gang_of(1, {.cpu = 0})), 1u);
  EXPECT_EQ(c.placed(gang_of(1, {.cpu = 1})), 0u);
}

} // namespace
} // namespace tutti::placement::engine::testing
