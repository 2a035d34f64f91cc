// An operator's override at the admin address of a running scheduler.
#include "tests/actors/stage.hpp"

#include "actors/admin_api.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;

struct SchedulerCancel : ::testing::TestWithParam<bool> {
  stage on{{.fast_path = GetParam()}};

  void SetUp() override {
    on.node("a1", 8, "a");
    on.node("b1", 8, "b");
    ASSERT_TRUE(on.start());
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  }
  http_reply post(const std::string& target) {
    return answer_admin(on.it(), {"test", {}}, "POST", target);
  }
  http_reply cancel(const std::string& more = {}) {
    return post("/api/gangs/default/g/cancel?reason=on%20fire" + more);
  }
  /// Gang "g" has an attempt under way that waits for a placement.
  void is_planning() {
    const auto heard = on.tap(protocol::to(role_kind::topology), [](const auto& m) {
      return !std::holds_alternative<protocol::plan_request>(m);
    });
    on.gang("g", 2, 4);
    ASSERT_TRUE(eventually([&] { return heard->template count<protocol::plan_request>() > 0; }));
  }
  void ends_bound() {
    on.untap(protocol::to(role_kind::topology));
    EXPECT_TRUE(eventually([this] { return on.is_bound("g", 2); })) << on.all_words("g");
    EXPECT_EQ(on.failures(), 0u) << on.failure().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, SchedulerCancel, ::testing::Values(true, false),
                         [](const auto& x) { return x.param ? "fast_path" : "long_path"; });

TEST_P(SchedulerCancel, gives_an_undecided_attempt_up_and_the_gang_is_tried_again) {
  is_planning();
  const auto said = cancel();
  EXPECT_EQ(said.status, 200) << said.body;
  EXPECT_NE(said.body.find("the undecided attempt is given up"), std::string::npos) << said.body;
  EXPECT_EQ(on.noted("gang.cancelled"), 1u);
  ends_bound();
}

TEST_P(SchedulerCancel, closes_the_slot_of_a_gang_that_does_not_answer) {
  is_planning();
  const auto gang = protocol::to_gang({on.uid("g")});
  on.tap(gang, [](const auto&) { return false; });
  const auto said = cancel();
  EXPECT_EQ(said.status, 200) << said.body;
  EXPECT_NE(said.body.find("the decision slot is closed"), std::string::npos) << said.body;
  EXPECT_EQ(on.noted("partition.slot_closed"), 1u);
  ends_bound();
  EXPECT_EQ(on.noted("gang.decided"), 1u);
}

TEST_P(SchedulerCancel, takes_no_binding_back_that_is_on_its_way) {
  on.keep_bindings();
  on.gang("g", 2, 4);
  ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 2; }));
  const auto said = cancel();
  EXPECT_EQ(said.status, 409) << said.body;
  EXPECT_NE(said.body.find("being bound"), std::string::npos) << said.body;
  EXPECT_EQ(cancel("&member=g-0").status, 409);
  on.let_bindings_go();
  EXPECT_TRUE(eventually([this] { return on.is_bound("g", 2); }));
  EXPECT_EQ(on.failures(), 0u) << on.failure().message();
}

TEST_P(SchedulerCancel, refuses_nonsense_in_words) {
  on.gang("g", 2, 4);
  ASSERT_TRUE(eventually([this] { return on.is_bound("g", 2); }));
  ASSERT_TRUE(eventually([this] { return on.word("g", "phase") == "Bound"; }));
  const auto said = cancel();
  EXPECT_EQ(said.status, 409);
  EXPECT_NE(said.body.find("nothing of it is under way"), std::string::npos) << said.body;
  EXPECT_EQ(post("/api/gangs/default/nobody/cancel?reason=x").status, 404);
  EXPECT_EQ(post("/api/gangs/default/g/cancel").status, 400);
  EXPECT_EQ(post("/api/gangs/default/g/cancel?reason=").status, 400);
  EXPECT_EQ(post("/api/gangs/default/g").status, 405);
}

} // namespace
} // namespace tutti::actors::testing
