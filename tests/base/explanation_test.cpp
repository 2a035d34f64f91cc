// Why a gang waits, as one line: reason first, numbers after it, nothing that is not known.
#include "base/explanation.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Explanation, every_reason_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int n = 0; n <= static_cast<int>(reason_code::scheduler_error); ++n) {
    const auto name = name_of(static_cast<reason_code>(n));
    EXPECT_NE(name, "?") << n;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(name_of(static_cast<reason_code>(names.size())), "?") << "a later reason has no test";
}

TEST(Explanation, tells_numbers_in_the_order_in_which_people_ask) {
  explanation x;
  x.primary = reason_code::topology_too_fragmented;
  x.wanted = 64;
  x.placed = 56;
  x.closest = {{"example.com/block", "b7", 64, 56}, {"example.com/block", "b2", 64, 40}};
  x.dimension = "cpu";
  x.short_by = 1500;
  x.nodes_seen = 9;
  x.nodes_fit = 5;
  x.rejected = {{"Insufficient cpu", 3}, {"untolerated taint {a: b}", 1}};
  EXPECT_EQ(to_text(x), "TopologyTooFragmented: 56 of 64 members can be placed, best "
                        "example.com/block b7 takes 56 of 64, cpu short by 1500m; 5/9 nodes are "
                        "available: 3 Insufficient cpu, 1 untolerated taint {a: b}");
}

TEST(Explanation, calls_pods_that_a_node_does_not_take_too_many) {
  explanation x;
  x.primary = reason_code::insufficient_resources;
  x.wanted = 2;
  x.placed = 1;
  x.dimension = "pods";
  x.short_by = 1;
  EXPECT_EQ(to_text(x), "InsufficientResources: 1 of 2 members can be placed, too many pods, by 1");
}

TEST(Explanation, says_nothing_of_what_is_not_known) {
  explanation x;
  x.primary = reason_code::gated;
  EXPECT_EQ(to_text(x), "Gated");
  x.detail = "2 of 3 pods have scheduling gates";
  EXPECT_EQ(to_text(x), "Gated: 2 of 3 pods have scheduling gates");
  x.closest = {{"", "", 3, 1}};
  EXPECT_EQ(to_text(x), "Gated: 2 of 3 pods have scheduling gates")
      << "the whole cluster is no domain";
}

} // namespace
} // namespace tutti::base
