// A watch that seems healthy and has swallowed an event: found by a list beside it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bridge/reflector.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;

std::string object(std::string_view name, int version) {
  return fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{0}","uid":"{0}",)"
                     R"("resourceVersion":"{1}"}}}})",
                     name, version);
}
std::string event(std::string_view type, const std::string& what) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, what);
}
std::string bookmark(int version, bool ends_list = false) {
  const auto* notes = ends_list ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return event("BOOKMARK",
               fmt::format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version, notes));
}
std::string page(std::vector<std::string> items, int version, std::string_view more = "") {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                     version, more, fmt::join(items, ","));
}

/// Watching pods a and b, at version 10.
struct ReflectorCheck : testing::Test {
  reflector pods{{.path = "/api/v1/pods", .channel = 3}};
  effect_log log;
  base::time_point now{};
  std::uint64_t watch = 0;
  std::vector<std::string> heard;

  ReflectorCheck() {
    protocol::effects out;
    pods.start(7, now, out);
    log.take(out);
    watch = log.only().id;
    hear(protocol::stream_opened{watch});
    lines(event("ADDED", object("a", 5)) + event("ADDED", object("b", 6)) + bookmark(10, true));
    heard.clear();
  }
  void hear(const protocol::event& e) {
    protocol::effects out;
    EXPECT_TRUE(pods.on(e, now, out, [this](const change& c) {
      const char* sign = c.what == change::kind::added      ? "+"
                         : c.what == change::kind::modified ? "~"
                                                            : "-";
      heard.push_back(sign + std::string{c.key.substr(3)});
    }));
    log.take(out);
  }
  void lines(std::string text) { hear(protocol::stream_lines{watch, std::move(text)}); }
  bool is_checking() const { return log.open.size() == 2; }
  /// The exchange of the check; the test has begun it.
  effect_log::open_exchange check() const {
    for (const auto& x : log.open)
      if (x.id != watch)
        return x;
    ADD_FAILURE() << "there is no check";
    return {};
  }
  void check_is_due() {
    const protocol::timer_id timer{reflector::check_timer, 3};
    ASSERT_TRUE(log.timers.contains(timer));
    log.timers.erase(timer);
    hear(protocol::timer_fired{timer});
  }
  void answer(std::string body, int status = 200) {
    const auto id = check().id;
    log.close(id);
    hear(protocol::answered{id, status, std::move(body)});
  }
  bool lists_anew() const { return !pods.is_synced(); }
};

TEST_F(ReflectorCheck, comes_every_four_to_eight_minutes_beside_the_watch) {
  const protocol::timer_id timer{reflector::check_timer, 3};
  EXPECT_GE(log.timers.at(timer), reflector::check_every);
  EXPECT_LE(log.timers.at(timer), 2 * reflector::check_every);
  check_is_due();
  EXPECT_TRUE(log.timers.contains(timer));
  EXPECT_EQ(check().request.target,
            "/api/v1/pods?limit=500&resourceVersion=10&resourceVersionMatch=NotOlderThan");
  EXPECT_TRUE(pods.is_fresh()) << "nothing is in doubt yet";
  answer(page({object("a", 5)}, 10, "more"));
  EXPECT_EQ(check().request.target, "/api/v1/pods?limit=500&continue=more");
  answer(page({object("b", 6)}, 10));
  EXPECT_FALSE(lists_anew());
  EXPECT_FALSE(is_checking());
  EXPECT_EQ(pods.swallowed(), 0u);
}

TEST_F(ReflectorCheck, finds_an_object_that_the_watch_has_never_told) {
  check_is_due();
  answer(page({object("a", 5), object("b", 6), object("c", 9)}, 10));
  EXPECT_EQ(pods.swallowed(), 1u);
  EXPECT_TRUE(lists_anew());
}

TEST_F(ReflectorCheck, finds_a_change_and_a_delete_that_were_swallowed) {
  check_is_due();
  answer(page({object("a", 8)}, 10));
  EXPECT_EQ(pods.swallowed(), 2u);
  EXPECT_TRUE(lists_anew());
}

TEST_F(ReflectorCheck, waits_until_the_watch_has_come_as_far_as_the_list) {
  check_is_due();
  answer(page({object("a", 5), object("b", 11), object("c", 12)}, 13));
  EXPECT_FALSE(lists_anew()) << "the watch may be on its way there";
  lines(event("MODIFIED", object("b", 11)) + event("ADDED", object("c", 12)));
  EXPECT_FALSE(lists_anew());
  lines(bookmark(13));
  EXPECT_FALSE(lists_anew());
  EXPECT_EQ(pods.swallowed(), 0u);
}

TEST_F(ReflectorCheck, finds_what_is_missing_once_the_watch_has_passed_it) {
  check_is_due();
  answer(page({object("a", 5), object("b", 11), object("c", 12)}, 13));
  lines(event("ADDED", object("c", 12)));
  EXPECT_FALSE(lists_anew());
  lines(event("MODIFIED", object("a", 14)));
  EXPECT_EQ(pods.swallowed(), 1u);
  EXPECT_TRUE(lists_anew());
}

TEST_F(ReflectorCheck, takes_what_the_watch_told_meanwhile_for_no_difference) {
  check_is_due();
  lines(event("DELETED", object("a", 11)) + event("ADDED", object("d", 12))
        + event("MODIFIED", object("b", 13)));
  answer(page({object("a", 5), object("b", 6)}, 10));
  EXPECT_EQ(pods.swallowed(), 0u) << "a was there at 10, and the watch has told of its end at 11";
  EXPECT_FALSE(lists_anew());
}

TEST_F(ReflectorCheck, of_a_watch_that_lags_finds_nothing_in_what_comes_and_goes) {
  check_is_due();
  answer(page({object("a", 5), object("b", 6), object("c", 11)}, 12));
  lines(event("ADDED", object("c", 11)) + event("DELETED", object("c", 13)));
  EXPECT_EQ(pods.swallowed(), 0u);
  EXPECT_FALSE(lists_anew());
}

TEST_F(ReflectorCheck, is_dropped_if_it_fails_and_comes_again) {
  for (const int status : {410, 500, 403, 200}) {
    check_is_due();
    answer("{}", status);
    EXPECT_FALSE(lists_anew());
    EXPECT_FALSE(is_checking());
  }
  check_is_due();
  answer(page({object("a", 5)}, 10));
  EXPECT_EQ(pods.swallowed(), 1u);
}

TEST_F(ReflectorCheck, ends_with_a_list_that_begins_anew) {
  check_is_due();
  const auto id = check().id;
  lines(event("ERROR", R"({"code":410,"reason":"Expired"})"));
  hear(protocol::timer_fired{{reflector::retry_timer, 3}});
  EXPECT_NE(log.only().id, id) << "hung up";
  hear(protocol::answered{id, 200, page({}, 99)}); // was on its way
  EXPECT_EQ(pods.swallowed(), 0u);
}

} // namespace
} // namespace tutti::bridge
