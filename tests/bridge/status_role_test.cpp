#include "bridge/status_role.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "bridge/limits.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using protocol::answered;
using protocol::set_condition;
using namespace std::chrono_literals;

/// What the server has of an object.
struct object_json {
  std::string uid = "u";
  std::string version = "7";
  std::string node;
  std::string condition; // JSON

  std::string text() const {
    return fmt::format(R"({{"metadata":{{"name":"x","namespace":"ns","uid":"{}",)"
                       R"("resourceVersion":"{}"}},"spec":{{"nodeName":"{}"}},)"
                       R"("status":{{"conditions":[{}]}}}})",
                       uid, version, node, condition);
  }
};

std::string condition_text(std::string_view type, bool status, std::string_view message) {
  return fmt::format(R"({{"type":"{}","status":"{}","reason":"{}","message":"{}",)"
                     R"("lastTransitionTime":"2025-01-01T00:00:00Z"}})",
                     type, status ? "True" : "False", status ? "Scheduled" : "Unschedulable",
                     message);
}

struct Status : testing::Test {
  status_role status{{.wall_at_zero = {1'769'860'800'000}}};
  effect_log log;
  base::time_point now{};

  void SetUp() override {
    hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 5, .open = {}});
  }
  void hear(const protocol::event& e) { log.take(status.on(e, now)); }
  template <class M>
  void tell(M m) {
    hear(protocol::received{protocol::to(protocol::role_kind::queue), std::move(m)});
  }
  void pod_is(std::string message, std::string uid = "u") {
    tell(set_condition{{"ns", "x"},
                       true,
                       std::move(uid),
                       "PodScheduled",
                       false,
                       "Unschedulable",
                       std::move(message)});
  }
  void group_is(bool yes, std::string message) {
    tell(set_condition{{"ns", "x"},
                       false,
                       "u",
                       "PodGroupInitiallyScheduled",
                       yes,
                       yes ? "Scheduled" : "Unschedulable",
                       std::move(message)});
  }
  void event(std::string text) {
    tell(protocol::emit_event{
        {"ns", "x"}, true, "u", true, "FailedScheduling", "Scheduling", std::move(text)});
  }
  std::uint64_t take_open() {
    const auto id = log.only().id;
    log.close(id);
    return id;
  }
  void answer(int code, std::string body = "{}") {
    hear(answered{take_open(), code, std::move(body)});
  }
  void show(int code, const object_json& x) { answer(code, x.text()); }
  void lose_answer() { hear(protocol::answer_unknown{take_open(), "reset"}); }
  void wait(base::duration time = 10s) {
    now += time;
    for (const auto& [timer, after] : std::exchange(log.timers, {})) {
      if (after <= time)
        hear(protocol::timer_fired{timer});
      else
        log.timers[timer] = after - time;
    }
  }
  std::string asked() {
    const auto& r = log.only().request;
    return r.method + " " + r.target;
  }
  boost::json::value body() { return boost::json::parse(log.only().request.body); }
  std::string message() {
    return std::string{body().at("status").at("conditions").at(0).at("message").as_string()};
  }
  bool is_quiet() { return log.open.empty(); }
};

TEST_F(Status, looks_first_then_writes_one_condition_for_this_uid_and_version) {
  pod_is("no room");
  EXPECT_EQ(asked(), "GET /api/v1/namespaces/ns/pods/x");
  EXPECT_FALSE(log.only().request.is_urgent);
  show(200, {});
  EXPECT_EQ(asked(), "PATCH /api/v1/namespaces/ns/pods/x/status");
  EXPECT_EQ(log.only().request.content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(body(), boost::json::parse(
                        R"({"metadata":{"uid":"u","resourceVersion":"7"},"status":{"conditions":[{
            "type":"PodScheduled","status":"False","reason":"Unschedulable","message":"no room",
            "lastTransitionTime":"2026-01-31T12:00:00Z"}]}})"));
}

TEST_F(Status, says_the_same_thing_once) {
  pod_is("no room");
  show(200, {});
  show(200, {.version = "8"});
  pod_is("no room");
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, after_a_restart_nothing_is_written_that_stands_there_already) {
  pod_is("no room");
  show(200, {.condition = condition_text("PodScheduled", false, "no room")});
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, a_new_message_keeps_the_time_at_which_the_status_turned) {
  pod_is("less room");
  show(200, {.condition = condition_text("PodScheduled", false, "no room")});
  EXPECT_EQ(body().at("status").at("conditions").at(0).at("lastTransitionTime"),
            "2025-01-01T00:00:00Z");
}

