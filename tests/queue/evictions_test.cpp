// The policy that a degraded gang goes: never before people can see it, never beside a repair.
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Evictions : QueueWorld {
  void SetUp() override {
    how.evicts_degraded = true;
    begin();
  }
  /// A gang of three that has started and lost its third member a moment ago.
  void lost_one() {
    synced();
    group("g", {.min = 3, .started = true});
    pod("a", {.group = "g", .node = "n1"});
    pod("b", {.group = "g", .node = "n2"});
    pod("c", {.group = "g", .node = "n3"});
    pod_gone("c");
  }
  /// The condition is written, and the watch shows it.
  void is_shown_degraded(bool is_degraded = true) {
    auto facts = facts_of("g", {.min = 3, .started = true});
    facts.is_degraded = is_degraded;
    tell(protocol::group_seen{facts});
  }
  /// Names of the pods that are to be evicted, as the partition was told last.
  names evicted() {
    names out;
    for (const auto& asked : take<protocol::evict_degraded>()) {
      out.clear();
      for (const auto& m : asked.members)
        out.push_back(m.pod_name.name);
    }
    return out;
  }
};

TEST_F(Evictions, of_a_degraded_gang_begin_once_the_object_shows_it) {
  lost_one();
  pass(60s);
  EXPECT_EQ(row("g", "phase"), "Degraded");
  EXPECT_EQ(evicted(), names{}) << "nobody can see it yet";
  sent.clear();
  is_shown_degraded();
  const auto asked = take<protocol::evict_degraded>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].gang, base::gang_uid{"uid-g"});
  EXPECT_EQ(asked[0].why, "gang ns/g is degraded: 2/3 members run, and it could not be repaired");
  ASSERT_EQ(asked[0].members.size(), 2u);
  EXPECT_EQ(asked[0].members[0].pod, base::pod_uid{"uid-a"});
  const auto events = take<protocol::emit_event>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].reason, "GangDegraded");
  EXPECT_EQ(events[0].action, "Evicting");
}

TEST_F(Evictions, wait_without_a_timer_while_the_facts_are_told_anew) {
  lost_one();
  pass(60s);
  is_shown_degraded();
  EXPECT_EQ(evicted(), (names{"a", "b"}));
  mirror_begins();
  ASSERT_FALSE(spins_after(1min));
  EXPECT_EQ(evicted(), names{});
}

TEST_F(Evictions, are_nobodys_wish_unless_the_operator_says_so) {
  how.evicts_degraded = false;
  begin();
  lost_one();
  pass(60s);
  is_shown_degraded();
  pass(10min);
  EXPECT_EQ(evicted(), names{});
}

TEST_F(Evictions, do_not_happen_beside_a_repair) {
  lost_one();
  pod("d", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  pass(60s);
  is_shown_degraded();
  EXPECT_EQ(evicted(), names{}) << "an attempt counts on them";
  refuse("g");
  EXPECT_EQ(evicted(), (names{"a", "b"}));
}

TEST_F(Evictions, hold_the_gang_back_until_nobody_of_it_runs) {
  lost_one();
  pass(60s);
  is_shown_degraded();
  pod("d", {.group = "g"});
  EXPECT_EQ(tried(), names{}) << "what it would count on is about to go";
  EXPECT_EQ(row("g", "detail").find("being evicted") != std::string::npos, true);
  pod("a", {.group = "g", .node = "n1", .deleting = true});
  EXPECT_EQ(evicted(), (names{"a", "b"}));
  pod_gone("a");
  pod_gone("b");
  pod("e", {.group = "g"});
  pod("f", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  pass(10min);
  EXPECT_EQ(evicted(), names{});
}

TEST_F(Evictions, are_said_again_until_the_watch_shows_them) {
  lost_one();
  pass(60s);
  is_shown_degraded();
  EXPECT_EQ(evicted(), (names{"a", "b"}));
  pod_gone("a");
  EXPECT_EQ(evicted(), names{});
  pass(silence_longest);
  EXPECT_EQ(evicted(), names{"b"});
  pod_gone("b");
  pass(10min);
  EXPECT_EQ(evicted(), names{});
}

TEST_F(Evictions, leave_alone_who_was_healed_in_between) {
  lost_one();
  pass(60s);
  pod("d", {.group = "g", .node = "n4"});
  is_shown_degraded(); // written before, heard after
  EXPECT_EQ(evicted(), names{});
}

TEST_F(Evictions, of_an_earlier_life_go_on_after_the_list_is_complete) {
  auto facts = facts_of("g", {.min = 3, .started = true});
  facts.is_degraded = true;
  tell(protocol::group_seen{facts});
  pod("a", {.group = "g", .node = "n1"});
  EXPECT_EQ(evicted(), names{});
  synced();
  EXPECT_EQ(evicted(), names{"a"});
}

TEST_F(Evictions, stop_with_the_group) {
  lost_one();
  pass(60s);
  is_shown_degraded();
  EXPECT_EQ(evicted(), (names{"a", "b"}));
  group_gone("g");
  pass(10min);
  EXPECT_EQ(evicted(), names{});
}

} // namespace
} // namespace tutti::queue
