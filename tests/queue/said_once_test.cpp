// Words for people that a crash has lost on their way are said again.
#include "protocol/sharding.hpp"
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct SaidOnce : QueueWorld {
  using words = std::vector<std::string>;
  /// Conditions asked for since the last call, as "name type status reason".
  words said() {
    words out;
    for (const auto& c : take<protocol::set_condition>())
      out.push_back(c.name.name + " " + c.type + (c.status ? " True " : " False ") + c.reason);
    return out;
  }
  void two_bound() {
    pod("a", {.group = "g", .node = "n1"});
    pod("b", {.group = "g", .node = "n2"});
  }
  void status_begins() { tell(protocol::view_wanted{}, protocol::role_kind::status); }
  const words started{"g PodGroupInitiallyScheduled True Scheduled"};
};

// ---------------------------------------------------------------- a group has started

TEST_F(SaidOnce, that_a_group_has_started_is_said_after_a_crash_before_it_was_written) {
  group("g", {.min = 2});
  two_bound(); // by the life before
  synced();
  EXPECT_EQ(said(), started);
  pod("b", {.group = "g", .node = "n2", .version = "9"});
  EXPECT_EQ(said(), words{}) << "once, while the object says nothing else";
  group("g", {.min = 2});
  EXPECT_EQ(said(), started) << "the object has changed and still does not say so";
  group("g", {.min = 2, .started = true});
  EXPECT_EQ(said(), words{});
}

TEST_F(SaidOnce, that_a_group_has_started_is_said_though_all_of_it_has_finished_meanwhile) {
  group("g", {.min = 2});
  pod("a", {.group = "g", .node = "n1", .terminal = true});
  pod("b", {.group = "g", .node = "n2", .terminal = true});
  synced();
  EXPECT_EQ(said(), started);
}

TEST_F(SaidOnce, that_a_group_has_started_is_not_said_of_one_that_has_not) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g", .node = "n1"});
  pod("b", {.group = "g"});
  EXPECT_EQ(said(), words{}) << "one of two";
  group("alien", {.min = 1});
  pod("x", {.group = "alien", .node = "n1", .scheduler = "other"});
  EXPECT_EQ(said(), words{}) << "not ours to say";
  group("never", {.min = 1});
  pod("f", {.group = "never", .terminal = true});
  EXPECT_EQ(said(), words{}) << "it failed and was never bound";
}

TEST_F(SaidOnce, that_a_group_has_started_goes_by_the_name_of_the_dialect_or_nowhere) {
  how.group_condition = "PodGroupScheduled";
  begin();
  group("g", {.min = 2});
  two_bound();
  EXPECT_EQ(said(), (words{"g PodGroupScheduled True Scheduled"}));
  how.group_condition.clear();
  begin();
  group("g", {.min = 2});
  two_bound();
  EXPECT_EQ(said(), words{});
}

// ---------------------------------------------------------------- why a gang waits

TEST_F(SaidOnce, why_a_gang_waits_is_said_again_by_the_next_life) {
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g"});
  refuse("g");
  const words both{"g PodGroupInitiallyScheduled False Unschedulable",
                   "a PodScheduled False Unschedulable"};
  EXPECT_EQ(said(), both);
  const auto memory = queue->snapshot(); // and the process dies before anything is written
  begin(memory);
  group("g", {.min = 1});
  pod("a", {.group = "g"});
  synced();
  pass(10s);
  refuse("g");
  EXPECT_EQ(said(), both);
}

// ---------------------------------------------------------------- the writer dies alone

TEST_F(SaidOnce, a_writer_that_began_anew_hears_everything_again) {
  synced();
  group("g", {.min = 2});
  two_bound();
  group("big", {.min = 1});
  pod("p", {.group = "big"});
  refuse("big");
  group("bad", {.min = 1, .refused = "unknown policy"});
  pod("q", {.group = "bad"});
  auto first = said();
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first.size(), 5u);
  status_begins();
  auto again = said();
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, first);
}

TEST_F(SaidOnce, a_writer_that_began_anew_hears_who_is_degraded_and_who_is_not_any_more) {
  synced();
  group("g", {.min = 2, .started = true});
  two_bound();
  pod_gone("b");
  pass(60s);
  EXPECT_EQ(said(), (words{"g tutti.dev/Degraded True BelowMinimum"}));
  status_begins();
  EXPECT_EQ(said(), (words{"g tutti.dev/Degraded True BelowMinimum"}));
  auto facts = facts_of("g", {.min = 2, .started = true});
  facts.is_degraded = true;
  tell(protocol::group_seen{facts}); // written now
  status_begins();
  EXPECT_EQ(said(), words{});
  pod("b", {.group = "g", .node = "n2"});
  EXPECT_EQ(said(), (words{"g tutti.dev/Degraded False MinimumBound"}));
  status_begins();
  EXPECT_EQ(said(), (words{"g tutti.dev/Degraded False MinimumBound"}));
}

TEST_F(SaidOnce, healing_before_the_condition_was_written_takes_it_back_all_the_same) {
  synced();
  group("g", {.min = 2, .started = true});
  two_bound();
  pod_gone("b");
  pass(60s);
  said();
  pod("b", {.group = "g", .node = "n2"});
  EXPECT_EQ(said(), (words{"g tutti.dev/Degraded False MinimumBound"}))
      << "the other word is on its way";
}

} // namespace
} // namespace tutti::queue
