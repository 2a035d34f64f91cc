// What one watch lets many hear: lists, changes, bookmarks, and never more than the server has
// said.
#include "bridge/watch_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "tests/bridge/exchange_fixture.hpp"
#include "tests/bridge/watch_words.hpp"

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;
using namespace watch_words;

struct WatchCache : testing::Test {
  watch_cache pods{{.path = "/api/v1/pods", .history_bytes_most = 4000}};
  effect_log log;
  base::time_point now{};

  template <class Act>
  void act(Act what) {
    protocol::effects out;
    what(out);
    log.take(out);
  }
  void hear(const protocol::event& e) {
    act([&](auto& out) { EXPECT_TRUE(pods.on(e, now, out)); });
  }
  void start() {
    act([&](auto& out) { pods.start(now, out); });
  }
  /// Listed by stream: a at 5, b at 6; watching from 10.
  void watching() {
    start();
    hear(protocol::stream_opened{watch()});
    lines(event("ADDED", object("a", 5)) + event("ADDED", object("b", 6)) + bookmark(10, true));
  }
  /// The exchange of that kind that is open.
  std::uint64_t open_one(bool is_stream) {
    for (const auto& x : log.open)
      if (x.request.is_stream == is_stream)
        return x.id;
    ADD_FAILURE() << "nothing is asked";
    return 0;
  }
  std::uint64_t watch() { return open_one(true); }
  std::string asked() {
    const auto id = open_one(false);
    for (const auto& x : log.open)
      if (x.id == id)
        return x.request.target;
    return {};
  }
  void lines(std::string text) { hear(protocol::stream_lines{watch(), std::move(text)}); }
  void answer(int status, std::string body = "{}") {
    const auto id = open_one(false);
    log.close(id);
    hear(protocol::answered{id, status, std::move(body)});
  }
  /// The server says which version it has now.
  void present(int version) { answer(200, page({}, version)); }
  void cut(std::string why) {
    const auto id = watch();
    log.close(id);
    hear(protocol::stream_closed{id, std::move(why)});
  }
  void fire(std::uint32_t kind, std::uint64_t key = 1) {
    const protocol::timer_id timer{kind, key};
    ASSERT_TRUE(log.timers.contains(timer)) << kind;
    log.timers.erase(timer);
    hear(protocol::timer_fired{timer});
  }

  void list(std::uint64_t who) {
    act([&](auto& out) { pods.follow(who, {.path = pods.path(), .lists = true}, out); });
  }
  void follow(std::uint64_t who, int from) {
    act([&](auto& out) {
      pods.follow(who, {.path = pods.path(), .version = std::to_string(from)}, out);
    });
  }
  /// All that it hears now, in short words: "open +a +b |10* ~a |12 410 closed(why)".
  std::string said(std::uint64_t who, std::size_t most = 1 << 20) {
    std::string out;
    while (const auto x = pods.next(who, most))
      out += (out.empty() ? "" : " ") + in_words(*x, who);
    return out;
  }
};

TEST_F(WatchCache, lists_what_is_there_and_goes_on_with_what_changes) {
  watching();
  list(1);
  EXPECT_EQ(said(1), "") << "nobody has said yet how far the server is";
  EXPECT_EQ(asked(), "/api/v1/pods?limit=1");
  present(10);
  EXPECT_EQ(said(1), "open +a +b |10*");
  lines(event("MODIFIED", object("a", 11)) + event("DELETED", object("b", 12)));
  EXPECT_EQ(said(1), "~a -b");
}

TEST_F(WatchCache, gives_each_object_as_the_server_sent_it) {
  watching();
  const std::string odd = R"({"kind":"Pod","metadata":{"name":"c","uid":"c","namespace":"ns",)"
                          R"("resourceVersion":"11"},"x":[1.50, 2e3,"\u00e9"]})";
  lines("{\"type\":\"ADDED\",\"object\":" + odd + "}\n");
  follow(1, 10);
  (void)pods.next(1, 1000);
  const auto piece = pods.next(1, 1000);
  ASSERT_TRUE(piece);
  EXPECT_EQ(std::get<protocol::stream_lines>(*piece).lines,
            "{\"type\":\"ADDED\",\"object\":" + odd + "}\n");
}

/// Fields in another order, or more of them: it is written anew then, and not cut in the middle.
TEST_F(WatchCache, understands_events_that_are_written_otherwise) {
  watching();
  follow(1, 10);
  lines("{\"object\":" + object("c", 11) + ",\"type\":\"ADDED\"}\n{\"type\":\"ADDED\",\"object\":"
        + object("d", 12) + ",\"more\":{}}\n");
  EXPECT_EQ(said(1), "open +c +d");
}

