// What people hear of a gang: few Events, each of something that matters to them.
#include "coordinator_fixture.hpp"

namespace tutti::protocol {
namespace {

struct coordinator_events : coordinator {
  using words = std::vector<std::string>;
  words heard() {
    words out_words;
    for (const auto& [whom, e] : sent<emit_event>())
      if (!e.is_pod)
        out_words.push_back(e.reason + (e.is_warning ? "!" : "") + ": " + e.text);
    return out_words;
  }
  void with(gang_role::options how) { role = std::make_unique<gang_role>(std::move(how)); }
  void is_bound_and_done() {
    is_binding();
    binds("p0");
    binds("p1");
    auto asked = take<amend>();
    ASSERT_FALSE(asked.empty());
    give(amended{asked.back().slot, durable});
  }
};

TEST_F(coordinator_events, a_gang_that_starts_says_that_it_is_bound) {
  is_bound_and_done();
  EXPECT_EQ(heard(), (words{"GangBound: 2 members are bound"}));
  EXPECT_EQ(sent<emit_event>().back().second.uid, "g-uid");
}

TEST_F(coordinator_events, a_lost_reservation_is_a_warning_with_its_reason) {
  is_planned();
  base::explanation why;
  why.primary = base::reason_code::reservation_conflict;
  why.detail = "a rival holds it";
  hear(vote{.attempt = attempt, .shard = {0}, .yes = false, .why_not = why});
  EXPECT_EQ(heard(), (words{"GangReservationAborted!: ReservationConflict: a rival holds it"}));
}

TEST_F(coordinator_events, of_each_step_are_written_on_demand) {
  with({.writes_step_events = true});
  is_bound_and_done();
  EXPECT_EQ(heard(), (words{"GangReserved: room for 2 members is held by 2 shards",
                            "GangCommitted: decided: 2 members will be bound",
                            "GangBound: 2 members are bound"}));
}

TEST_F(coordinator_events, members_that_join_a_running_gang_are_no_news_of_the_gang) {
  min_count = 1;
  pods = {"p0", "p1"};
  begins();
  hear(plan_answer{attempt, placement({"p0"}), {}});
  votes(1);
  last_look_sees(facts({"p0"}));
  store_decides();
  acks(1);
  nodes_give_leave();
  binds("p1");
  auto asked = take<amend>();
  ASSERT_FALSE(asked.empty());
  give(amended{asked.back().slot, durable});
  ASSERT_TRUE(ended());
  EXPECT_EQ(heard(), words{});
}

TEST_F(coordinator_events, are_not_written_where_groups_are_no_objects_nor_if_unwanted) {
  with({.started_condition = ""});
  is_bound_and_done();
  EXPECT_EQ(heard(), words{});
  EXPECT_TRUE(sent<set_condition>().empty());
  quiet();
  with({.writes_gang_events = false});
  is_bound_and_done();
  EXPECT_EQ(heard(), words{});
}

TEST_F(coordinator_events, a_raised_fence_goes_with_all_that_is_asked_of_the_binder_from_then_on) {
  is_binding();
  quiet();
  hear(new_epoch{{3}, {40}, 1});
  const auto again = sent<bind>();
  ASSERT_EQ(again.size(), 2u) << "what the binder dropped under the older fence goes out again";
  EXPECT_EQ(again.front().second.fence, base::epoch_no{40});
  EXPECT_EQ(again.front().second.attempt, attempt);
  quiet();
  hear(new_epoch{{3}, {39}, 1});
  hear(new_epoch{{4}, {50}, 1});
  EXPECT_TRUE(sent<bind>().empty()) << "an older word, and another partition's";
}

} // namespace
} // namespace tutti::protocol
