#include "bridge/binder_role.hpp"

#include <functional>
#include <map>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "bridge/limits.hpp"
#include "bridge/pod_requests.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using protocol::answered;
using protocol::bind_verdict;
using protocol::pod_state;
using namespace std::chrono_literals;

/// What the server says of the pod.
struct pod_json {
  std::string uid = "u1";
  std::string version = "7";
  std::string node;
  std::string fence;
  std::string extra_meta;
  std::string extra_spec;
  std::string phase = "Pending";

  std::string text() const {
    return fmt::format(
        R"({{"kind":"Pod","metadata":{{"name":"p","namespace":"ns",)"
        R"("uid":"{}","resourceVersion":"{}",)"
        R"("annotations":{{"tutti.dev/fence":"{}"}}{}}},"spec":{{"nodeName":"{}"{}}},)"
        R"("status":{{"phase":"{}"}}}})",
        uid, version, fence, extra_meta, node, extra_spec, phase);
  }
};

/// A binder and one gang that asks it; the fixture plays the server.
struct Binder : testing::Test {
  binder_role binder;
  effect_log log;
  base::time_point now{};

  void SetUp() override {
    hear(protocol::started{.epoch = {1}, .incarnation = {4}, .seed = 9, .open = {}});
  }
  void hear(const protocol::event& e) { log.take(binder.on(e, now)); }
  template <class M>
  void ask(M what) {
    hear(protocol::received{protocol::to_gang({"g"}), std::move(what)});
  }
  static base::attempt_id attempt(std::uint64_t try_no = 1) { return {{"g"}, 2, {5}, try_no}; }
  static protocol::bind binding(const std::string& uid = "u1") {
    return {attempt(), {"ns", "p"}, {uid}, "7", {"n1"}, {12}, {5}, {}};
  }
  static protocol::touch touching() { return {attempt(), {"ns", "p"}, {"u1"}, {12}, {5}}; }

  std::uint64_t take_open() {
    const auto id = log.only().id;
    log.close(id);
    return id;
  }
  void answer(int status, std::string body = "{}", std::int64_t retry_after_ms = 0) {
    hear(answered{take_open(), status, std::move(body), retry_after_ms});
  }
  void lose_answer() { hear(protocol::answer_unknown{take_open(), "timeout"}); }
  /// Fires every armed timer, after longer or shorter than leave to bind lasts.
  void wait() { wait(1h); }
  void wait_shortly() { wait(limits::leave_lasts - 1s); }
  void wait(base::duration for_so_long) {
    now += for_so_long;
    for (const auto& [timer, after] : std::exchange(log.timers, {}))
      hear(protocol::timer_fired{timer});
  }
  std::string method() { return log.only().request.method; }

  protocol::bind_answer verdict() {
    const auto all = log.all<protocol::bind_answer>();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? protocol::bind_answer{} : all.back();
  }
  protocol::pod_read read() {
    const auto all = log.all<protocol::pod_read>();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? protocol::pod_read{} : all.back();
  }
};

TEST_F(Binder, posts_with_both_preconditions_and_signs_the_binding) {
  ask(binding());
  const auto& request = log.only().request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/api/v1/namespaces/ns/pods/p/binding");
  EXPECT_TRUE(request.is_urgent);
  EXPECT_EQ(boost::json::parse(request.body),
            boost::json::parse(
                R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"ns",
                "uid":"u1","resourceVersion":"7","annotations":{"tutti.dev/attempt":"g/2/5/1",
                "tutti.dev/epoch":"5","tutti.dev/fence":"12/5"}},
                "target":{"apiVersion":"v1","kind":"Node","name":"n1"}})"));
  answer(201);
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  EXPECT_EQ(verdict().node.value, "n1");
  EXPECT_EQ(log.sent.back().to, protocol::to_gang({"g"}));
}