TEST_F(WatchCache, watches_once_for_all) {
  watching();
  for (std::uint64_t who : {1, 2, 3})
    follow(who, 10);
  lines(event("ADDED", object("c", 11)));
  for (std::uint64_t who : {1, 2, 3})
    EXPECT_EQ(said(who), "open +c");
  EXPECT_EQ(log.open.size(), 1u);
}

/// What was asked for before the list may be older than the question.
TEST_F(WatchCache, asks_again_for_who_comes_while_it_asks) {
  watching();
  list(1);
  list(2);
  present(10);
  EXPECT_EQ(said(1), "open +a +b |10*");
  EXPECT_EQ(said(2), "");
  lines(event("ADDED", object("c", 11)));
  present(11);
  EXPECT_EQ(said(2), "open +a +b +c |11*");
}

TEST_F(WatchCache, waits_until_its_watch_has_got_there) {
  watching();
  list(1);
  present(12);
  EXPECT_EQ(said(1), "");
  lines(event("ADDED", object("c", 11)));
  EXPECT_EQ(said(1), "") << "11 is not 12";
  lines(bookmark(12));
  EXPECT_EQ(said(1), "open +a +b +c |12*");
  EXPECT_FALSE(log.timers.contains({fresh_list::late_timer, 2}));
}

/// A quiet watch never says that it has got there: its next bookmark is a minute away.
TEST_F(WatchCache, reads_the_list_itself_where_nothing_changes) {
  watching();
  list(1);
  present(12);
  fire(fresh_list::late_timer, 2);
  EXPECT_EQ(asked(), "/api/v1/pods?limit=500");
  answer(200, page({object("a", 5)}, 13, "more"));
  EXPECT_EQ(asked(), "/api/v1/pods?limit=500&continue=more");
  answer(200, page({object("c", 11)}, 13));
  EXPECT_EQ(said(1), "open +a +c |13*");
  EXPECT_EQ(log.open.size(), 1u) << "the watch goes on beside it";
  lines(event("ADDED", object("d", 14)));
  EXPECT_EQ(said(1), "+d");
}

TEST_F(WatchCache, passes_on_why_the_server_refuses_a_list) {
  watching();
  list(1);
  list(2);
  answer(403, R"({"message":"may not"})");
  EXPECT_EQ(said(1), R"(403 {"message":"may not"})");
  EXPECT_EQ(said(1), "");
  const auto id = open_one(false);
  log.close(id);
  hear(protocol::answer_unknown{id, "cut"});
  EXPECT_EQ(said(2), "unknown(cut)");
  EXPECT_EQ(pods.followers(), 0u);
}

TEST_F(WatchCache, lets_who_was_away_go_on_where_it_was) {
  watching();
  lines(event("ADDED", object("c", 11)) + event("ADDED", object("d", 12)));
  follow(1, 11);
  EXPECT_EQ(said(1), "open +d");
  follow(2, 12);
  EXPECT_EQ(said(2), "open");
}

TEST_F(WatchCache, has_who_knows_what_it_does_not_list_again) {
  watching();
  follow(1, 9);
  EXPECT_EQ(said(1).substr(0, 3), "410") << "before its first list";
  follow(2, 11);
  EXPECT_EQ(said(2).substr(0, 3), "410") << "it has not got there, and may never";
}

TEST_F(WatchCache, says_what_the_server_says_and_keeps_silent_while_it_is_silent) {
  watching();
  follow(1, 10);
  EXPECT_EQ(said(1), "open");
  lines(bookmark(15));
  EXPECT_EQ(said(1), "|15");
  lines(bookmark(15));
  EXPECT_EQ(said(1), "|15") << "a sign of life, with nothing new in it";
  now += 60s;
  EXPECT_EQ(said(1), "");
}

/// Upholds S12: nobody takes silence for peace.
TEST_F(WatchCache, cuts_off_all_who_follow_when_its_watch_breaks) {
  watching();
  follow(1, 10);
  EXPECT_EQ(said(1), "open");
  follow(2, 10);
  cut("the connection was closed");
  EXPECT_EQ(said(1), "closed(the bridge has lost its watch: the connection was closed)");
  EXPECT_EQ(said(2), "unknown(the bridge has lost its watch: the connection was closed)")
      << "it had not been told that it is open";
  follow(3, 10);
  EXPECT_EQ(said(3), "") << "nobody is let in meanwhile";
  fire(reflector::retry_timer);
  EXPECT_EQ(said(3), "");
  hear(protocol::stream_opened{watch()});
  EXPECT_EQ(said(3), "open");
}

