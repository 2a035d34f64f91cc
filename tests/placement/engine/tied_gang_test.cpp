// Affinity and anti-affinity among pods, and topology spread: what kube-scheduler would say.
#include <gtest/gtest.h>

#include <set>

#include "placement/engine/solve.hpp"
#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine {
namespace {

using namespace testing;

struct TiedGang : ::testing::Test {
  /// Nodes PREFIX0.. in one zone, each in a rack of its own.
  void zone(const std::string& name, int nodes, std::int64_t cpu = 64) {
    for (int i = 0; i < nodes; ++i) {
      const auto node = name + std::to_string(i);
      c.node({.name = node, .rack = "r-" + node, .zone = name, .cpu = cpu});
    }
  }
  /// Pods that are there, on a node that `zone` made.
  void there(const std::string& node, std::vector<base::tied_pods> pods) {
    put(c, {.name = node, .rack = "r-" + node, .zone = node.substr(0, 1)}, std::move(pods));
  }
  std::map<std::string, int> per_zone(const gang_spec& what) {
    std::map<std::string, int> out;
    for (const auto& [pod, node] : c.seats(what))
      ++out[node.substr(0, 1)];
    return out;
  }
  cluster c;
};
using spots = std::map<std::string, int>;

TEST_F(TiedGang, members_that_keep_apart_get_a_node_each) {
  zone("a", 3);
  const auto ties = pod("web").apart("web", host_key);
  std::set<std::string> nodes;
  for (const auto& [pod, node] : c.seats(tied_gang(3, {}, ties)))
    nodes.insert(node);
  EXPECT_EQ(nodes.size(), 3U);
  const auto why = c.refusal(tied_gang(4, {}, ties));
  EXPECT_NE(why.primary, base::reason_code::undecided) << "counted: four do not fit on three";
  EXPECT_EQ(why.placed, 3);
}

TEST_F(TiedGang, members_that_keep_apart_get_a_zone_each) {
  zone("a", 3);
  zone("b", 3);
  const auto ties = pod("web").apart("web", zone_key);
  EXPECT_EQ(per_zone(tied_gang(2, {}, ties)), (spots{{"a", 1}, {"b", 1}}));
  EXPECT_NE(c.refusal(tied_gang(3, {}, ties)).primary, base::reason_code::undecided);
}

TEST_F(TiedGang, anti_affinity_counts_pods_that_are_there) {
  zone("a", 1);
  zone("b", 1);
  there("a0", {{pod("db"), 1}});
  EXPECT_EQ(per_zone(tied_gang(1, {}, pod("web").apart("db", zone_key))), (spots{{"b", 1}}));
  EXPECT_EQ(per_zone(tied_gang(1, {}, pod("web").apart("cache", zone_key))), (spots{{"a", 1}}));
}

TEST_F(TiedGang, anti_affinity_of_pods_that_are_there_keeps_others_away) {
  zone("a", 2);
  zone("b", 1);
  there("a0", {{pod("db").apart("web", zone_key), 1}});
  EXPECT_EQ(per_zone(tied_gang(2, {}, pod("web"))), (spots{{"b", 2}}));
  EXPECT_EQ(per_zone(tied_gang(2, {}, pod("cache"))), (spots{{"a", 2}}));
}

TEST_F(TiedGang, a_node_without_the_key_is_no_domain_to_keep_out_of) {
  c.node({.name = "a0", .rack = "r", .zone = ""});
  put(c, {.name = "a0", .rack = "r"}, {{pod("db"), 1}});
  EXPECT_EQ(c.placed(tied_gang(2, {}, pod("web").apart("db", zone_key).apart("web", zone_key))),
            2U);
  EXPECT_EQ(c.placed(tied_gang(1, {}, pod("db").near("db", zone_key))), 0U);
  EXPECT_EQ(c.placed(tied_gang(1, {}, pod("db").spread("db", zone_key))), 0U);
}

TEST_F(TiedGang, affinity_leads_to_pods_that_are_there) {
  zone("a", 1);
  zone("b", 2);
  there("b1", {{pod("db"), 1}});
  EXPECT_EQ(per_zone(tied_gang(2, {}, pod("web").near("db", zone_key))), (spots{{"b", 2}}));
  EXPECT_EQ(c.seats(tied_gang(1, {}, pod("web").near("db", host_key))),
            (std::map<std::string, std::string>{{"pod0", "b1"}}));
  EXPECT_EQ(c.placed(tied_gang(1, {}, pod("web").near("cache", zone_key))), 0U);
}

TEST_F(TiedGang, one_pod_must_be_meant_by_all_terms) {
  zone("a", 1);
  zone("b", 1);
  const auto wants = [] { return pod("web").near("db", zone_key).near("cache", zone_key); };
  there("a0", {{pod("db"), 1}, {pod("cache"), 1}});
  EXPECT_EQ(c.placed(tied_gang(1, {}, wants())), 0U) << "a db and a cache are two pods";
}

TEST_F(TiedGang, the_first_of_its_kind_may_go_anywhere_and_the_others_follow) {
  zone("a", 2, 2);
  zone("b", 2, 4);
  zone("d", 2, 3);
  const auto ties = pod("web").near("web", zone_key);
  EXPECT_EQ(per_zone(tied_gang(6, {}, ties)), (spots{{"d", 6}})) << "the zone they just fill";
  EXPECT_EQ(per_zone(tied_gang(8, {}, ties)), (spots{{"b", 8}}));
  const auto why = c.refusal(tied_gang(9, {}, ties));
  EXPECT_NE(why.primary, base::reason_code::undecided);
  EXPECT_EQ(why.placed, 8);
}

TEST_F(TiedGang, members_follow_members_of_another_group) {
  zone("a", 1, 2);
  zone("b", 1, 8);
  gang_words both{3};
  tie(both.pods(3, {.cpu = 2}).what, pod("worker").near("leader", zone_key));
  tie(both.group(1).pods(1, {.cpu = 2}).what, pod("leader"));
  EXPECT_EQ(per_zone(both), (spots{{"b", 4}}));
}

TEST_F(TiedGang, members_that_need_each_other_come_at_once) {
  zone("a", 1, 1);
  zone("b", 1, 2);
  gang_words both{1};
  tie(both.pods(1, {}).what, pod("left").near("right", zone_key));
  tie(both.group(1).pods(1, {}).what, pod("right").near("left", zone_key));
  EXPECT_EQ(per_zone(both), (spots{{"b", 2}}));
}

TEST_F(TiedGang, spread_is_even_over_zones) {
  zone("a", 4);
  zone("b", 1);
  zone("d", 2);
  const auto ties = pod("web").spread("web", zone_key);
  EXPECT_EQ(per_zone(tied_gang(6, {}, ties)), (spots{{"a", 2}, {"b", 2}, {"d", 2}}));
  there("b0", {{pod("web"), 2}});
  EXPECT_EQ(per_zone(tied_gang(4, {}, ties)), (spots{{"a", 2}, {"d", 2}}));
}

TEST_F(TiedGang, spread_goes_no_further_than_the_poorest_zone_lets_it) {
  zone("a", 1, 8);
  zone("b", 1, 2);
  const auto ties = pod("web").spread("web", zone_key);
  EXPECT_EQ(per_zone(tied_gang(5, {}, ties)), (spots{{"a", 3}, {"b", 2}}));
  const auto why = c.refusal(tied_gang(6, {}, ties));
  EXPECT_NE(why.primary, base::reason_code::undecided);
  EXPECT_EQ(why.placed, 5);
}

TEST_F(TiedGang, with_fewer_domains_than_wanted_the_least_is_zero) {
  zone("a", 1);
  zone("b", 1);
  const auto ties = pod("web").spread("web", zone_key, 1, 3);
  EXPECT_EQ(c.placed(tied_gang(2, {}, ties)), 2U);
  EXPECT_EQ(c.placed(tied_gang(3, {}, ties)), 0U);
}

TEST_F(TiedGang, a_zone_that_the_pod_may_not_use_is_not_the_least) {
  zone("a", 1);
  c.node({.name = "b0", .rack = "r-b0", .zone = "b", .labels = {{"disk", "hdd"}}});
  api::shape_terms ssd;
  ssd.has_required = true;
  ssd.required = {{{{"disk", api::label_requirement::operation::does_not_exist, {}}}, {}}};
  auto ties = pod("web").spread("web", zone_key);
  EXPECT_EQ(c.placed(tied_gang(3, {.terms = ssd}, ties)), 3U);
  ties.x.spread[0].honors_affinity = false;
  EXPECT_EQ(c.placed(tied_gang(3, {.terms = ssd}, ties)), 0U);
}

TEST_F(TiedGang, a_tainted_zone_counts_unless_the_rule_says_otherwise) {
  zone("a", 1);
  c.node({.name = "b0",
          .rack = "r-b0",
          .zone = "b",
          .taints = {{"gpu", "yes", api::taint_effect::no_schedule}}});
  auto ties = pod("web").spread("web", zone_key);
  EXPECT_EQ(c.placed(tied_gang(3, {}, ties)), 0U);
  ties.x.spread[0].honors_taints = true;
  EXPECT_EQ(c.placed(tied_gang(3, {}, ties)), 3U);
}

TEST_F(TiedGang, the_usual_pair_spread_over_zones_and_one_per_node) {
  zone("a", 4);
  zone("b", 4);
  zone("d", 4);
  const auto ties = pod("web").spread("web", zone_key).apart("web", host_key);
  EXPECT_EQ(per_zone(tied_gang(11, {}, ties)), (spots{{"a", 4}, {"b", 4}, {"d", 3}}));
  std::set<std::string> nodes;
  for (const auto& [pod, node] : c.seats(tied_gang(12, {}, ties)))
    nodes.insert(node);
  EXPECT_EQ(nodes.size(), 12U);
  EXPECT_EQ(c.placed(tied_gang(13, {}, ties)), 0U);
}

TEST_F(TiedGang, ties_hold_inside_a_required_domain) {
  for (int i = 0; i < 4; ++i)
    c.node({.name = "x" + std::to_string(i), .rack = i < 3 ? "big" : "small", .zone = "x"});
  const auto ties = pod("web").apart("web", host_key);
  EXPECT_EQ(c.placed(tied_gang(3, {}, ties, rack_key)), 3U);
  EXPECT_EQ(c.placed(tied_gang(4, {}, ties, rack_key)), 0U);
}

TEST_F(TiedGang, labels_that_no_term_asks_for_do_not_part_members) {
  zone("a", 2);
  zone("b", 2);
  auto what = gang_of(4, {});
  for (std::size_t i = 0; i < what.what.members.size(); ++i)
    what.what.members[i].ties =
        pod("web").label("index", std::to_string(i)).spread("web", zone_key);
  const auto p = read_gang(c.view.now(), what, c.memory);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->lots.size(), 1U);
  EXPECT_EQ(per_zone(what), (spots{{"a", 2}, {"b", 2}}));
}

