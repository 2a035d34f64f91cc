// A scheduler whose decisions are API objects: it starts gangs, and finds its decisions again
// whatever dies.
#include <gtest/gtest.h>

#include "bridge/decision_objects.hpp"
#include "tests/sim/world/small_world.hpp"

namespace tutti::sim::testing {
namespace {

using protocol::role_kind;

world::options with_objects(std::uint64_t seed = 1) {
  world::options how;
  how.seed = seed;
  how.scheduler.shards = 2;
  how.scheduler.fast_path = false;
  how.scheduler.log = actors::decision_log::objects;
  how.restarts_armed = false;
  return how;
}

struct ObjectsLog : ::testing::Test {
  small_world on{with_objects()};

  void SetUp() override {
    for (int n = 0; n < 4; ++n)
      on.node(fmt::format("n{}", n), 4, n < 2 ? "r0" : "r1");
  }
  std::vector<bridge::decision_object> decisions() {
    std::vector<bridge::decision_object> out;
    for (const auto& [key, x] :
         on.it.api().plane().objects().all(api_server::kind_id::gang_decisions))
      out.push_back(bridge::read_decision_object(json::parse(x->body).as_object()).value());
    return out;
  }
  bool all_are_done() {
    const auto all = decisions();
    return std::all_of(all.begin(), all.end(), [](const auto& d) { return d.is_done; });
  }
  bool runs_until(std::function<bool()> is_enough) {
    return on.it.run_until(on.it.time().now() + 60s, is_enough);
  }
};

TEST_F(ObjectsLog, gangs_are_decided_in_objects_and_in_no_store) {
  on.gang("a", 4, 2);
  on.gang("b", 2, 2);
  EXPECT_TRUE(runs_until([this] {
    return on.bound("a") == 4 && on.bound("b") == 2 && decisions().size() == 2 && all_are_done();
  }));
  for (const auto& d : decisions()) {
    EXPECT_EQ(d.ordinal, 1u);
    EXPECT_EQ(d.verdict, "Committed");
  }
  on.it.at(0).stop();
  EXPECT_TRUE(on.it.at(0).disk().of(persistence::family::decisions).empty());
}

TEST_F(ObjectsLog, C4_the_next_life_rolls_forward_what_the_last_has_decided) {
  on.it.at(0).arm("C4", 1, 0);
  on.gang("a", 4, 2);
  ASSERT_TRUE(runs_until([this] { return !on.it.at(0).is_up(); }));
  ASSERT_EQ(decisions().size(), 1u);
  EXPECT_FALSE(decisions().front().is_done);
  const auto attempt = decisions().front().attempt;
  on.it.start_again(on.it.at(0), 1s);
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4 && all_are_done(); }));
  EXPECT_EQ(decisions().front().attempt, attempt) << "it is not asked again";
}

TEST_F(ObjectsLog, a_decision_outlives_the_disk_of_the_process_that_has_made_it) {
  on.it.at(0).arm("C4", 1, 0);
  on.gang("a", 4, 2);
  ASSERT_TRUE(runs_until([this] { return !on.it.at(0).is_up(); }));
  on.it.at(0).lose_disk();
  on.it.start_again(on.it.at(0), 1s);
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4 && all_are_done(); }));
  EXPECT_EQ(decisions().front().ordinal, 1u);
}

TEST_F(ObjectsLog, C3_a_crash_after_the_write_and_before_its_answer_is_told) {
  on.it.at(0).arm("C3", 1, 0);
  on.gang("a", 4, 2);
  ASSERT_TRUE(runs_until([this] { return !on.it.at(0).is_up(); }));
  ASSERT_EQ(decisions().size(), 1u);
  on.it.start_again(on.it.at(0), 1s);
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4 && all_are_done(); }));
}

TEST_F(ObjectsLog, F6_a_log_that_dies_with_a_question_in_its_hands_is_asked_again) {
  bool is_killed = false;
  on.it.api().judges([&](const std::string&, const protocol::http_request& r) {
    api_verdict v;
    if (!is_killed && r.method == "POST" && r.target.ends_with("/gangdecisions")) {
      is_killed = on.it.at(0).kill(protocol::to(role_kind::decisions));
      v.becomes = api_verdict::what::applied_lost;
    }
    return v;
  });
  on.gang("a", 4, 2);
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4 && all_are_done(); }));
  EXPECT_TRUE(is_killed);
  EXPECT_EQ(decisions().front().ordinal, 1u);
}

TEST_F(ObjectsLog, F6_a_coordinator_that_dies_is_made_anew_from_the_objects) {
  bool is_killed = false;
  on.it.api().judges([&](const std::string&, const protocol::http_request& r) {
    if (!is_killed && r.target.ends_with("/binding"))
      for (const auto& [where, role] : on.it.at(0).roles())
        if (where.kind == role_kind::gang) {
          is_killed = on.it.at(0).kill(where);
          break;
        }
    return api_verdict{};
  });
  on.gang("a", 4, 2);
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4 && all_are_done(); }));
  EXPECT_TRUE(is_killed);
}

TEST_F(ObjectsLog, nobody_coordinates_before_the_log_was_read) {
  on.it.at(0).crash();
  bool is_served = false;
  on.it.api().judges([&](const std::string&, const protocol::http_request& r) {
    api_verdict v;
    if (!is_served && r.target.find("/gangdecisions?") != std::string::npos) {
      v.becomes = api_verdict::what::answer;
      v.status = 500;
    }
    return v;
  });
  ASSERT_TRUE(on.it.at(0).start());
  on.gang("a", 4, 2);
  on.it.run_for(10s);
  EXPECT_EQ(on.it.at(0).role(protocol::to_partition({0})), nullptr);
  EXPECT_EQ(on.bound("a"), 0u);
  is_served = true;
  EXPECT_TRUE(runs_until([this] { return on.bound("a") == 4; }));
}

TEST_F(ObjectsLog, a_deleted_gang_leaves_no_decision) {
  on.gang("a", 2, 2);
  ASSERT_TRUE(runs_until([this] { return on.bound("a") == 2 && all_are_done(); }));
  for (const auto* what : {"/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/a",
                           "/api/v1/namespaces/default/pods/a-0?gracePeriodSeconds=0",
                           "/api/v1/namespaces/default/pods/a-1?gracePeriodSeconds=0"}) {
    on.it.api().ask({.method = "DELETE", .target = what, .body = {}, .content_type = {}});
    on.it.api().turn();
  }
  EXPECT_TRUE(runs_until([this] { return decisions().empty(); }));
}

TEST(ObjectsLogOptions, the_fast_path_is_refused) {
  auto how = with_objects();
  how.scheduler.fast_path = true;
  world on{how};
  const auto begun = on.at(0).start();
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().what(), base::code::bad_input);
  EXPECT_NE(begun.error().message().find("fast path"), std::string::npos);
}

} // namespace
} // namespace tutti::sim::testing