TEST_F(WatchCache, cuts_off_all_who_follow_when_its_watch_falls_silent) {
  watching();
  follow(1, 10);
  EXPECT_EQ(said(1), "open");
  now += base::limits::view_stale_after;
  fire(reflector::stall_timer);
  EXPECT_EQ(said(1), "closed(the bridge has lost its watch: silent)");
}

TEST_F(WatchCache, goes_on_through_the_orderly_end_of_its_watch) {
  watching();
  follow(1, 10);
  lines(event("ADDED", object("c", 11)));
  EXPECT_EQ(said(1), "open +c");
  cut("");
  hear(protocol::stream_opened{watch()});
  lines(event("ADDED", object("d", 12)));
  EXPECT_EQ(said(1), "+d");
}

/// The list says what is there, and not in which order it came to be.
TEST_F(WatchCache, forgets_its_history_with_every_list_of_its_own) {
  watching();
  lines(event("ADDED", object("c", 11)));
  follow(1, 11);
  EXPECT_EQ(said(1), "open");
  lines(event("ERROR", R"({"code":410,"reason":"Expired"})"));
  EXPECT_EQ(said(1).substr(0, 6), "closed");
  follow(2, 11);
  fire(reflector::retry_timer);
  hear(protocol::stream_opened{watch()});
  lines(event("ADDED", object("b", 20)));
  EXPECT_EQ(said(2), "") << "half a list is none";
  lines(bookmark(21, true));
  EXPECT_EQ(said(2).substr(0, 3), "410");
  list(3);
  present(21);
  EXPECT_EQ(said(3), "open +b |21*");
}

TEST_F(WatchCache, lets_the_slow_fall_behind_and_tells_them) {
  watching();
  follow(1, 10);
  EXPECT_EQ(said(1), "open");
  for (int i = 0; i < 40; ++i) {
    lines(event("ADDED", object(fmt::format("p{}", i), 11 + i)));
    EXPECT_LE(pods.history_bytes(), 4000u);
  }
  EXPECT_EQ(said(1), "410! closed()");
  EXPECT_EQ(pods.followers(), 0u);
}

TEST_F(WatchCache, tells_a_long_list_in_pieces) {
  watching();
  list(1);
  present(10);
  EXPECT_EQ(in_words(*pods.next(1, 1), 1), "open");
  EXPECT_EQ(in_words(*pods.next(1, 1), 1), "+a");
  lines(event("DELETED", object("b", 11)));
  EXPECT_EQ(in_words(*pods.next(1, 1), 1), "+b |10*");
  EXPECT_EQ(said(1, 1), "-b");
}

TEST_F(WatchCache, keeps_nothing_for_who_has_left) {
  watching();
  list(1);
  pods.leave(1);
  present(10);
  EXPECT_EQ(said(1), "");
  EXPECT_EQ(pods.followers(), 0u);
  list(2);
  present(10);
  EXPECT_EQ(said(2), "open +a +b |10*");
}

TEST_F(WatchCache, lists_a_name_that_came_again_as_gone_and_come) {
  watching();
  follow(1, 10);
  lines(event("ADDED", object("a", 11, "another")));
  EXPECT_EQ(said(1), "open -a +a");
}

TEST(WatchWish, is_a_watch_of_a_whole_collection) {
  const auto wish = [](std::string target, bool is_stream = true) {
    protocol::http_request x{.method = "GET", .target = std::move(target)};
    x.is_stream = is_stream;
    return watch_wish_of(x);
  };
  const auto lists = wish("/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                          "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
  ASSERT_TRUE(lists);
  EXPECT_EQ(lists->path, "/api/v1/pods");
  EXPECT_TRUE(lists->lists);
  const auto after = wish("/apis/scheduling.k8s.io/v1beta1/podgroups?watch=true"
                          "&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=300");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->version, "12");
  const std::string whole = "?watch=true&allowWatchBookmarks=true&resourceVersion=12";
  EXPECT_FALSE(wish("/api/v1/namespaces/ns/pods" + whole));
  EXPECT_FALSE(wish("/api/v1/pods/a" + whole));
  EXPECT_FALSE(wish("/api/v1/pods" + whole + "&labelSelector=a"));
  EXPECT_FALSE(wish("/api/v1/pods?watch=true&allowWatchBookmarks=true"));
  EXPECT_FALSE(wish("/api/v1/pods?watch=true&resourceVersion=12"));
  EXPECT_FALSE(wish("/api/v1/pods" + whole, false)) << "a list goes to the server";
  EXPECT_FALSE(wish("/api/v1/po\"ds" + whole));
}

} // namespace
} // namespace tutti::bridge
