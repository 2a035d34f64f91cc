// What the doorkeeper says of a server and of our credentials, and how often.
#include "cli/dialect_watch.hpp"
#include "cli/doorkeeper.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/bridge/mailbox.hpp"

namespace tutti::cli {
namespace {

using namespace std::chrono_literals;
using base::code;
using base::error;
using bridge::identity_ptr;
using bridge::mailbox;

/// Gives out what the test has put in front: identities, or why there is none.
struct moody final : bridge::identity_source {
  mailbox<base::result<identity_ptr>> next;

  identity_ptr known() const override { return nullptr; }
  base::result<identity_ptr> fetch(const identity_ptr& refused) override {
    return refused ? refused : next.pop();
  }
  void give_up() noexcept override {}
};

struct pretended_time final : base::clock {
  std::atomic<base::duration> passed{1h};
  base::time_point now() const override { return base::time_point{passed.load()}; }
  base::wall_time wall_now() const override { return {}; }
};

/// An open door to a server whose end of the connection the test holds.
struct Doorkeeper : testing::Test {
  std::shared_ptr<moody> who = std::make_shared<moody>();
  pretended_time time;
  mailbox<int> accepted;
  mailbox<protocol::event> heard;
  bool hangs_up = false;
  std::uint64_t last_id = 0;
  std::unique_ptr<doorkeeper> door =
      std::make_unique<doorkeeper>(bridge::connect_by_descriptor([this]() -> base::result<int> {
                                     int ends[2];
                                     if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
                                       return error{code::io, "socketpair"};
                                     if (hangs_up)
                                       ::close(ends[1]);
                                     else
                                       accepted.push(ends[1]);
                                     return ends[0];
                                   }),
                                   bridge::http_client::options{.who = who, .connections = 1},
                                   doorkeeper::words{"SERVER", "the hint of silence"}, time);
  int server = -1;

  void SetUp() override {
    door->open();
    testing::internal::CaptureStderr();
  }
  void TearDown() override {
    door.reset();
    testing::internal::GetCapturedStderr();
    if (server >= 0)
      ::close(server);
  }

  void ask() {
    door->start(++last_id, {.method = "GET", .target = "/x"},
                [this](protocol::event e) { heard.push(std::move(e)); });
  }
  void fail(const char* message) {
    who->next.push(error{code::unavailable, message, "HINT"});
    ask();
    EXPECT_TRUE(std::holds_alternative<protocol::answer_unknown>(heard.pop()));
  }
  void let_in() { who->next.push(std::make_shared<const bridge::identity>()); }
  /// Takes the next request; its target.
  std::string answer(int status, const std::string& body = {}) {
    if (server < 0)
      server = accepted.pop();
    std::array<char, 4096> asked;
    const auto n = ::read(server, asked.data(), asked.size());
    EXPECT_GT(n, 0);
    const auto said = "HTTP/1.1 " + std::to_string(status)
                      + " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(::send(server, said.data(), said.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(said.size()));
    const std::string head(asked.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    const auto from = head.find(' ') + 1;
    return head.substr(from, head.find(' ', from) - from);
  }
  void succeed(int status = 200) {
    let_in();
    ask();
    answer(status);
    EXPECT_TRUE(std::holds_alternative<protocol::answered>(heard.pop()));
  }
  /// What is known of a cluster of that release which serves `versions` of the group.
  /// `ours`: what it serves of our kinds.
  base::result<cluster_facts> facts_of(const std::string& release, const std::string& versions,
                                       const std::string& ours = "404") {
    for (int i = 0; i < 4; ++i)
      let_in();
    auto coming = std::async(std::launch::async, [this] { return door->ask(10s); });
    EXPECT_EQ(answer(200, R"({"gitVersion":")" + release + R"("})"), "/version");
    if (!versions.empty()) {
      EXPECT_EQ(answer(200, R"({"versions":[)" + versions + "]}"), "/apis/scheduling.k8s.io");
      EXPECT_EQ(answer(ours == "404" ? 404 : 200, ours), "/apis/tutti.dev/v1alpha1");
      answer(200, R"({"metadata":{"uid":"the-uid"}})");
    }
    return coming.get();
  }
  /// All that it has said up to now.
  std::string said() {
    auto out = testing::internal::GetCapturedStderr();
    testing::internal::CaptureStderr();
    return out;
  }
};

TEST_F(Doorkeeper, warns_of_a_program_that_fails) {
  fail("ended with 1");
  EXPECT_EQ(said(), "warning: SERVER: ended with 1\nhint: HINT\n");
}

TEST_F(Doorkeeper, warns_of_troubles_that_take_turns_once_each) {
  for (int i = 0; i < 3; ++i) {
    fail("A");
    fail("B");
  }
  EXPECT_EQ(said(), "warning: SERVER: A\nhint: HINT\nwarning: SERVER: B\nhint: HINT\n");
}

TEST_F(Doorkeeper, warns_of_an_answer_401_once) {
  succeed(401);
  time.passed = 2h;
  succeed(401);
  const auto all = said();
  EXPECT_EQ(all.rfind("warning: SERVER: the server does not know who we are (401)\nhint: ", 0), 0u)
      << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
}

TEST_F(Doorkeeper, warns_anew_after_an_answer_but_not_twice_in_a_minute) {
  fail("A");
  said();
  succeed();
  fail("A");
  EXPECT_EQ(said(), "") << "it was said a moment ago";
  time.passed = 1h + 1min;
  fail("A");
  EXPECT_EQ(said(), "") << "nobody has answered since";
  succeed();
  fail("A");
  EXPECT_EQ(said(), "warning: SERVER: A\nhint: HINT\n");
}

TEST_F(Doorkeeper, stops_warning_of_one_trouble_in_ever_other_words) {
  for (int i = 0; i < 40; ++i)
    fail(("request " + std::to_string(i)).c_str());
  const auto all = said();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2 * 16) << all;
}

TEST_F(Doorkeeper, has_the_hint_of_its_server_where_that_is_silent) {
  let_in();
  const auto facts = door->ask(50ms);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().what(), code::unavailable);
  EXPECT_EQ(facts.error().message(), "the API server at SERVER does not answer in time");
  EXPECT_EQ(facts.error().hint(), "the hint of silence");
}

TEST_F(Doorkeeper, names_no_flag_that_a_verb_may_not_have) {
  hangs_up = true;
  let_in();
  const auto facts = door->ask(10s);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().hint(), "start it, or name another API server");
}

