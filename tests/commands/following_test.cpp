// Verbs that go on or change something while a scheduler runs: wait, get -w, retry; and the Events
// of each step.
#include <algorithm>
#include <csignal>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

TEST(Wait, goes_on_while_nobody_answers_and_says_so) {
  daemon first{{}};
  const auto address = first.admin();
  first.stop();
  auto waits = start({"wait", "--for", "settled", "--timeout", "12", "--server", address});
  const auto line = waits.line_with("trying again for 12 s");
  ASSERT_TRUE(line) << waits.err();
  EXPECT_NE(line->find("no scheduler answers at " + address), line->npos) << *line;
  auto second = start({"local", "--admin", address});
  const auto how = waits.wait();
  ASSERT_TRUE(how) << "still waits";
  EXPECT_EQ(*how, (ending{0, 0})) << waits.err();
  EXPECT_EQ(waits.out(), "settled\n");
  second.send(SIGTERM);
  EXPECT_TRUE(second.wait());
}

TEST(Wait, ends_with_1_when_nobody_answers_until_its_time_is_over) {
  for (const auto& verb :
       std::vector<arguments>{{"wait", "--for", "settled"}, {"wait", "gang/ring"}}) {
    auto all = verb;
    all.insert(all.end(), {"--timeout", "1"});
    const auto said = run(all);
    EXPECT_EQ(said.code(), 1);
    EXPECT_EQ(said.out, "");
    expect_golden("wait-nobody-answers.txt", said.err);
  }
}

TEST(Watch, prints_gangs_as_they_come_change_and_go) {
  temp_dir home;
  daemon one{{.what = {"-f", home.file("nodes.yaml", nodes_in_racks(2))}, .listens = true}};
  auto watch = start({"get", "gangs", "-w", "--server", one.admin()});
  const std::string pods = "/api/v1/namespaces/default/pods";
  const auto made = one.api().post(pods, R"({"apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "alone"},
    "spec": {"containers": [{"name": "main", "image": "work"}]}})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto says = [&watch](const std::string& word) {
    return eventually([&] { return watch.out().find(word) != std::string::npos; });
  };
  ASSERT_TRUE(says(" Bound ")) << watch.out() << watch.err();
  EXPECT_EQ(one.api().remove(pods + "/alone").status, 200);
  ASSERT_TRUE(says(" Deleted ")) << watch.out();
  EXPECT_TRUE(watch.is_running());
  EXPECT_EQ(watch.out().rfind("NAME ", 0), 0u) << watch.out();
  EXPECT_EQ(watch.out().find("NAME ", 1), std::string::npos) << "titles once:\n" << watch.out();
  one.stop();
  const auto how = watch.wait();
  ASSERT_TRUE(how) << "nobody is left to watch";
  EXPECT_EQ(how->exit_code, 1);
  EXPECT_NE(watch.err().find("no scheduler answers"), std::string::npos) << watch.err();
}

TEST(Watch, is_for_gangs_only) {
  daemon one{{}};
  const auto said = one.ask({"get", "nodes", "-w"});
  EXPECT_EQ(said.code(), 1);
  EXPECT_EQ(said.err, "error: nodes cannot be watched\nhint: tutti get gangs -w\n");
  one.stop();
}

TEST(RetryVerb, has_a_gang_tried_at_once_and_says_so) {
  temp_dir home;
  const auto world =
      home.file("world.yaml", nodes_in_racks(1) + manifest(gang_text{.name = "big", .cpu = 3}));
  daemon one{{.what = {"-f", world}, .listens = true}};
  one.settle();
  const auto tries = [&one] {
    return boost::json::parse(one.ask({"explain", "gang", "big", "-o", "json"}).out)
        .at("attempts")
        .as_int64();
  };
  EXPECT_EQ(tries(), 1);
  const auto said = one.ask({"retry", "gang", "big"});
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_EQ(said.out, "gang/big is tried again\n");
  EXPECT_TRUE(eventually([&] { return tries() == 2; }));
  EXPECT_NE(one.ask({"trace", "gang", "big"}).out.find("queue.retried"), std::string::npos);
  EXPECT_TRUE(eventually([&] {
    return one.api().get("/api/v1/namespaces/default/events").body.find("GangRetried")
           != std::string::npos;
  }));
  const auto unknown = one.ask({"retry", "gang", "nobody"});
  EXPECT_EQ(unknown.code(), 1);
  EXPECT_NE(unknown.err.find("no gang default/nobody"), std::string::npos) << unknown.err;
  one.stop();
}

TEST(StepEvents, are_written_when_they_are_asked_for) {
  temp_dir home;
  const auto world = home.file("world.yaml", nodes_in_racks(1) + manifest(gang_text{"pair"}));
  const auto events_with = [&](arguments more) {
    more.insert(more.end(), {"-f", world});
    daemon one{{.what = more, .listens = true}};
    one.settle();
    EXPECT_TRUE(eventually([&] {
      return one.api().get("/api/v1/namespaces/default/events").body.find("GangBound")
             != std::string::npos;
    }));
    auto body = one.api().get("/api/v1/namespaces/default/events").body;
    one.stop();
    return body;
  };
  const auto with = events_with({"--step-events"}), without = events_with({});
  for (const char* reason : {"GangReserved", "GangCommitted"}) {
    EXPECT_NE(with.find(reason), with.npos) << reason;
    EXPECT_EQ(without.find(reason), without.npos) << reason;
  }
}

} // namespace
} // namespace tutti::commands