TEST_F(TiedGang, namespaces_are_meant_by_their_labels) {
  zone("a", 1);
  auto other = pod("db");
  other.x.space = "lab";
  there("a0", {{other, 1}});
  auto ties = pod("web").apart("db", zone_key);
  ties.x.anti_affinity[0].spaces.clear();
  ties.x.anti_affinity[0].space_labels =
      api::label_selector{{{"team", api::label_requirement::operation::in, {"red"}}}, false};
  EXPECT_EQ(c.placed(tied_gang(1, {}, ties)), 1U) << "nothing is known of the namespace";
  c.view.set_space("lab", api::string_map{{"team", "red"}});
  EXPECT_EQ(c.placed(tied_gang(1, {}, ties)), 0U);
}

TEST_F(TiedGang, members_beyond_the_minimum_come_along_as_far_as_they_may) {
  zone("a", 3);
  auto what = gang_words{2}.pods(5, {}).what;
  tie(what, pod("web").apart("web", host_key));
  EXPECT_EQ(c.placed(what), 3U);
}

TEST_F(TiedGang, preferred_terms_choose_among_equal_nodes) {
  zone("a", 2);
  there("a1", {{pod("db"), 1}});
  const auto on = [&](const base::ties_ptr& ties) {
    return c.seats(tied_gang(1, {}, ties))["pod0"];
  };
  EXPECT_EQ(on(pod("web").prefer(10, "db", host_key)), "a1");
  EXPECT_EQ(on(pod("web").prefer(-10, "db", host_key)), "a0");
}

