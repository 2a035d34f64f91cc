#include "bridge/evictor_role.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "protocol/sharding.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using protocol::answered;
using namespace std::chrono_literals;

struct pod_json {
  std::string uid = "v1";
  std::string version = "7";
  std::string touch;
  std::string fence;
  bool is_deleting = false;

  std::string text() const {
    return fmt::format(R"({{"metadata":{{"name":"p","namespace":"ns","uid":"{}",)"
                       R"("resourceVersion":"{}","annotations":{{"tutti.dev/touch":"{}",)"
                       R"("tutti.dev/fence":"{}"}}{}}},"spec":{{"nodeName":"n"}}}})",
                       uid, version, touch, fence,
                       is_deleting ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "");
  }
};

struct Evictor : testing::Test {
  evictor_role evictor{{.wall_at_zero = {1'769'860'800'000}}};
  effect_log log;
  base::time_point now{};

  void SetUp() override {
    hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 5, .open = {}});
  }
  void hear(const protocol::event& e) { log.take(evictor.on(e, now)); }
  static base::attempt_id attempt() { return {{"g"}, 1, {5}, 1}; }
  static protocol::victim victim() { return {{"v1"}, {"ns", "p"}, {"N"}, 0, 0, 30'000}; }
  void evict(base::epoch_no fence = {}) {
    hear(protocol::received{protocol::to_gang({"g"}),
                            protocol::evict{attempt(), {"ns", "big"}, victim(), fence}});
  }
  void evict_degraded() {
    hear(protocol::received{
        protocol::to_partition({3}),
        protocol::evict{
            {{"g"}, 4, {5}, 0}, {"ns", "big"}, victim(), {5}, "gang ns/big is degraded"}});
  }
  void stop(std::vector<protocol::victim> who = {}) {
    hear(protocol::received{protocol::to_gang({"g"}),
                            protocol::stop_evicting{attempt(), std::move(who), {}}});
  }
  std::uint64_t take_open() {
    const auto id = log.only().id;
    log.close(id);
    return id;
  }
  void answer(int status, std::string body = "{}") {
    hear(answered{take_open(), status, std::move(body)});
  }
  void show(int status, const pod_json& pod) { answer(status, pod.text()); }
  void lose_answer() { hear(protocol::answer_unknown{take_open(), "reset"}); }
  void wait() {
    now += 1min;
    for (const auto& [timer, after] : std::exchange(log.timers, {}))
      hear(protocol::timer_fired{timer});
  }
  std::string asked() {
    const auto& r = log.only().request;
    return r.method + " " + r.target;
  }
  boost::json::value body() { return boost::json::parse(log.only().request.body); }
  std::size_t gone() { return log.all<protocol::victim_gone>().size(); }
  std::size_t stopped() { return log.all<protocol::eviction_stopped>().size(); }
};

constexpr auto pod_path = "/api/v1/namespaces/ns/pods/p";

TEST_F(Evictor, says_why_then_deletes_exactly_what_it_marked_and_waits_until_it_is_gone) {
  evict();
  EXPECT_EQ(asked(), std::string{"PATCH "} + pod_path + "/status");
  EXPECT_EQ(body(), boost::json::parse(R"({"metadata":{"uid":"v1"},"status":{"conditions":[{
              "type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler",
              "message":"tutti: preempting to accommodate a higher priority podgroup",
              "lastTransitionTime":"2026-01-31T12:00:00Z"}]}})"));
  show(200, {.version = "8"});
  EXPECT_EQ(asked(), std::string{"DELETE "} + pod_path);
  EXPECT_EQ(body().at("preconditions"),
            boost::json::parse(R"({"uid":"v1","resourceVersion":"8"})"));
  show(200, {.version = "9", .is_deleting = true});
  EXPECT_EQ(gone(), 0u) << "accepted is not gone";
  wait();
  EXPECT_EQ(asked(), std::string{"GET "} + pod_path);
  show(200, {.version = "9", .is_deleting = true});
  wait();
  answer(404);
  EXPECT_EQ(gone(), 1u);
  EXPECT_EQ(log.all<protocol::victim_gone>().at(0).pod.value, "v1");
}

