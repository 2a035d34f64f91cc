// Who goes first, and the departure from Q-13.
#include "queue_world.hpp"

#include "base/limits.hpp"
#include "protocol/sharding.hpp"

namespace tutti::queue {
namespace {

using Order = QueueWorld;

TEST_F(Order, q12_priority_then_age_then_arrival_and_pods_compete_with_groups) {
  pod("young", {.created = 20});
  pod("old-b", {.created = 10});
  pod("old-a", {.created = 10});
  group("g", {.min = 1, .priority = 5, .created = 30});
  pod("m", {.group = "g", .priority = 5});
  synced();
  EXPECT_EQ(tried(), (names{"g", "old-b", "old-a", "young"}));
}

TEST_F(Order, q12_of_one_second_whoever_had_a_pod_first_goes_first) {
  group("a", {.min = 2});
  group("b", {.min = 2});
  pod("q1", {.group = "b"});
  pod("single", {});
  pod("p1", {.group = "a"});
  pod("p2", {.group = "a"});
  pod("q2", {.group = "b"});
  synced();
  EXPECT_EQ(tried(), (names{"b", "single", "a"}));
}

TEST_F(Order, q12_news_of_a_pod_is_no_second_arrival) {
  pod("b", {});
  pod("a", {});
  pod("b", {.version = "2"});
  mirror_begins();
  pod("a", {}); // a list goes by name
  pod("b", {.version = "2"});
  synced();
  EXPECT_EQ(tried(), (names{"b", "a"}));
}

TEST_F(Order, q12_a_group_that_has_lost_all_its_pods_comes_with_the_next_one) {
  group("g", {});
  pod("early", {.group = "g"});
  pod("single", {});
  pod_gone("early");
  pod("late", {.group = "g"});
  synced();
  EXPECT_EQ(tried(), (names{"single", "g"}));
}

TEST_F(Order, q12_a_group_that_waits_for_its_object_keeps_its_place) {
  pod("m", {.group = "g"});
  pod("single", {});
  group("g", {});
  synced();
  EXPECT_EQ(tried(), (names{"g", "single"}));
}

TEST_F(Order, q12_the_topology_hears_the_order_of_those_that_are_tried_together_before_they_ask) {
  pod("low", {.created = 1});
  pod("high", {.priority = 9, .created = 2});
  sent.clear();
  synced();
  ASSERT_EQ(sent.size(), 3u);
  const auto* order = std::get_if<protocol::plan_order>(&sent.front().what);
  ASSERT_NE(order, nullptr);
  EXPECT_EQ(sent.front().to, protocol::to(protocol::role_kind::topology));
  EXPECT_EQ(order->gangs, (std::vector<base::gang_uid>{{"uid-high"}, {"uid-low"}}));
  sent.clear();
  pod("single", {});
  EXPECT_EQ(take<protocol::plan_order>().size(), 0u) << "it goes before nobody";
}

TEST_F(Order, q13_departure_a_refused_gang_keeps_its_age) {
  pod("old", {.created = 10});
  pod("young", {.created = 20});
  synced();
  EXPECT_EQ(tried(), (names{"old", "young"}));
  refuse("old", 1);
  refuse("young", 1);
  grew(2);
  pass(1s);
  EXPECT_EQ(tried(), (names{"old", "young"}));
}

TEST_F(Order, q11_equal_members_are_neighbours_by_their_oldest_and_ranks_count_as_numbers) {
  synced();
  group("g", {.min = 4});
  pod("w-10", {.group = "g"});
  pod("w-2", {.group = "g"});
  pod("head", {.group = "g", .created = -1, .cpu = 4000});
  pod("tail", {.group = "g", .created = 9, .cpu = 4000});
  EXPECT_EQ(pods_of(tried_gang()), (names{"head", "tail", "w-2", "w-10"}));
}

TEST_F(Order, ranks_compare_by_number_then_by_text) {
  EXPECT_TRUE(rank_less("w-2", "w-10"));
  EXPECT_TRUE(rank_less("w-9-x", "w-10-a"));
  EXPECT_TRUE(rank_less("a", "a0"));
  EXPECT_TRUE(rank_less("w-01", "w-1") != rank_less("w-1", "w-01"));
  EXPECT_FALSE(rank_less("w-1", "w-1"));
  EXPECT_TRUE(rank_less("99999999999999999998", "99999999999999999999"));
}

TEST_F(Order, no_more_attempts_are_under_way_than_the_window_holds) {
  for (int i = 0; i < 300; ++i)
    pod("p" + std::to_string(i), {.created = i});
  synced();
  EXPECT_EQ(tried().size(), base::limits::attempts_in_flight);
  EXPECT_EQ(row("p256", "position"), "1");
  EXPECT_EQ(row("p257", "reason"), "QueuedBehind");
  EXPECT_EQ(row("p257", "detail"), "ns/p256");
  refuse("p3");
  EXPECT_EQ(tried(), names{"p256"});
}

TEST_F(Order, a_gang_goes_to_the_partition_that_its_uid_names) {
  synced();
  pod("a", {});
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().to, protocol::to_partition(protocol::partition_of({"uid-a"})));
}

TEST_F(Order, a_raised_priority_overtakes) {
  for (int i = 0; i < 256; ++i)
    pod("p" + std::to_string(i), {.created = i});
  synced();
  group("g", {.min = 1, .created = 500});
  pod("m", {.group = "g"});
  pod("q", {.created = 400});
  EXPECT_EQ(row("g", "position"), "2");
  how.refuses_mixed_priorities = false;
  group("h", {.min = 1, .priority = 3, .created = 600});
  pod("n", {.group = "h", .priority = 3});
  EXPECT_EQ(row("h", "position"), "1");
}

} // namespace
} // namespace tutti::queue