/// What is served decides, not the number of the release: a later one is no error.
TEST_F(Doorkeeper, speaks_the_newest_dialect_it_knows_with_a_release_that_it_does_not_know) {
  const auto facts = facts_of("v1.42.0-alpha.1",
                              R"({"version":"v1"},{"version":"v1beta1"},{"version":"v1alpha3"})");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->kubernetes, "1.42");
  EXPECT_EQ(facts->spoken(), api::dialect::v1beta1);
  EXPECT_EQ(facts->uid, "the-uid");
}

TEST_F(Doorkeeper, knows_no_dialect_where_only_later_ones_are_served) {
  const auto facts = facts_of("v1.42.0", R"({"version":"v1"},{"version":"v2beta1"})", "404");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->spoken(), std::nullopt);
}

TEST_F(Doorkeeper, speaks_of_our_own_groups_where_the_cluster_has_no_others) {
  const auto facts =
      facts_of("v1.36.3", R"({"version":"v1"})",
               R"({"resources":[{"name":"podgroups"},{"name":"podgroups/status"}]})");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->spoken(), api::dialect::own);
}

TEST_F(Doorkeeper, prefers_the_clusters_own_groups_to_ours) {
  const auto facts = facts_of("v1.36.3", R"({"version":"v1"},{"version":"v1alpha2"})",
                              R"({"resources":[{"name":"podgroups"}]})");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->spoken(), api::dialect::v1alpha2);
  EXPECT_TRUE(facts->serves(api::dialect::own));
}

TEST_F(Doorkeeper, takes_no_other_kind_of_ours_for_groups) {
  const auto facts =
      facts_of("v1.36.3", R"({"version":"v1"})", R"({"resources":[{"name":"gangdecisions"}]})");
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->spoken(), std::nullopt);
}

TEST_F(Doorkeeper, refuses_a_release_without_groups_of_pods_by_its_name) {
  const auto facts = facts_of("v1.34.9", {});
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().message(), "the API server at SERVER is Kubernetes v1.34.9");
  EXPECT_EQ(facts.error().hint(), "this program speaks 1.35 and later");
}

/// Groups that vanish and come back while we run.
struct DialectWatch : Doorkeeper {
  dialect_watch watch{*door, api::dialect::v1alpha2};
  std::optional<error> judge(std::vector<api::dialect> served) {
    return watch.judge({.uid = "u", .kubernetes = "1.37", .served = std::move(served)});
  }
};

TEST_F(DialectWatch, does_not_mind_what_else_is_served) {
  for (int i = 0; i < 9; ++i)
    EXPECT_FALSE(judge({api::dialect::v1alpha2, api::dialect::v1beta1}));
}

TEST_F(DialectWatch, ends_the_process_when_another_has_taken_the_place_of_ours_for_good) {
  EXPECT_FALSE(judge({api::dialect::v1beta1}));
  EXPECT_FALSE(judge({api::dialect::v1beta1}));
  EXPECT_FALSE(judge({api::dialect::v1alpha2})) << "it was a server that started";
  EXPECT_FALSE(judge({api::dialect::v1beta1}));
  EXPECT_FALSE(judge({api::dialect::v1beta1}));
  const auto why = judge({api::dialect::v1beta1});
  ASSERT_TRUE(why);
  EXPECT_EQ(why->message(), "the API server speaks of groups of pods in scheduling.k8s.io/v1beta1 "
                            "now, and not in scheduling.k8s.io/v1alpha2 any more");
}

TEST_F(DialectWatch, waits_for_ours_to_come_back_where_there_is_no_other_and_says_so_once) {
  for (int i = 0; i < 9; ++i)
    EXPECT_FALSE(judge({}));
  EXPECT_TRUE(watch.is_away());
  const auto all = said();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
  EXPECT_FALSE(judge({api::dialect::v1alpha2}));
  EXPECT_FALSE(watch.is_away());
}

} // namespace
} // namespace tutti::cli
