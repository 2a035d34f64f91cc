#include "bridge/reflector.hpp"

#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "bridge/limits.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using protocol::answered;
using protocol::stream_lines;
using namespace std::chrono_literals;

std::string object(std::string_view name, int version, std::string_view uid = "") {
  return fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"{}",)"
                     R"("resourceVersion":"{}"}}}})",
                     name, uid.empty() ? name : uid, version);
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

/// A reflector of pods and the words in which a server talks to it.
struct Reflector : testing::Test {
  reflector pods{{.path = "/api/v1/pods", .channel = 3}};
  effect_log log;
  base::time_point now{};
  std::vector<std::string> heard; ///< "+a", "~a", "-a"

  bool hear(const protocol::event& e) {
    protocol::effects out;
    const bool was_mine = pods.on(e, now, out, [this](const change& c) {
      const char* sign = c.what == change::kind::added      ? "+"
                         : c.what == change::kind::modified ? "~"
                                                            : "-";
      heard.push_back(sign + std::string{c.key.substr(3)});
    });
    log.take(out);
    return was_mine;
  }
  void start() {
    protocol::effects out;
    pods.start(7, now, out);
    log.take(out);
  }
  std::uint64_t take_open() {
    const auto id = log.only().id;
    log.close(id);
    return id;
  }
  std::string target() { return log.only().request.target; }
  void answer(int status, std::string body = "{}") {
    hear(answered{take_open(), status, std::move(body)});
  }
  void open() { hear(protocol::stream_opened{log.only().id}); }
  void lines(std::string text) { hear(stream_lines{log.only().id, std::move(text)}); }
  void close(std::string why = "") { hear(protocol::stream_closed{take_open(), std::move(why)}); }
  void retry() {
    const protocol::timer_id timer{reflector::retry_timer, 3};
    ASSERT_TRUE(log.timers.contains(timer));
    log.timers.erase(timer);
    hear(protocol::timer_fired{timer});
  }
  void pass(base::duration time) { now += time; }
  void stall() { hear(protocol::timer_fired{{reflector::stall_timer, 3}}); }
  std::vector<std::string> said() { return std::exchange(heard, {}); }

  /// Listed by stream: a at 5, b at 6; watching from 10.
  void watching() {
    start();
    open();
    lines(event("ADDED", object("a", 5)) + event("ADDED", object("b", 6)) + bookmark(10, true));
    said();
  }
};

TEST_F(Reflector, a_streaming_list_ends_with_its_bookmark_and_goes_on_as_a_watch) {
  start();
  EXPECT_NE(target().find("sendInitialEvents=true"), std::string::npos);
  EXPECT_EQ(target().find("&resourceVersion="), std::string::npos) << "the newest state is wanted";
  open();
  lines(event("ADDED", object("a", 5)));
  EXPECT_FALSE(pods.is_synced());
  lines(event("ADDED", object("b", 6)) + bookmark(10, true));
  EXPECT_TRUE(pods.is_fresh());
  EXPECT_EQ(pods.resource_version(), "10");
  lines(event("MODIFIED", object("a", 11)) + event("DELETED", object("b", 12)));
  EXPECT_EQ(heard, (std::vector<std::string>{"+a", "+b", "~a", "-b"}));
  EXPECT_EQ(pods.resource_version(), "12");
}

TEST_F(Reflector, a_server_without_streaming_lists_is_listed_in_pages) {
  start();
  answer(422);
  EXPECT_EQ(target(), "/api/v1/pods?limit=500");
  answer(200, page({object("a", 1)}, 9, "to+k/en="));
  EXPECT_EQ(target(), "/api/v1/pods?limit=500&continue=to%2Bk%2Fen%3D");
  EXPECT_FALSE(pods.is_synced());
  answer(200, page({object("b", 2)}, 9));
  EXPECT_TRUE(pods.is_synced());
  EXPECT_FALSE(pods.is_fresh()) << "the watch is not open yet";
  EXPECT_NE(target().find("&resourceVersion=9&"), std::string::npos);
  open();
  EXPECT_TRUE(pods.is_fresh());
  EXPECT_EQ(heard, (std::vector<std::string>{"+a", "+b"}));
}

TEST_F(Reflector, a_page_that_expired_begins_the_list_anew) {
  start();
  answer(422);
  answer(200, page({object("a", 1), object("b", 2)}, 9, "more"));
  answer(410);
  retry();
  EXPECT_EQ(target(), "/api/v1/pods?limit=500");
  answer(200, page({object("b", 2)}, 12));
  EXPECT_EQ(heard, (std::vector<std::string>{"+a", "+b", "-a"}));
}