TEST_F(Binder, passes_the_fault_points_around_a_binding_in_order) {
  ask(binding());
  answer(201);
  EXPECT_EQ(log.order, (std::vector<std::string>{"fault B0", "POST", "fault B1", "fault B2",
                                                 "send bind_answer"}));
}

TEST_F(Binder, B0_a_binding_asked_again_after_a_crash_is_posted_again) {
  ask(binding());
  answer(409, R"({"message":"pod p is already assigned to node \"n1\""})");
  EXPECT_EQ(method(), "GET");
  answer(200, pod_json{.version = "8", .node = "n1"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::bound) << "the crashed one's POST had arrived";
}

TEST_F(Binder, B1_a_lost_answer_is_read_back_and_found_bound) {
  ask(binding());
  lose_answer();
  EXPECT_EQ(method(), "GET");
  answer(200, pod_json{.version = "8", .node = "n1"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  EXPECT_EQ(verdict().resource_version, "8");
  EXPECT_EQ(log.notes, std::vector<std::string>{"binder.unknown"}) << "counted, once";
}

TEST_F(Binder, B1_S1b_a_binding_that_did_not_arrive_is_not_posted_again_without_leave) {
  ask(binding());
  lose_answer();
  answer(200, pod_json{}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
  EXPECT_EQ(verdict().resource_version, "7") << "as it was: nothing has happened";
  wait();
  EXPECT_TRUE(log.open.empty()) << "its node may be another by now, of the same name";
}

TEST_F(Binder, B1_a_server_error_is_no_answer) {
  ask(binding());
  answer(500);
  EXPECT_EQ(method(), "GET");
  answer(503);
  wait();
  EXPECT_EQ(method(), "GET") << "the read is repeated, never the POST";
  answer(200, pod_json{.version = "8", .node = "other"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::elsewhere);
  EXPECT_EQ(verdict().node.value, "other");
}

TEST_F(Binder, a_binding_that_the_server_could_not_serve_is_an_event_of_its_pod) {
  ask(binding());
  answer(500, R"({"kind":"Status","message":"etcd is away"})");
  EXPECT_TRUE(log.all<protocol::emit_event>().empty()) << "it may have been served all the same";
  answer(200, pod_json{}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
  const auto events = log.all<protocol::emit_event>();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.front().about, (protocol::object_name{"ns", "p"}));
  EXPECT_EQ(events.front().uid, "u1");
  EXPECT_TRUE(events.front().is_pod && events.front().is_warning);
  EXPECT_EQ(events.front().reason, "FailedScheduling");
  EXPECT_EQ(events.front().text, "Binding to node n1 failed: 500 etcd is away");
}

TEST_F(Binder, a_binding_that_was_served_in_spite_of_its_answer_is_no_event) {
  ask(binding());
  answer(500);
  answer(200, pod_json{.version = "8", .node = "n1"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  EXPECT_TRUE(log.all<protocol::emit_event>().empty());
}

TEST_F(Binder, a_binding_that_was_lost_or_met_another_version_is_no_event) {
  ask(binding());
  lose_answer();
  answer(200, pod_json{}.text());
  ask(binding());
  answer(409, R"({"message":"the object has been modified"})");
  answer(200, pod_json{.version = "8"}.text());
  EXPECT_EQ(log.all<protocol::bind_answer>().size(), 2u);
  EXPECT_TRUE(log.all<protocol::emit_event>().empty());
}

TEST_F(Binder, B2_a_binding_asked_for_twice_is_posted_and_answered_once) {
  ask(binding());
  ask(binding());
  answer(201);
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  ask(binding());
  EXPECT_EQ(method(), "POST") << "after the report a copy is a new question";
}

struct conflict_row {
  const char* title;
  pod_json pod;
  bind_verdict then;
};

TEST_F(Binder, tells_the_kinds_of_conflict_apart_by_reading_the_pod) {
  const std::vector<conflict_row> rows{
      {"ours already", {.version = "8", .node = "n1"}, bind_verdict::bound},
      {"other node", {.version = "8", .node = "n2"}, bind_verdict::elsewhere},
      {"other uid", {.uid = "u2"}, bind_verdict::replaced},
      {"edited", {.version = "9"}, bind_verdict::moved},
      {"being deleted",
       {.extra_meta = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")"},
       bind_verdict::gone},
      {"gated", {.extra_spec = R"(,"schedulingGates":[{"name":"x"}])"}, bind_verdict::gated},
      {"failed", {.phase = "Failed"}, bind_verdict::gone}};
  for (const auto& row : rows) {
    log.sent.clear();
    ask(binding());
    answer(409, R"({"reason":"Conflict"})");
    answer(200, row.pod.text());
    EXPECT_EQ(verdict().verdict, row.then) << row.title;
  }
}

TEST_F(Binder, a_stale_version_is_never_replaced_here) {
  ask(binding());
  answer(409);
  answer(200, pod_json{.version = "9"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
  EXPECT_EQ(verdict().resource_version, "9");
  EXPECT_TRUE(log.open.empty()) << "the gang looks at its record first";
}

TEST_F(Binder, answers_that_end_a_binding) {
  const std::vector<std::pair<int, bind_verdict>> rows{{404, bind_verdict::gone},
                                                       {403, bind_verdict::forbidden},
                                                       {401, bind_verdict::forbidden},
                                                       {422, bind_verdict::refused}};
  for (const auto& [status, then] : rows) {
    log.sent.clear();
    ask(binding());
    answer(status);
    EXPECT_EQ(verdict().verdict, then) << status;
  }
  EXPECT_EQ(log.errors, 3) << "a human must see refused rights and our own nonsense";
}

TEST_F(Binder, too_many_requests_pauses_everything_as_long_as_the_server_asks) {
  ask(binding());
  answer(429, "{}", 5000);
  ask(binding("u2"));
  EXPECT_TRUE(log.open.empty());
  EXPECT_EQ((log.timers.at({exchange_window::pause_timer, 0})), 5s);
  EXPECT_GE((log.timers.at({exchange_window::retry_timer, 1})), 5s);
  wait_shortly();
  EXPECT_EQ(log.open.size(), 2u);
}

TEST_F(Binder, S1b_a_binding_that_has_waited_longer_than_leave_lasts_is_not_posted) {
  ask(binding());
  answer(429, "{}", 20'000);
  ask(binding("u2")); // waits in line behind the pause
  now += limits::leave_lasts;
  ask(binding("u3"));
  wait(5s);
  const auto said = log.all<protocol::bind_answer>();
  ASSERT_EQ(said.size(), 2u);
  for (const auto& x : said) {
    EXPECT_EQ(x.verdict, bind_verdict::moved) << x.uid.value;
    EXPECT_EQ(x.resource_version, "7") << x.uid.value;
  }
  EXPECT_NE(log.only().request.body.find("u3"), std::string::npos) << "with leave of this moment";
}

TEST_F(Binder, S1b_a_binding_that_waits_no_longer_than_leave_lasts_is_posted_again) {
  ask(binding());
  answer(429, "{}", 5000);
  wait_shortly();
  EXPECT_EQ(method(), "POST") << "the server has refused it unseen: it cannot have happened";
}

TEST_F(Binder, keeps_a_window_of_bindings_in_flight_and_the_rest_in_order) {
  const auto limit = base::limits::bindings_in_flight;
  for (std::size_t i = 0; i < limit + 2; ++i)
    ask(binding(fmt::format("u{}", i)));
  EXPECT_EQ(log.open.size(), limit);
  const auto id = log.open.front().id;
  log.close(id);
  hear(answered{id, 201, "{}"});
  EXPECT_EQ(log.open.size(), limit);
  EXPECT_NE(log.open.back().request.body.find(fmt::format("\"u{}\"", limit)), std::string::npos);
}

TEST_F(Binder, reads_a_pod_for_a_gang) {
  const protocol::read_pod question{attempt(), {"ns", "p"}, {"u1"}};
  const std::vector<std::tuple<int, pod_json, pod_state>> rows{
      {200, {}, pod_state::pending},
      {200, {.node = "n1"}, pod_state::bound},
      {200, {.uid = "u2"}, pod_state::replaced},
      {200, {.node = "n1", .phase = "Succeeded"}, pod_state::terminal},
      {404, {}, pod_state::gone}};
  for (const auto& [status, pod, then] : rows) {
    log.sent.clear();
    ask(question);
    answer(status, pod.text());
    EXPECT_EQ(read().state, then);
    EXPECT_FALSE(read().touched);
  }
}

TEST_F(Binder, touches_with_the_fence_and_a_mark_of_its_own_each_time) {
  ask(touching());
  const auto& request = log.only().request;
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.content_type, "application/merge-patch+json");
  const auto first = boost::json::parse(request.body);
  EXPECT_EQ(first.at("metadata").at("uid"), "u1");
  EXPECT_EQ(first.at("metadata").at("annotations").at("tutti.dev/fence"), "12/5");
  answer(200, pod_json{.version = "8"}.text());
  EXPECT_EQ(read().state, pod_state::pending);
  EXPECT_TRUE(read().touched);
  EXPECT_EQ(read().resource_version, "8");
  ask(touching());
  EXPECT_NE(boost::json::parse(log.only().request.body), first)
      << "a patch that changes nothing would not change the version";
}

TEST_F(Binder, a_touch_is_repeated_until_it_is_known_to_have_happened) {
  ask(touching());
  const auto body = log.only().request.body;
  lose_answer();
  wait();
  EXPECT_EQ(log.only().request.body, body);
  answer(500);
  wait();
  answer(409);
  wait();
  answer(200, pod_json{.version = "8", .node = "n1"}.text());
  EXPECT_EQ(read().state, pod_state::bound);
}

TEST_F(Binder, a_touch_of_a_reused_name_finds_it_replaced) {
  ask(touching());
  answer(422, R"({"message":"Pod \"p\" is invalid: metadata.uid: Invalid value"})");
  EXPECT_EQ(read().state, pod_state::replaced);
  EXPECT_TRUE(read().touched);
}

TEST_F(Binder, a_touch_stops_a_binding_that_has_not_left) {
  ask(binding());
  answer(429, "{}", 1000);
  ask(touching());
  wait();
  EXPECT_EQ(method(), "PATCH") << "the Binding is gone from the queue";
  answer(200, pod_json{.version = "8"}.text());
  EXPECT_TRUE(log.all<protocol::bind_answer>().empty());
}

TEST_F(Binder, a_touched_binding_in_flight_is_not_posted_again) {
  ask(binding());
  const auto post = log.only().id;
  ask(touching());
  log.close(post);
  hear(protocol::answer_unknown{post, "reset"});
  ASSERT_EQ(log.open.size(), 2u) << "touch and read";
  const auto get = log.open.back();
  EXPECT_EQ(get.request.method, "GET");
  log.close(get.id);
  hear(answered{get.id, 200, pod_json{}.text()});
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
}

TEST_F(Binder, a_higher_fence_on_the_pod_stops_bindings_of_that_partition_only) {
  ask(binding());
  answer(409);
  answer(200, pod_json{.version = "9", .fence = "12/6"}.text());
  EXPECT_TRUE(log.sent.empty()) << "the writer has been superseded and is not answered";
  ask(binding("u2"));
  EXPECT_TRUE(log.open.empty());
  auto other = binding("u3");
  other.partition = {13};
  ask(other);
  EXPECT_EQ(method(), "POST");
}

TEST_F(Binder, a_newer_owner_in_this_process_stops_the_older_one) {
  auto newer = touching();
  newer.fence = {6};
  ask(newer);
  answer(200, pod_json{.version = "8", .fence = "12/6"}.text());
  ask(binding());
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Binder, writes_before_the_binding_in_order_and_reads_each_back) {
  auto b = binding();
  b.before = {{"PUT", "/claims/a/status", "application/json", R"({"status":{"allocation":"x"}})"},
              {"PATCH", "/claims/b", "application/merge-patch+json", R"({"spec":{"k":1}})"}};
  ask(b);
  EXPECT_EQ(log.only().request.target, "/claims/a/status");
  answer(200);
  EXPECT_EQ(method(), "GET");
  answer(200, R"({"metadata":{"name":"a"},"status":{"allocation":"x","other":1}})");
  EXPECT_EQ(log.only().request.target, "/claims/b");
  lose_answer();
  EXPECT_EQ(method(), "GET");
  answer(200, R"({"spec":{"k":0}})");
  wait_shortly();
  EXPECT_EQ(log.only().request.target, "/claims/b") << "lost, not there: written again";
  EXPECT_EQ(method(), "PATCH");
  answer(200);
  answer(200, R"({"spec":{"k":1}})");
  EXPECT_EQ(method(), "POST");
}

TEST_F(Binder, a_refused_write_that_is_not_there_ends_the_binding) {
  auto b = binding();
  b.before = {{"PUT", "/claims/a/status", "application/json", R"({"status":{"allocation":"x"}})"}};
  ask(b);
  answer(409);
  answer(200, R"({"status":{"allocation":"y"}})");
  EXPECT_EQ(verdict().verdict, bind_verdict::refused);
}

TEST_F(Binder, a_binding_without_a_version_is_answered_with_one) {
  auto b = binding();
  b.resource_version.clear();
  ask(b);
  EXPECT_EQ(method(), "GET");
  answer(200, pod_json{.version = "9"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
  EXPECT_EQ(verdict().resource_version, "9");
}

TEST(Stamps, are_written_as_kubernetes_reads_them) {
  EXPECT_EQ(rfc3339({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339_micro({1'769'860'800'123}), "2026-01-31T12:00:00.123000Z");
}

TEST(Fences, are_read_back_as_written) {
  EXPECT_EQ(fence_of(to_text(fence{{12}, {7}})), (fence{{12}, {7}}));
  for (const auto* text : {"", "12", "a/1", "1/b", "1/2/3", "/"})
    EXPECT_FALSE(fence_of(text)) << text;
}

// ---------------------------------------------------------------- hash

struct binder_tale : Binder {
  void TestBody() override {}
  binder_tale() { SetUp(); }
};

TEST(BinderHash, of_binders_in_different_states_differs) {
  const std::map<std::string, std::function<void(binder_tale&)>> stories{
      {"idle", [](auto&) {}},
      {"a later life",
       [](auto& b) {
         b.hear(protocol::started{.epoch = {1}, .incarnation = {5}, .seed = 9, .open = {}});
       }},
      {"posting", [](auto& b) { b.ask(binder_tale::binding()); }},
      {"posting for another pod", [](auto& b) { b.ask(binder_tale::binding("u2")); }},
      {"posting with another version",
       [](auto& b) {
         auto what = binder_tale::binding();
         what.resource_version = "8";
         b.ask(what);
       }},
      {"reading after a lost answer",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.lose_answer();
       }},
      {"reading after two lost answers",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.lose_answer();
         b.lose_answer();
         b.wait();
       }},
      {"reading after an answer of 500",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.answer(500);
       }},
      {"reading",
       [](auto& b) {
         b.ask(protocol::read_pod{b.attempt(), {"ns", "p"}, {"u1"}});
       }},
      {"touching", [](auto& b) { b.ask(binder_tale::touching()); }},
      {"has touched",
       [](auto& b) {
         b.ask(binder_tale::touching());
         b.answer(200, pod_json{}.text());
       }},
      {"posting, and told to stop",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.ask(binder_tale::touching());
       }},
      {"told to wait",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.answer(429, "{}", 1000);
       }},
      {"knows a fence",
       [](auto& b) {
         b.ask(binder_tale::binding());
         b.answer(201);
       }},
  };
  std::map<std::uint64_t, std::string> seen;
  for (const auto& [name, story] : stories) {
    binder_tale b;
    story(b);
    const auto [pos, is_new] = seen.emplace(b.binder.state_hash(), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << pos->second;
  }
}

TEST(BinderHash, does_not_depend_on_the_order_of_questions) {
  binder_tale one, other;
  one.ask(binder_tale::binding("u1"));
  one.ask(binder_tale::binding("u2"));
  other.ask(binder_tale::binding("u2"));
  other.ask(binder_tale::binding("u1"));
  EXPECT_EQ(one.binder.state_hash(), other.binder.state_hash());
}

// ---------------------------------------------------------------- asked again with other words

TEST_F(Binder, a_copy_of_a_binding_on_its_way_changes_nothing) {
  ask(binding());
  ask(binding());
  answer(201);
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Binder, a_gang_that_has_heard_nothing_disturbs_no_binding) {
  ask(binding());
  auto unread = binding();
  unread.resource_version.clear();
  ask(unread);
  answer(429, "{}", 1000);
  ask(unread);
  wait_shortly();
  EXPECT_EQ(method(), "POST");
  answer(201);
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
  EXPECT_TRUE(log.open.empty());
}

TEST_F(Binder, newer_words_replace_those_that_have_not_left) {
  ask(binding());
  answer(429, "{}", 1000);
  auto newer = binding();
  newer.node = {"n2"};
  newer.resource_version = "9";
  ask(newer);
  wait_shortly();
  const auto body = boost::json::parse(log.only().request.body);
  EXPECT_EQ(body.at("target").at("name"), "n2");
  EXPECT_EQ(body.at("metadata").at("resourceVersion"), "9");
  answer(201);
  EXPECT_EQ(verdict().node.value, "n2");
}

TEST_F(Binder, newer_words_wait_for_those_that_have_left_and_read_what_became_of_them) {
  ask(binding());
  auto newer = binding();
  newer.node = {"n2"};
  ask(newer);
  answer(201); // the older Binding has won
  EXPECT_EQ(method(), "GET");
  EXPECT_TRUE(log.all<protocol::bind_answer>().empty());
  answer(200, pod_json{.version = "8", .node = "n1"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::elsewhere) << "not where it is meant to be now";
}

TEST_F(Binder, newer_words_need_leave_once_more_if_those_that_have_left_came_to_nothing) {
  ask(binding());
  auto newer = binding();
  newer.node = {"n2"};
  newer.resource_version = "8";
  ask(newer);
  answer(409, R"({"message":"the object has been modified"})");
  answer(200, pod_json{.version = "8"}.text());
  EXPECT_EQ(verdict().verdict, bind_verdict::moved);
  EXPECT_EQ(verdict().resource_version, "8");
}

TEST_F(Binder, a_binding_under_a_raised_fence_is_not_lost_with_the_one_before) {
  ask(binding());
  answer(429, "{}", 1000);
  auto raised = binding();
  raised.fence = {8}; // the partition began above fences that it found
  ask(raised);
  wait_shortly();
  ASSERT_EQ(log.open.size(), 1u) << "neither dropped as a copy nor as fenced";
  answer(201);
  EXPECT_EQ(verdict().verdict, bind_verdict::bound);
}

TEST_F(Binder, an_older_owner_does_not_replace_the_words_of_a_later_one) {
  auto later = binding();
  later.fence = {8};
  ask(later);
  answer(429, "{}", 1000);
  auto older = binding();
  older.node = {"n2"};
  ask(older);
  wait_shortly();
  EXPECT_EQ(boost::json::parse(log.only().request.body).at("target").at("name"), "n1");
}

} // namespace
} // namespace tutti::bridge