TEST_F(Evictor, tells_people_of_a_victim_once_its_removal_is_accepted) {
  const protocol::evict asked{.attempt = attempt(),
                              .gang = {"ns", "big"},
                              .who = victim(),
                              .event = "Preempted by pod g on node n",
                              .is_for_pod = true};
  hear(protocol::received{protocol::to_gang({"g"}), asked});
  EXPECT_EQ(body().at("status").at("conditions").at(0).at("message"),
            "tutti: preempting to accommodate a higher priority pod");
  show(200, {.version = "8"});
  EXPECT_EQ(log.all<protocol::emit_event>().size(), 0u);
  answer(503);
  show(200, {.version = "8", .is_deleting = true});
  wait();
  answer(404);
  const auto told = log.all<protocol::emit_event>();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].is_pod);
  EXPECT_EQ(told[0].about, (protocol::object_name{"ns", "p"}));
  EXPECT_EQ(told[0].uid, "v1");
  EXPECT_EQ(told[0].reason, "Preempted");
  EXPECT_EQ(told[0].action, "Preempting");
  EXPECT_FALSE(told[0].is_warning);
  EXPECT_EQ(told[0].text, "Preempted by pod g on node n");
}

TEST_F(Evictor, whoever_leaves_already_was_not_preempted) {
  hear(protocol::received{protocol::to_gang({"g"}),
                          protocol::evict{.attempt = attempt(),
                                          .gang = {"ns", "big"},
                                          .who = victim(),
                                          .event = "Preempted by podgroup g on node cluster"}});
  show(200, {.version = "8", .is_deleting = true});
  wait();
  answer(404);
  EXPECT_EQ(gone(), 1u);
  EXPECT_EQ(log.all<protocol::emit_event>().size(), 0u);
}

TEST_F(Evictor, a_member_of_a_degraded_gang_goes_the_same_way_for_another_reason) {
  evict_degraded();
  const auto said = body().at("status").at("conditions").at(0);
  EXPECT_EQ(said.at("reason"), "GangDegraded");
  EXPECT_EQ(said.at("message"), "tutti: gang ns/big is degraded");
  show(200, {.version = "8"});
  EXPECT_EQ(body().at("preconditions"),
            boost::json::parse(R"({"uid":"v1","resourceVersion":"8"})"));
}

TEST_F(Evictor, S9_a_member_of_a_degraded_gang_is_not_deleted_again_unless_that_is_said_again) {
  evict_degraded();
  show(200, {.version = "8"});
  answer(503);
  show(200, {.version = "8"});
  wait();
  EXPECT_TRUE(log.open.empty()) << "the gang may be whole by now";
  evict_degraded();
  EXPECT_EQ(log.only().request.method, "PATCH");
  answer(503); // the mark
  wait();
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Evictor, B3_a_lost_answer_of_a_delete_that_arrived_is_waited_for) {
  evict();
  show(200, {.version = "8"});
  lose_answer();
  EXPECT_EQ(log.order.back(), "GET");
  show(200, {.version = "9", .is_deleting = true});
  EXPECT_TRUE(log.open.empty());
  wait();
  answer(404);
  EXPECT_EQ(gone(), 1u);
}

TEST_F(Evictor, B3_a_lost_answer_of_a_delete_that_did_not_arrive_is_repeated) {
  evict();
  show(200, {.version = "8"});
  lose_answer();
  show(200, {.version = "8"});
  wait();
  EXPECT_EQ(log.only().request.method, "PATCH");
  show(200, {.version = "8"});
  EXPECT_EQ(log.only().request.method, "DELETE");
}

TEST_F(Evictor, passes_its_fault_point_when_the_answer_is_there_and_not_yet_heard) {
  evict();
  show(200, {.version = "8"});
  log.order.clear();
  answer(404);
  EXPECT_EQ(log.order, (std::vector<std::string>{"fault B3", "send victim_gone"}));
}

TEST_F(Evictor, a_victim_that_changed_is_marked_again_for_a_version_of_now) {
  evict();
  show(200, {.version = "8"});
  answer(409);
  EXPECT_EQ(log.only().request.method, "GET");
  show(200, {.version = "9"});
  wait();
  show(200, {.version = "10"});
  EXPECT_EQ(body().at("preconditions").at("resourceVersion"), "10");
}

TEST_F(Evictor, the_newcomer_under_the_same_name_is_nobodys_victim) {
  evict();
  show(200, {.version = "8"});
  answer(409);
  show(200, {.uid = "v2"});
  EXPECT_EQ(gone(), 1u);
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Evictor, a_victim_that_is_gone_or_replaced_before_the_mark_is_gone) {
  evict();
  answer(404);
  EXPECT_EQ(gone(), 1u);
  evict();
  answer(422, R"({"message":"metadata.uid: Invalid value: field is immutable"})");
  EXPECT_EQ(gone(), 2u);
}

