// Gangs that are gone: who hears of it, and what is left behind.
#include "protocol/sharding.hpp"
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Departure : QueueWorld {
  /// Uids that were told as deleted since the last call; each to its own partition.
  names deleted() {
    names out;
    for (const auto& s : sent)
      if (const auto* m = std::get_if<protocol::gang_deleted>(&s.what)) {
        EXPECT_EQ(s.to, protocol::to_partition(protocol::partition_of(m->gang)));
        out.push_back(m->gang.value);
      }
    take<protocol::gang_deleted>();
    return out;
  }
};

TEST_F(Departure, of_a_group_is_told_to_its_partition_though_pods_are_left) {
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g", .node = "n1"});
  group_gone("g");
  EXPECT_EQ(deleted(), names{"uid-g"});
  pod_gone("a");
  EXPECT_EQ(deleted(), names{}) << "a member is no gang";
}

TEST_F(Departure, of_a_lone_pod_is_told_to_its_partition) {
  synced();
  pod("a", {.node = "n1"});
  pod_gone("a");
  EXPECT_EQ(deleted(), names{"uid-a"});
}

TEST_F(Departure, of_a_group_whose_name_was_taken_again_is_told_of_the_old_uid_only) {
  synced();
  group("g", {.min = 1, .uid = "first"});
  group("g", {.min = 1, .uid = "second"});
  EXPECT_EQ(deleted(), names{"first"});
}

TEST_F(Departure, of_what_was_deleted_while_nobody_looked_is_told_after_the_first_list) {
  group("here", {.min = 1});
  tell(protocol::gangs_kept{{{"uid-here"}, {"uid-gone"}, {"uid-pod"}}},
       protocol::role_kind::partition);
  EXPECT_EQ(deleted(), names{}) << "not everything has been seen";
  pod("pod", {.node = "n1"});
  synced();
  EXPECT_EQ(deleted(), names{"uid-gone"});
  tell(protocol::gangs_kept{{{"uid-here"}, {"uid-late"}}}, protocol::role_kind::partition);
  EXPECT_EQ(deleted(), names{"uid-late"}) << "a partition that began anew";
}

} // namespace
} // namespace tutti::queue