TEST_F(Reflector, a_watch_that_ends_by_itself_is_resumed_from_the_last_version) {
  watching();
  lines(bookmark(20));
  close();
  EXPECT_NE(target().find("&resourceVersion=20&"), std::string::npos);
  EXPECT_TRUE(pods.is_fresh()) << "an orderly end is no reason to distrust";
}

TEST_F(Reflector, empty_watches_are_not_asked_for_in_a_hot_loop) {
  watching();
  lines(bookmark(20));
  close();
  open();
  close();
  EXPECT_TRUE(log.open.empty());
  EXPECT_TRUE(pods.is_fresh());
  retry();
  EXPECT_NE(target().find("&resourceVersion=20&"), std::string::npos);
}

TEST_F(Reflector, a_broken_watch_is_not_trusted_until_it_is_open_again) {
  watching();
  close("connection reset");
  EXPECT_FALSE(pods.is_fresh());
  EXPECT_TRUE(pods.is_synced());
  retry();
  EXPECT_NE(target().find("&resourceVersion=10&"), std::string::npos);
  open();
  EXPECT_TRUE(pods.is_fresh());
}

TEST_F(Reflector, reconnects_wait_twice_as_long_each_time_up_to_a_limit) {
  watching();
  close("reset");
  base::duration before{};
  for (int i = 0; i < 12; ++i) {
    const auto wait = log.timers.at({reflector::retry_timer, 3});
    EXPECT_LE(wait, limits::reconnect_longest);
    if (i > 0 && i < 4) {
      EXPECT_GE(wait * 2, before);
    }
    before = wait;
    retry();
    hear(protocol::answer_unknown{take_open(), "refused"});
  }
  EXPECT_GE(before, limits::reconnect_longest / 2);
}

TEST_F(Reflector, an_expired_version_is_answered_by_a_list_that_finds_missed_deletes) {
  watching();
  close("reset");
  retry();
  answer(410);
  EXPECT_FALSE(pods.is_fresh());
  retry();
  EXPECT_NE(target().find("sendInitialEvents"), std::string::npos);
  open();
  lines(event("ADDED", object("a", 5)) + event("ADDED", object("c", 30)));
  EXPECT_FALSE(pods.is_fresh());
  lines(bookmark(31, true));
  EXPECT_EQ(heard, (std::vector<std::string>{"+c", "-b"})) << "a did not change";
  EXPECT_TRUE(pods.is_fresh());
}

TEST_F(Reflector, an_error_event_with_code_410_lists_again) {
  watching();
  lines(event("ERROR", R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})"));
  EXPECT_FALSE(pods.is_fresh());
  EXPECT_TRUE(log.open.empty()) << "the stream is hung up";
  retry();
  EXPECT_NE(target().find("sendInitialEvents"), std::string::npos);
}

TEST_F(Reflector, another_error_event_reconnects_from_the_last_version) {
  watching();
  lines(event("ERROR", R"({"kind":"Status","code":500,"message":"internal"})"));
  retry();
  EXPECT_NE(target().find("&resourceVersion=10&"), std::string::npos);
}

TEST_F(Reflector, a_version_ahead_of_the_server_waits_and_lists) {
  watching();
  close("reset");
  retry();
  answer(504, R"({"message":"Timeout: Too large resource version: 10, current: 4"})");
  EXPECT_GE(log.timers.at({reflector::retry_timer, 3}), limits::too_new_wait);
  retry();
  EXPECT_NE(target().find("sendInitialEvents"), std::string::npos);
}

TEST_F(Reflector, a_version_that_is_known_is_told_by_its_head_and_not_parsed) {
  watching();
  lines(R"({"type":"MODIFIED","object":{"metadata":{"namespace":"ns","name":"b","uid":"b",)"
        R"("resourceVersion":"6"},"spec":what no parser reads}})"
        "\n");
  EXPECT_TRUE(pods.is_fresh());
  EXPECT_TRUE(heard.empty());
  lines(event("MODIFIED", object("b", 11)));
  EXPECT_EQ(said(), std::vector<std::string>{"~b"});
}