TEST_F(Evictor, a_victim_that_was_touched_since_the_mark_is_let_live) {
  evict();
  show(200, {.version = "8", .touch = "a"});
  answer(409);
  show(200, {.version = "9", .touch = "b"});
  wait();
  EXPECT_TRUE(log.open.empty());
  EXPECT_EQ(gone(), 0u);
}

TEST_F(Evictor, a_higher_fence_on_the_victim_stops_an_older_owner) {
  const auto partition = protocol::partition_of({"g"});
  evict();
  show(200, {.version = "8", .fence = to_text(fence{partition, {6}})});
  EXPECT_TRUE(log.open.empty());
  EXPECT_EQ(gone(), 0u);
  evict({6});
  show(200, {.version = "8", .fence = to_text(fence{partition, {6}})});
  EXPECT_EQ(log.only().request.method, "DELETE") << "the owner that adopted the decision";
}

TEST_F(Evictor, a_victim_that_is_asked_for_twice_is_marked_once) {
  evict();
  evict();
  EXPECT_EQ(log.open.size(), 1u);
}

TEST_F(Evictor, stopping_touches_what_is_not_deleted_yet) {
  evict();
  show(200, {.version = "8"});
  const auto in_flight = take_open();
  stop();
  EXPECT_EQ(stopped(), 0u) << "the DELETE is on its way";
  hear(protocol::answer_unknown{in_flight, "reset"});
  EXPECT_EQ(asked(), std::string{"PATCH "} + pod_path);
  EXPECT_TRUE(body().at("metadata").at("annotations").as_object().contains("tutti.dev/touch"));
  show(200, {.version = "9"});
  EXPECT_EQ(stopped(), 1u);
}

/// An earlier life of ours, or an owner before us, may have sent a DELETE that is still on its way.
TEST_F(Evictor, S9_stopping_touches_a_victim_whose_mark_was_lost) {
  evict();
  lose_answer();
  EXPECT_TRUE(log.open.empty()) << "it waits before it marks again";
  stop();
  EXPECT_EQ(stopped(), 0u);
  wait();
  EXPECT_EQ(asked(), std::string{"PATCH "} + pod_path);
  show(200, {.version = "9"});
  EXPECT_EQ(stopped(), 1u);
}

TEST_F(Evictor, stopping_lets_go_what_is_deleted_already) {
  evict();
  show(200, {.version = "8"});
  show(200, {.version = "9", .is_deleting = true});
  stop();
  EXPECT_EQ(stopped(), 1u);
  wait();
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Evictor, stopping_what_is_not_known_is_done_at_once) {
  stop();
  EXPECT_EQ(stopped(), 1u);
}

TEST_F(Evictor, after_a_restart_all_victims_of_the_plan_are_touched) {
  stop({victim()});
  EXPECT_EQ(asked(), std::string{"PATCH "} + pod_path);
  lose_answer();
  wait();
  show(200, {.version = "9"});
  EXPECT_EQ(stopped(), 1u);
}

/// A copy of the question that was long on its way: the attempt is withdrawn by now.
TEST_F(Evictor, S9_a_late_question_of_a_stopped_attempt_evicts_nobody) {
  stop({victim()});
  const auto touch =
      std::string{body().at("metadata").at("annotations").at("tutti.dev/touch").as_string()};
  show(200, {.version = "9", .touch = touch});
  EXPECT_EQ(stopped(), 1u);
  evict();
  show(200, {.version = "10", .touch = touch});
  EXPECT_TRUE(log.open.empty()) << "no DELETE";
  EXPECT_EQ(gone(), 0u);
}

TEST_F(Evictor, overload_and_budgets_wait) {
  evict();
  show(200, {.version = "8"});
  answer(429);
  EXPECT_TRUE(log.open.empty());
  wait();
  EXPECT_EQ(log.only().request.method, "DELETE");
}

TEST_F(Evictor, refused_rights_are_a_matter_for_humans) {
  evict();
  answer(403);
  EXPECT_EQ(log.errors, 1);
  wait();
  EXPECT_EQ(log.only().request.method, "PATCH");
}

} // namespace
} // namespace tutti::bridge
