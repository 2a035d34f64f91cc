// What is created in one moment is tried in one order, and nobody waits for long.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Burst : QueueWorld {
  void SetUp() override {
    how.burst_pause = 3ms;
    begin();
  }
};

TEST_F(Burst, is_tried_in_the_queues_order_and_not_in_that_of_arrival) {
  synced();
  pod("low", {.priority = 1});
  pod("high", {.priority = 9});
  EXPECT_EQ(tried(), names{});
  pass(3ms);
  EXPECT_EQ(tried(), (names{"high", "low"}));
}

TEST_F(Burst, waits_for_a_group_that_another_watch_tells_later) {
  synced();
  pod("single", {});
  pod("a", {.group = "g", .priority = 9});
  pass(2ms);
  group("g", {.priority = 9});
  pass(2ms);
  EXPECT_EQ(tried(), names{}) << "more may come";
  pass(1ms);
  EXPECT_EQ(tried(), (names{"g", "single"}));
}

TEST_F(Burst, that_does_not_end_is_cut_after_a_while) {
  synced();
  std::size_t released = 0;
  for (int i = 0; i < 100; ++i) {
    pod("p" + std::to_string(i), {});
    pass(1ms);
    released += tried().size();
    EXPECT_GE(released + 21, static_cast<std::size_t>(i + 1)) << "after " << i << " ms";
  }
}

TEST_F(Burst, is_cut_also_when_every_word_brings_something_new) {
  synced();
  for (int i = 0; i < 30; ++i) {
    now += 1ms; // no timer gets its turn
    pod("p" + std::to_string(i), {});
  }
  EXPECT_GE(tried().size(), 20u);
}

TEST_F(Burst, does_not_hold_up_what_was_there_before_the_first_list_was_complete) {
  pod("a", {});
  group("g", {});
  synced();
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Burst, is_not_begun_by_news_of_what_is_known) {
  synced();
  pod("a", {});
  pass(3ms);
  EXPECT_EQ(tried(), names{"a"});
  pod("a", {.version = "2"});
  pod("a", {.node = "n1", .version = "3"});
  over(new_attempt("a"), attempt_outcome::bound);
  group("g", {.min = 2});
  pod("b", {.group = "g"});
  pass(3ms);
  pod("c", {.group = "g", .node = "n2"});
  EXPECT_EQ(tried(), names{"g"}) << "a bound pod is nothing to place";
}

TEST_F(Burst, begins_when_gates_are_lifted) {
  synced();
  pod("low", {.priority = 1, .gated = true});
  pod("high", {.priority = 9, .gated = true});
  pass(1s);
  pod("low", {.priority = 1});
  pod("high", {.priority = 9});
  EXPECT_EQ(tried(), names{});
  pass(3ms);
  EXPECT_EQ(tried(), (names{"high", "low"}));
}

TEST_F(Burst, ends_by_time_though_the_facts_are_told_anew_meanwhile) {
  synced();
  pod("a", {});
  mirror_begins();
  ASSERT_FALSE(spins_after(3ms));
  EXPECT_EQ(tried(), names{}) << "the facts are not complete";
  pod("a", {});
  synced();
  pass(3ms);
  EXPECT_EQ(tried(), names{"a"});
}

} // namespace
} // namespace tutti::queue
