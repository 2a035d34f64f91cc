// A shard's deltas are a chain: nothing is built on a missing link.
#include "tests/placement/topology_world.hpp"

#include <gtest/gtest.h>

namespace tutti::placement::testing {
namespace {

struct ViewFeed : ::testing::Test {
  view_feed feed{{"rack"}, shards};
  const node_words a{.name = "a", .rack = rack_in(0)};
  const node_words b{.name = "b", .rack = rack_in(0, 1)};

  view_feed::outcome take(std::uint64_t version, std::vector<protocol::node_view> nodes,
                          bool is_whole = false, std::uint64_t incarnation = 1,
                          std::uint32_t shard = 0) {
    return feed.apply({{shard}, {incarnation}, version, is_whole, std::move(nodes), {}});
  }
  std::int64_t nodes() { return feed.view().now().nodes; }
};

TEST_F(ViewFeed, a_gap_asks_for_the_whole_and_changes_nothing) {
  take(1, {seen(a)});
  EXPECT_TRUE(take(3, {seen(b)}).wants_whole);
  EXPECT_EQ(nodes(), 1);
  EXPECT_FALSE(feed.is_in_step({0}));
  EXPECT_TRUE(take(4, {seen(b)}).wants_whole) << "until the whole comes";
  EXPECT_TRUE(take(5, {seen(a), seen(b)}, true).is_applied);
  EXPECT_EQ(nodes(), 2);
  EXPECT_TRUE(take(6, {gone("a")}).is_applied);
  EXPECT_EQ(nodes(), 1);
}

TEST_F(ViewFeed, a_copy_of_a_delta_changes_nothing) {
  take(1, {seen(a)});
  take(2, {gone("a")});
  const auto again = take(1, {seen(a)});
  EXPECT_FALSE(again.is_applied || again.wants_whole);
  EXPECT_EQ(nodes(), 0);
}

TEST_F(ViewFeed, a_new_life_of_the_shard_asks_for_the_whole) {
  take(1, {seen(a)});
  EXPECT_TRUE(take(1, {seen(b)}, false, 2).wants_whole);
  EXPECT_EQ(nodes(), 1);
  EXPECT_TRUE(take(2, {seen(b)}, true, 2).is_applied);
  EXPECT_EQ(nodes(), 1);
  EXPECT_FALSE(feed.view().find(base::node_name{"a"}).has_value());
  EXPECT_FALSE(take(9, {seen(a)}, true, 1).is_applied) << "an earlier life";
}

TEST_F(ViewFeed, the_first_delta_of_a_life_needs_nothing_before_it) {
  EXPECT_TRUE(take(1, {seen(a)}).is_applied);
  EXPECT_TRUE(take(2, {seen(b)}, false, 1, 1).wants_whole) << "but the second does";
}

TEST_F(ViewFeed, a_whole_view_keeps_the_nodes_of_other_shards) {
  const node_words c{.name = "c", .rack = rack_in(1)};
  take(1, {seen(c)}, true, 1, 1);
  take(1, {seen(a), seen(b)}, true);
  take(2, {seen(b)}, true);
  EXPECT_EQ(nodes(), 2);
  EXPECT_TRUE(feed.view().find(base::node_name{"c"}).has_value());
}

TEST_F(ViewFeed, room_of_an_unknown_node_breaks_the_chain) {
  take(1, {});
  EXPECT_TRUE(take(2, {room(a)}).wants_whole);
  EXPECT_FALSE(feed.is_in_step({0}));
}

TEST_F(ViewFeed, a_node_that_moved_to_another_shard_is_not_removed_by_the_old_one) {
  take(1, {seen(a)}, true);
  take(1, {seen({.name = "a", .rack = rack_in(1)})}, true, 1, 1);
  take(2, {gone("a")});
  EXPECT_EQ(nodes(), 1);
}

TEST_F(ViewFeed, a_late_word_of_the_old_shard_does_not_lose_a_node_that_moved) {
  take(1, {seen(b)}, true);
  take(1, {}, true, 1, 1);
  take(2, {seen(a)}, false, 1, 1); // the new shard speaks first
  take(2, {seen(a)});              // and the old one tells what it had to say before it let go
  const auto done = take(3, {gone("a")});
  EXPECT_EQ(done.others_to_ask, std::vector{base::shard_id{1}}) << "it has the node now";
  take(3, {seen(a)}, true, 1, 1);
  EXPECT_EQ(nodes(), 2);
  EXPECT_TRUE(take(4, {gone("a")}, false, 1, 1).others_to_ask.empty());
  EXPECT_EQ(nodes(), 1);
}

TEST_F(ViewFeed, its_version_counts_what_was_applied) {
  take(1, {seen(a)});
  take(1, {}, true, 1, 1);
  EXPECT_EQ(feed.version(), 2u);
  take(5, {});
  EXPECT_EQ(feed.version(), 2u);
}

TEST_F(ViewFeed, marks_survive_a_whole_view) {
  take(1, {seen(a)}, true);
  base::footprint takes;
  takes.amounts.set(gpu_name, 5);
  feed.view().mark(attempt_of("g"), {{{"uid-a"}, takes}});
  take(2, {seen(a)}, true);
  const auto at = feed.view().find(base::node_name{"a"});
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(engine::free_of(feed.view().now(), *at).of(gpu_name), 3);
}

TEST_F(ViewFeed, ignores_a_shard_that_does_not_exist) {
  const auto done = take(1, {seen(a)}, true, 1, 7);
  EXPECT_FALSE(done.is_applied || done.wants_whole);
}

} // namespace
} // namespace tutti::placement::testing