TEST_F(Reflector, repeated_and_older_events_change_nothing) {
  watching();
  lines(event("MODIFIED", object("a", 12)));
  lines(event("MODIFIED", object("a", 12)) + event("MODIFIED", object("a", 11))
        + event("ADDED", object("a", 5)));
  lines(event("DELETED", object("b", 13)) + event("DELETED", object("b", 13))
        + event("ADDED", object("b", 6)));
  EXPECT_EQ(heard, (std::vector<std::string>{"~a", "-b"}));
}

TEST_F(Reflector, a_late_delete_of_an_earlier_owner_of_the_name_is_ignored) {
  watching();
  lines(event("ADDED", object("a", 14, "second")));
  EXPECT_EQ(said(), (std::vector<std::string>{"-a", "+a"})) << "the delete was missed";
  lines(event("DELETED", object("a", 13, "a")));
  EXPECT_TRUE(heard.empty());
}

TEST_F(Reflector, versions_that_are_no_numbers_are_compared_for_equality_only) {
  start();
  open();
  const std::string x = R"({"metadata":{"name":"a","namespace":"ns","uid":"u",)"
                        R"("resourceVersion":"xyz"}})";
  lines(event("ADDED", x)
        + event("BOOKMARK", R"({"metadata":{"resourceVersion":"v9","annotations":)"
                            R"({"k8s.io/initial-events-end":"true"}}})"));
  lines(event("MODIFIED", x));
  EXPECT_EQ(heard, (std::vector<std::string>{"+a"}));
}

TEST_F(Reflector, a_silent_watch_is_distrusted_hung_up_and_listed_anew) {
  watching();
  pass(base::limits::view_stale_after - 1s);
  stall();
  EXPECT_TRUE(pods.is_fresh());
  EXPECT_EQ((log.timers.at({reflector::stall_timer, 3})), 1s);
  pass(1s);
  stall();
  EXPECT_FALSE(pods.is_fresh());
  EXPECT_TRUE(log.open.empty());
  retry();
  EXPECT_NE(target().find("sendInitialEvents"), std::string::npos);
}

TEST_F(Reflector, bookmarks_keep_a_quiet_watch_trusted) {
  watching();
  for (int i = 0; i < 3; ++i) {
    pass(60s);
    lines(bookmark(11 + i));
    stall();
  }
  EXPECT_TRUE(pods.is_fresh());
}

TEST_F(Reflector, events_of_a_stream_that_was_given_up_are_ignored) {
  watching();
  const auto old = log.only().id;
  pass(base::limits::view_stale_after);
  stall();
  EXPECT_TRUE(hear(stream_lines{old, event("ADDED", object("z", 99))})) << "ours, but over";
  EXPECT_TRUE(heard.empty());
}

TEST_F(Reflector, a_damaged_line_reconnects_after_what_was_read_before_it) {
  watching();
  lines(event("MODIFIED", object("a", 12)) + "{\"type\":\"MODI\n");
  EXPECT_EQ(heard, (std::vector<std::string>{"~a"}));
  EXPECT_FALSE(pods.is_fresh());
  retry();
  EXPECT_NE(target().find("&resourceVersion=12&"), std::string::npos);
}

TEST_F(Reflector, too_many_requests_waits_as_long_as_the_server_asks) {
  start();
  hear(answered{take_open(), 429, "{}", 7000});
  EXPECT_GE(log.timers.at({reflector::retry_timer, 3}), 7s);
}

TEST_F(Reflector, a_refused_reader_says_so_and_asks_rarely) {
  start();
  answer(403);
  EXPECT_TRUE(pods.is_forbidden());
  EXPECT_GE(log.timers.at({reflector::retry_timer, 3}), limits::forbidden_wait);
  retry();
  open();
  EXPECT_FALSE(pods.is_forbidden());
}

TEST_F(Reflector, tells_everything_again_when_asked) {
  watching();
  protocol::effects out;
  pods.tell_again(now, out);
  log.take(out);
  EXPECT_FALSE(pods.is_synced());
  open();
  lines(event("ADDED", object("a", 5)) + bookmark(40, true));
  EXPECT_EQ(heard, (std::vector<std::string>{"~a", "-b"}));
  EXPECT_TRUE(pods.is_fresh());
}

TEST_F(Reflector, leaves_events_of_others_alone) {
  watching();
  EXPECT_FALSE(hear(answered{(1u << 8) | 4, 200, ""}));
  EXPECT_FALSE(hear(protocol::timer_fired{{reflector::retry_timer, 4}}));
}

} // namespace
} // namespace tutti::bridge
