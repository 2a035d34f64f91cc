// A gang that may not be tried says why, once it has been so for a while.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Gated : QueueWorld {
  /// Conditions asked for since the last call, as "name reason: message".
  names said() {
    names out;
    for (const auto& c : take<protocol::set_condition>())
      out.push_back(c.name.name + " " + c.reason + ": " + c.message);
    return out;
  }
  /// Events asked for since the last call, as "object: text".
  names events() {
    names out;
    for (const auto& e : take<protocol::emit_event>())
      out.push_back(e.about.name + ": " + e.text);
    return out;
  }
};

TEST_F(Gated, below_its_minimum_is_told_ten_seconds_after_the_last_change) {
  synced();
  group("g", {.min = 3});
  pod("a", {.group = "g"});
  pass(9s);
  pod("b", {.group = "g"});
  pass(9s);
  EXPECT_EQ(said(), names{}) << "somebody came meanwhile";
  pass(1s);
  EXPECT_EQ(said(), (names{"g Unschedulable: WaitingForMembers: 2/3 members",
                           "a Unschedulable: WaitingForMembers: 2/3 members",
                           "b Unschedulable: WaitingForMembers: 2/3 members"}));
  EXPECT_EQ(events(), names{"g: WaitingForMembers: 2/3 members"});
  pass(1h);
  EXPECT_EQ(said(), names{}) << "once";
  EXPECT_EQ(events(), names{});
}

TEST_F(Gated, is_told_again_when_the_number_has_changed_and_not_when_it_is_complete) {
  synced();
  group("g", {.min = 3});
  pod("a", {.group = "g"});
  pass(10s);
  said();
  pod("b", {.group = "g"});
  pass(10s);
  EXPECT_EQ(said().front(), "g Unschedulable: WaitingForMembers: 2/3 members");
  pod("c", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  pass(10s);
  EXPECT_EQ(said(), names{});
}

TEST_F(Gated, without_its_group_each_pod_speaks_for_itself) {
  synced();
  pod("a", {.group = "g"});
  pod("b", {.group = "g"});
  pass(10s);
  const std::string why = "WaitingForMembers: PodGroup ns/g does not exist";
  EXPECT_EQ(said(), (names{"a Unschedulable: " + why, "b Unschedulable: " + why}));
  EXPECT_EQ(events(), (names{"a: " + why, "b: " + why}));
}

TEST_F(Gated, by_gates_is_told_of_the_group_and_of_members_that_have_none) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pod("b", {.group = "g", .gated = true});
  pod("alone", {.gated = true});
  pass(10s);
  EXPECT_EQ(said(), (names{"g Unschedulable: Gated: 1 of 2 members have scheduling gates",
                           "a Unschedulable: Gated: 1 of 2 members have scheduling gates"}));
}

TEST_F(Gated, once_it_has_started_is_told_of_the_members_that_wait_and_not_of_the_group) {
  synced();
  group("g", {.min = 2, .started = true});
  pod("a", {.group = "g"});
  pass(10s);
  EXPECT_EQ(said(), names{"a Unschedulable: WaitingForMembers: 1/2 members"});
  EXPECT_EQ(events(), names{"a: WaitingForMembers: 1/2 members"});
  pass(5s);
  EXPECT_EQ(said(), names{}) << "once";
}

TEST_F(Gated, is_told_again_to_a_writer_that_began_anew) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g"});
  pass(10s);
  said();
  tell(protocol::view_wanted{}, protocol::role_kind::status);
  pass(0s);
  EXPECT_EQ(said().front(), "g Unschedulable: WaitingForMembers: 1/2 members");
  pass(1h);
  EXPECT_EQ(said(), names{});
}

} // namespace
} // namespace tutti::queue