TEST_F(Status, only_the_newest_word_is_written) {
  pod_is("one");
  pod_is("two");
  show(200, {});
  EXPECT_EQ(message(), "two");
  pod_is("three");
  pod_is("four");
  show(200, {.version = "8"});
  EXPECT_EQ(message(), "four");
  EXPECT_EQ(body().at("metadata").at("resourceVersion"), "8") << "no second look is needed";
}

TEST_F(Status, a_word_taken_back_before_it_was_written_costs_nothing) {
  pod_is("one");
  show(200, {});
  pod_is("two");
  pod_is("one");
  show(200, {.version = "8"});
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, a_false_never_lands_on_a_pod_that_was_bound_meanwhile) {
  pod_is("no room");
  show(200, {});
  answer(409);
  wait();
  EXPECT_EQ(log.only().request.method, "GET");
  show(200, {.version = "9", .node = "n1"});
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, a_groups_true_is_never_taken_back) {
  group_is(true, "");
  EXPECT_EQ(asked(), "GET /apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/x");
  group_is(false, "lost a pod");
  show(200, {});
  EXPECT_EQ(body().at("status").at("conditions").at(0).at("status"), "True");
  show(200, {.version = "8"});
  group_is(false, "lost a pod");
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, a_groups_true_of_an_earlier_life_is_never_taken_back) {
  group_is(false, "no room");
  show(200, {.condition = condition_text("PodGroupInitiallyScheduled", true, "")});
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, the_older_dialect_has_its_own_name_for_the_condition) {
  status_role older{{.spoken = api::dialect::v1alpha2}};
  log.take(older.on(
      protocol::received{
          protocol::to(protocol::role_kind::queue),
          set_condition{
              {"ns", "x"}, false, "u", "PodGroupInitiallyScheduled", true, "Scheduled", ""}},
      now));
  EXPECT_EQ(asked(), "GET /apis/scheduling.k8s.io/v1alpha2/namespaces/ns/podgroups/x");
  log.take(older.on(answered{take_open(), 200, object_json{}.text()}, now));
  EXPECT_EQ(body().at("status").at("conditions").at(0).at("type"), "PodGroupScheduled");
}

/// A server cannot merge lists of kinds that are not its own.
TEST_F(Status, conditions_of_our_own_kind_are_applied_each_under_a_name_of_its_own) {
  status_role ours{{.spoken = api::dialect::own}};
  log.take(ours.on(
      protocol::received{
          protocol::to(protocol::role_kind::queue),
          set_condition{
              {"ns", "x"}, false, "u", "PodGroupInitiallyScheduled", true, "Scheduled", ""}},
      now));
  EXPECT_EQ(asked(), "GET /apis/tutti.dev/v1alpha1/namespaces/ns/podgroups/x");
  log.take(ours.on(answered{take_open(), 200, object_json{}.text()}, now));
  const auto& request = log.only().request;
  EXPECT_EQ(request.method + " " + request.target,
            "PATCH /apis/tutti.dev/v1alpha1/namespaces/ns/podgroups/x/status"
            "?fieldManager=tutti%2FPodGroupInitiallyScheduled&force=true");
  EXPECT_EQ(request.content_type, "application/apply-patch+yaml");
  EXPECT_EQ(body().at("apiVersion"), "tutti.dev/v1alpha1");
  EXPECT_EQ(body().at("kind"), "PodGroup");
  EXPECT_EQ(body().at("metadata").at("name"), "x");
  EXPECT_EQ(body().at("status").at("conditions").at(0).at("type"), "PodGroupInitiallyScheduled");
}

TEST_F(Status, a_lost_answer_is_settled_by_looking) {
  pod_is("no room");
  show(200, {});
  lose_answer();
  wait();
  EXPECT_EQ(log.only().request.method, "GET");
  show(200, {.version = "8", .condition = condition_text("PodScheduled", false, "no room")});
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, objects_that_are_gone_or_replaced_are_forgotten) {
  pod_is("no room");
  answer(404);
  EXPECT_TRUE(is_quiet());
  pod_is("no room");
  show(200, {.uid = "other"});
  EXPECT_TRUE(is_quiet());
  EXPECT_EQ(log.errors, 0);
}