TEST_F(TiedGang, a_spread_that_is_a_wish_is_kept_where_it_can_be) {
  zone("a", 1, 8);
  zone("b", 1, 2);
  const auto ties = pod("web").wish_spread("web", zone_key);
  EXPECT_EQ(per_zone(tied_gang(4, {}, ties)), (spots{{"a", 2}, {"b", 2}}));
  EXPECT_EQ(per_zone(tied_gang(10, {}, ties)), (spots{{"a", 8}, {"b", 2}}));
}

TEST_F(TiedGang, pods_that_nobody_asks_for_are_placed_as_before) {
  zone("a", 2);
  there("a0", {{pod("db").apart("cache", host_key), 1}});
  const auto p = read_gang(c.view.now(), tied_gang(2, {}, pod("web")), c.memory);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->ties, nullptr);
}

/// Refusals of a lone pod, as kube-scheduler words them.
struct TiedRefusal : TiedGang {
  std::int64_t nodes(const base::ties_ptr& ties, const std::string& cause) {
    why = c.refusal(tied_gang(1, {}, ties));
    return nodes_for(why, cause);
  }
  base::explanation why;
};

TEST_F(TiedRefusal, counts_nodes_by_the_rule_that_keeps_the_pod_away) {
  zone("a", 2);
  zone("b", 1);
  there("a0", {{pod("db").apart("web", zone_key), 1}});
  there("b0", {{pod("db"), 1}});
  const auto both = pod("web").apart("db", host_key);
  EXPECT_EQ(nodes(both, "node(s) didn't match pod anti-affinity rules"), 2);
  EXPECT_EQ(nodes_for(why, "node(s) didn't satisfy existing pods anti-affinity rules"), 1);
  EXPECT_EQ(why.primary, base::reason_code::node_constraints_unmet);
  EXPECT_EQ(why.nodes_fit, 0);
  EXPECT_EQ(nodes(pod("x").near("web", zone_key), "node(s) didn't match pod affinity rules"), 3);
  EXPECT_EQ(why.primary, base::reason_code::node_constraints_unmet);
}

TEST_F(TiedRefusal, counts_nodes_that_a_spread_keeps_the_pod_from) {
  zone("a", 2);
  c.node({.name = "b0", .rack = "r-b0", .zone = "b", .cpu = 0});
  c.node({.name = "x0", .rack = "r-x0"});
  there("a0", {{pod("web"), 1}});
  const auto ties = pod("web").spread("web", zone_key);
  EXPECT_EQ(nodes(ties, "node(s) didn't match pod topology spread constraints"), 2);
  EXPECT_EQ(nodes_for(why, "node(s) didn't match pod topology spread constraints (missing required "
                           "label)"),
            1);
  EXPECT_EQ(nodes_for(why, "Insufficient cpu"), 1);
}

} // namespace
} // namespace tutti::placement::engine
