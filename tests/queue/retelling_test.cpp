// The mirror or the queue dies and is made anew: what vanished meanwhile vanishes here too.
#include "protocol/sharding.hpp"
#include "queue_world.hpp"

namespace tutti::queue {
namespace {

struct Retelling : QueueWorld {
  names deleted() {
    names out;
    for (const auto& x : take<protocol::gang_deleted>())
      out.push_back(x.gang.value);
    return out;
  }
  names shown() {
    names out;
    const auto rows = read("gangs");
    for (const auto& r : rows.get_array())
      out.emplace_back(r.at("name").as_string());
    return out;
  }
};

TEST_F(Retelling, pods_and_groups_that_vanished_while_the_mirror_was_dead_are_gone) {
  synced();
  group("stays", {.min = 1});
  pod("s", {.group = "stays"});
  group("goes", {.min = 2});
  pod("a", {.group = "goes"});
  pod("lone", {.gated = true});
  tried();
  mirror_begins();
  group("stays", {.min = 1});
  pod("s", {.group = "stays"});
  EXPECT_EQ(deleted(), names{}) << "it may still come";
  synced();
  EXPECT_EQ(shown(), names{"stays"});
  EXPECT_EQ(deleted(), (names{"uid-goes", "uid-lone"}));
}

TEST_F(Retelling, a_member_that_vanished_counts_no_more) {
  synced();
  group("g", {.min = 2});
  pod("a", {.group = "g", .gated = true});
  pod("b", {.group = "g"});
  EXPECT_EQ(row("g", "reason"), "Gated");
  mirror_begins();
  group("g", {.min = 2});
  pod("b", {.group = "g"});
  synced();
  EXPECT_EQ(row("g", "reason"), "WaitingForMembers");
}

TEST_F(Retelling, nobody_is_tried_before_the_end_of_it) {
  synced();
  mirror_begins();
  pod("a", {});
  EXPECT_EQ(tried(), names{});
  EXPECT_FALSE(quiet());
  synced();
  EXPECT_EQ(tried(), names{"a"});
}

TEST_F(Retelling, an_attempt_under_way_outlives_a_group_that_vanished) {
  synced();
  group("g", {.min = 1});
  pod("a", {.group = "g"});
  EXPECT_EQ(tried(), names{"g"});
  mirror_begins();
  synced();
  EXPECT_EQ(row("g", "pool"), "attempting") << "until its end is told";
  over(new_attempt("g"), attempt_outcome::stopped);
  EXPECT_EQ(row("g", "pool"), "");
  EXPECT_TRUE(quiet());
}

TEST_F(Retelling, a_mirror_that_dies_again_in_the_middle_begins_again) {
  synced();
  pod("a", {.gated = true});
  pod("b", {.gated = true});
  mirror_begins();
  pod("a", {.gated = true});
  mirror_begins();
  pod("b", {.gated = true});
  synced();
  EXPECT_EQ(shown(), names{"b"});
}

TEST_F(Retelling, an_end_without_its_beginning_means_nothing) {
  queue = std::make_unique<queue_role>(how); // made anew in the middle of a list
  feed(protocol::started{.epoch = {1}, .incarnation = {2}, .seed = 42, .open = {}});
  tell(protocol::gangs_kept{{{"uid-told-before"}}}, protocol::role_kind::partition);
  pod("late", {});
  synced();
  EXPECT_EQ(tried(), names{}) << "half of the facts were told to an earlier life";
  EXPECT_EQ(deleted(), names{});
  mirror_begins();
  pod("told-before", {});
  pod("late", {});
  synced();
  EXPECT_EQ(tried(), (names{"late", "told-before"}));
  EXPECT_EQ(deleted(), names{});
}

TEST_F(Retelling, a_queue_that_begins_asks_every_partition_what_it_keeps) {
  begin();
  std::size_t asked = 0;
  for (const auto& s : sent)
    asked += std::holds_alternative<protocol::view_wanted>(s.what)
                     && s.to.kind == protocol::role_kind::partition
                 ? 1
                 : 0;
  EXPECT_EQ(asked, base::limits::partitions);
}

// ---------------------------------------------------------------- out of reach

TEST_F(Retelling, an_api_server_out_of_reach_is_the_reason_with_its_age) {
  synced();
  api_is_fresh(true);
  group("g", {.min = 1});
  pod("a", {.group = "g"});
  group("few", {.min = 2});
  pod("f", {.group = "few"});
  group("big", {.min = 1});
  pod("b", {.group = "big"});
  refuse("big");
  tell(protocol::gang_progress{.attempt = new_attempt("g"),
                               .name = {"ns", "g"},
                               .at = protocol::phase::binding,
                               .reason = base::reason_code::binding},
       protocol::role_kind::gang);
  api_is_fresh(false);
  pass(2s);
  EXPECT_EQ(row("g", "reason"), "Binding") << "a watch has ended: that happens";
  pass(40s);
  EXPECT_EQ(row("g", "reason"), "ApiUnavailable");
  EXPECT_EQ(row("g", "detail"), "no complete and fresh view of the API server for 42 s; Binding");
  EXPECT_EQ(row("g", "reason_for_ms"), "42000");
  EXPECT_EQ(row("few", "reason"), "ApiUnavailable");
  EXPECT_EQ(row("few", "detail"),
            "no complete and fresh view of the API server for 42 s; WaitingForMembers: 1/2 "
            "members");
  EXPECT_EQ(row("big", "reason"), "InsufficientResources") << "it has numbers to show";
  EXPECT_EQ(read("status").at("reasons").at("ApiUnavailable").to_number<int>(), 2);
  api_is_fresh(true);
  EXPECT_EQ(row("g", "reason"), "Binding");
  EXPECT_EQ(row("few", "reason"), "WaitingForMembers");
}

TEST_F(Retelling, an_api_server_that_was_never_reached_is_the_reason_of_what_is_remembered) {
  synced();
  pod("a", {});
  conflict("a");
  const auto memory = queue->snapshot();
  begin(memory);
  pass(30s);
  EXPECT_EQ(row("a", "reason"), "ApiUnavailable");
}

} // namespace
} // namespace tutti::queue