TEST_F(Status, nonsense_of_ours_is_reported_and_not_repeated) {
  pod_is("no room");
  show(200, {});
  answer(422, R"({"message":"status.conditions[0].reason: Required value"})");
  EXPECT_EQ(log.errors, 1);
  wait(1h);
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, keeps_few_requests_in_flight) {
  for (int i = 0; i < 100; ++i)
    pod_is("no room", fmt::format("u{}", i));
  EXPECT_EQ(log.open.size(), limits::status_in_flight);
}

TEST_F(Status, an_event_is_complete) {
  event("0/3 nodes are available");
  EXPECT_EQ(asked(), "POST /apis/events.k8s.io/v1/namespaces/ns/events");
  auto sent = body().as_object();
  const auto name = std::string{sent.at("metadata").at("name").as_string()};
  EXPECT_TRUE(name.starts_with("x.")) << name;
  sent.erase("metadata");
  EXPECT_EQ(sent, boost::json::parse(R"({"apiVersion":"events.k8s.io/v1","kind":"Event",
      "eventTime":"2026-01-31T12:00:00.000000Z","type":"Warning","reason":"FailedScheduling",
      "action":"Scheduling","note":"0/3 nodes are available","reportingController":"tutti",
      "reportingInstance":"tutti","regarding":{"apiVersion":"v1","kind":"Pod","namespace":"ns",
      "name":"x","uid":"u"}})"));
}

TEST_F(Status, repeated_events_become_a_series) {
  event("no room");
  answer(201);
  for (int i = 0; i < 5; ++i)
    event("no room");
  EXPECT_TRUE(is_quiet()) << "not each one is written";
  wait(limits::series_refresh);
  EXPECT_TRUE(asked().starts_with("PATCH /apis/events.k8s.io/v1/namespaces/ns/events/x."));
  EXPECT_EQ(body().at("series").at("count"), 6);
  answer(200);
  wait(limits::series_refresh);
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, another_text_makes_another_event_but_not_at_once) {
  event("no room for 3");
  answer(201);
  event("no room for 2");
  EXPECT_TRUE(is_quiet());
  wait(limits::series_refresh);
  EXPECT_EQ(log.only().request.method, "POST");
  EXPECT_EQ(body().at("note"), "no room for 2");
}

TEST_F(Status, a_series_ends_when_it_falls_silent) {
  event("no room");
  answer(201);
  now += limits::series_idle;
  event("no room");
  EXPECT_EQ(log.only().request.method, "POST");
}

TEST_F(Status, a_lost_event_is_posted_under_the_same_name_and_found_there) {
  event("no room");
  const auto first = log.only().request.body;
  lose_answer();
  wait();
  EXPECT_EQ(boost::json::parse(first).at("metadata"), body().at("metadata"));
  answer(409, R"({"reason":"AlreadyExists"})");
  wait(1h);
  EXPECT_TRUE(is_quiet());
}

TEST_F(Status, a_long_note_is_cut_at_a_character) {
  event(std::string(limits::note_bytes - 1, 'a') + "äöü");
  EXPECT_EQ(body().at("note").as_string().size(), limits::note_bytes - 1);
}

// ---------------------------------------------------------------- lost words

TEST_F(Status, a_new_life_asks_for_what_the_one_before_had_not_written) {
  ASSERT_EQ(log.all<protocol::view_wanted>().size(), 1u);
  EXPECT_EQ(log.sent.front().to, protocol::to(protocol::role_kind::queue));
}

TEST_F(Status, what_was_turned_away_is_asked_for_when_there_is_room_again) {
  log.sent.clear();
  for (std::size_t i = 0; i <= limits::conditions_waiting; ++i)
    pod_is("no", "u" + std::to_string(i));
  EXPECT_EQ(log.errors, 1);
  while (log.all<protocol::view_wanted>().empty() && !log.open.empty()) {
    const auto id = log.open.front().id;
    log.close(id);
    hear(answered{id, 404, "{}"});
  }
  EXPECT_EQ(log.all<protocol::view_wanted>().size(), 1u);
  EXPECT_FALSE(log.open.empty()) << "long before the last of them is written";
}

} // namespace
} // namespace tutti::bridge
