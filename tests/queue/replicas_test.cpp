// A queue beside others: gangs of partitions that are here are tried, and no others.
#include "protocol/sharding.hpp"
#include "tests/queue/queue_world.hpp"

namespace tutti::queue {
namespace {

struct Replicas : QueueWorld {
  Replicas() { how.has_others = true; }

  static base::partition_id partition(const std::string& gang) {
    return protocol::partition_of({"uid-" + gang});
  }
  void comes(const std::string& gang, std::uint64_t epoch = 1) {
    tell(protocol::new_epoch{partition(gang), {epoch}, 0}, protocol::role_kind::partition);
  }
  void goes(const std::string& gang) {
    tell(protocol::new_epoch{partition(gang), {}, 0}, protocol::role_kind::partition);
  }
  void two_gangs() {
    ASSERT_NE(partition("a").value, partition("b").value);
    for (const auto* g : {"a", "b"}) {
      group(g, {.min = 1});
      pod(std::string{g} + "-0", {.group = g});
    }
  }
};

TEST_F(Replicas, only_gangs_of_partitions_that_are_here_are_tried) {
  comes("a");
  two_gangs();
  synced();
  EXPECT_EQ(tried(), names{"a"});
  EXPECT_EQ(row("b", "phase"), "Gated");
}

TEST_F(Replicas, gangs_are_tried_when_their_partition_comes) {
  two_gangs();
  synced();
  EXPECT_EQ(tried(), names{});
  comes("b");
  EXPECT_EQ(tried(), names{"b"});
}

TEST_F(Replicas, an_attempt_ends_without_a_word_when_its_partition_goes) {
  comes("a");
  two_gangs();
  synced();
  ASSERT_EQ(tried(), names{"a"});
  goes("a");
  pass(60s);
  EXPECT_EQ(tried(), names{}) << "and is not asked for again";
  tell(protocol::gang_progress{.attempt = new_attempt("a"), .name = {"ns", "a"}},
       protocol::role_kind::gang);
  EXPECT_EQ(row("a", "phase"), "Gated") << "whatever it still said";
  comes("a", 2);
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Replicas, of_a_gang_that_is_elsewhere_nothing_is_said_to_people) {
  group("a", {.min = 1, .refused = "has a field that nobody knows"});
  pod("a-0", {.group = "a"});
  synced();
  EXPECT_TRUE(take<protocol::set_condition>().empty());
  comes("a");
  EXPECT_FALSE(take<protocol::set_condition>().empty());
}

TEST_F(Replicas, a_deleted_gang_is_told_to_a_partition_that_is_here) {
  comes("a");
  two_gangs();
  synced();
  sent.clear();
  for (const auto* g : {"a", "b"}) {
    pod_gone(std::string{g} + "-0");
    group_gone(g);
  }
  const auto told = take<protocol::gang_deleted>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].gang.value, "uid-a");
}

} // namespace
} // namespace tutti::queue
