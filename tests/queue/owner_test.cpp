// A partition begins a new life: what the queue makes of the attempts that it had under way there.
#include "queue_world.hpp"

#include "protocol/sharding.hpp"

namespace tutti::queue {
namespace {

/// A lone pod "a" that is being tried, and the first word of its attempt.
struct Owner : QueueWorld {
  base::attempt_id first;

  void SetUp() override {
    QueueWorld::SetUp();
    synced();
    pod("a", {});
    EXPECT_EQ(tried(), names{"a"});
    first = new_attempt("a");
    progress(first);
  }
  void progress(const base::attempt_id& id) {
    tell(protocol::gang_progress{.attempt = id,
                                 .name = {"ns", "a"},
                                 .at = protocol::phase::preparing},
         protocol::role_kind::gang);
  }
  void begins(std::uint32_t partition, std::uint64_t epoch) {
    tell(protocol::new_epoch{{partition}, {epoch}, 1}, protocol::role_kind::partition);
  }
  std::uint32_t mine() const { return protocol::partition_of({"uid-a"}).value; }
};

TEST_F(Owner, F6_a_new_life_of_the_partition_is_asked_at_once_and_the_gang_stays_where_it_is) {
  begins(mine(), 2);
  EXPECT_EQ(tried(), names{"a"});
  EXPECT_EQ(row("a", "pool"), "attempting");
  auto second = first;
  second.epoch = {2};
  progress(second);
  over(second, attempt_outcome::bound, {}, {"a"});
  EXPECT_NE(row("a", "pool"), "attempting");
}

TEST_F(Owner, a_life_of_another_partition_or_one_that_is_known_changes_nothing) {
  begins(mine() + 1, 2);
  EXPECT_EQ(tried(), names{});
  begins(mine(), first.epoch.value);
  EXPECT_EQ(tried(), names{});
}

TEST_F(Owner, F6_a_decision_that_is_resumed_goes_on_under_its_old_name) {
  begins(mine(), 2);
  tried();
  progress(first);
  over(first, attempt_outcome::bound, {}, {"a"});
  EXPECT_NE(row("a", "pool"), "attempting");
}

TEST_F(Owner, F6_a_resumed_attempt_whose_end_died_with_its_partition_is_tried_anew) {
  begin(); // nothing is remembered of "a"; its decision is resumed
  synced();
  progress(first);
  pod("a", {});
  EXPECT_EQ(tried(), names{}) << "it is under way";
  begins(mine(), 2);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Owner, F6_a_gang_that_was_bound_whole_before_its_partition_died_is_not_tried_again) {
  begin();
  synced();
  progress(first);
  pod("a", {});
  pod("a", {.node = "n1"});
  begins(mine(), 2); // the end was durable, and the word of it is lost
  EXPECT_EQ(tried(), names{}) << "there is nobody to place";
  EXPECT_EQ(row("a", "pool"), "");
  EXPECT_EQ(row("a", "phase"), "Bound");
}

TEST_F(Owner, F6_a_gang_that_was_bound_in_part_is_tried_as_it_is_now) {
  group("g", {.min = 2});
  for (const char* member : {"g-0", "g-1", "g-2"})
    pod(member, {.group = "g"});
  const auto before = take<protocol::try_gang>();
  ASSERT_EQ(before.size(), 1u);
  for (const char* member : {"g-0", "g-1"})
    pod(member, {.group = "g", .node = "n1"});
  begins(protocol::partition_of(before[0].who->uid).value, 2); // done, and the word of it is lost
  const auto after = take<protocol::try_gang>();
  ASSERT_EQ(after.size(), 1u);
  const auto& members = after[0].who->members;
  EXPECT_EQ(std::count_if(members.begin(), members.end(),
                          [](const auto& m) { return m.node.value == "n1"; }),
            2)
      << "what is asked for by facts of before is refused, or planned without them";

  const base::attempt_id resumed{after[0].who->uid, 1, {1}, 1};
  tell(protocol::gang_progress{.attempt = resumed,
                               .name = {"ns", "g"},
                               .at = protocol::phase::preparing},
       protocol::role_kind::gang);
  over(resumed, attempt_outcome::bound, {}, {"g-0", "g-1"});
  EXPECT_EQ(std::count(noted.begin(), noted.end(), "queue.bound"), 1)
      << "the gang had not started when it was first asked for";
}

TEST_F(Owner, F6_a_gang_of_which_too_few_are_left_is_not_asked_for) {
  group("g", {.min = 2});
  for (const char* member : {"g-0", "g-1"})
    pod(member, {.group = "g"});
  const auto before = take<protocol::try_gang>();
  ASSERT_EQ(before.size(), 1u);
  pod_gone("g-1");
  begins(protocol::partition_of(before[0].who->uid).value, 2);
  EXPECT_TRUE(take<protocol::try_gang>().empty());
  EXPECT_EQ(row("g", "reason"), "WaitingForMembers");
}

TEST_F(Owner, F6_a_resumed_attempt_of_a_gang_that_is_gone_does_not_fill_the_window_for_ever) {
  begin();
  synced();
  progress(first);
  EXPECT_FALSE(quiet());
  begins(mine(), 2);
  EXPECT_TRUE(quiet());
}

} // namespace
} // namespace tutti::queue
