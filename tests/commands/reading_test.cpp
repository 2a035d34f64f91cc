// The verbs that ask a running scheduler, over a small cluster: what each of them prints.
#include <memory>
#include <utility>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

/// Placements that leave no choice: `ring` fits into rack r1 only, `pair` names rack r2.
std::string world() {
  const std::string rack = "example.com/rack";
  return manifest(node_text{"n1", "r1", 8}) + manifest(node_text{"n2", "r1", 8})
         + manifest(node_text{"n3", "r2", 4}) + manifest(priority_text{"high", 100})
         + manifest(gang_text{.name = "ring", .cpu = 6, .priority = "high", .topology = rack})
         + manifest(gang_text{.name = "pair",
                              .members = 3,
                              .priority = "high",
                              .more = ", nodeSelector: {" + rack + ": r2}"});
}

/// Comes when the others have their places, so that its numbers are always the same.
void create_too_wide(const api_client& api) {
  const std::string spaces = "/namespaces/default/";
  EXPECT_EQ(api.post("/apis/scheduling.k8s.io/v1beta1" + spaces + "podgroups", R"({
    "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "too-wide"},
    "spec": {"schedulingPolicy": {"gang": {"minCount": 3}},
             "schedulingConstraints": {"topology": [{"key": "example.com/rack"}]}}})")
                .status,
            201);
  for (const char* index : {"0", "1", "2"})
    EXPECT_EQ(api.post("/api/v1" + spaces + "pods", std::string{R"({
      "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "too-wide-)"}
                                                        + index + R"("},
      "spec": {"schedulingGroup": {"podGroupName": "too-wide"},
               "containers": [{"name": "main", "image": "work",
                               "resources": {"requests": {"cpu": "6"}}}]}})")
                  .status,
              201);
}

std::string text_at(const boost::json::object& x, const char* field) {
  return std::string{x.at(field).as_string()};
}

/// One daemon for all tests here: they only read.
class Reading : public testing::Test {
protected:
  static void SetUpTestSuite() {
    temp_dir home;
    const auto file = home.file("world.yaml", world());
    one_ = std::make_unique<daemon>(daemon::options{.what = {"-f", file}, .listens = true});
    one_->settle();
    create_too_wide(one_->api());
    EXPECT_TRUE(eventually([] {
      return one_->ask({"get", "gangs"}).out.find("NeverFits") != std::string::npos;
    }));
    one_->settle();
  }
  static void TearDownTestSuite() {
    one_->stop();
    one_.reset();
  }

  static void expect(const arguments& verb, const std::string& golden, int code = 0) {
    const auto said = one_->ask(verb);
    EXPECT_EQ(said.code(), code) << said.err;
    expect_golden(golden, said.out + said.err);
  }

  static void expect_in_order(const arguments& verb, const std::vector<std::string>& words) {
    const auto said = one_->ask(verb).out;
    std::size_t from = 0;
    for (const auto& word : words) {
      const auto at = said.find(word, from);
      EXPECT_NE(at, std::string::npos) << "lacks " << word << " at its place:\n" << said;
      from = at == std::string::npos ? from : at;
    }
  }

  static std::unique_ptr<daemon> one_;
};

std::unique_ptr<daemon> Reading::one_;

TEST_F(Reading, get_gangs_lists_name_phase_reason_and_age) {
  expect({"get", "gangs"}, "get-gangs.txt");
}

TEST_F(Reading, get_gangs_of_all_namespaces_begins_with_the_namespace) {
  expect({"get", "gangs", "-A"}, "get-gangs-all.txt");
}

TEST_F(Reading, get_gangs_of_a_namespace_without_any_says_so) {
  expect({"get", "gangs", "-n", "elsewhere"}, "get-gangs-elsewhere.txt");
}

TEST_F(Reading, get_gangs_wide_adds_attempts_and_detail) {
  expect({"get", "gangs", "-o", "wide"}, "get-gangs-wide.txt");
}

TEST_F(Reading, get_gangs_for_machines) {
  expect({"get", "gangs", "-o", "json"}, "get-gangs.json");
  expect({"get", "gangs", "-o", "yaml"}, "get-gangs.yaml");
  expect({"get", "gangs", "-o", "name"}, "get-gangs-name.txt");
}

TEST_F(Reading, lists_for_machines_are_typed_as_those_of_kubectl_and_say_null_for_nothing) {
  for (const auto& [noun, kind] : std::vector<std::pair<std::string, std::string>>{
           {"gangs", "Gang"}, {"nodes", "Node"}, {"shards", "Shard"}}) {
    const auto text = one_->ask({"get", noun, "-o", "json"}).out;
    const auto list = boost::json::parse(text).as_object();
    EXPECT_EQ(list.begin()->key(), "apiVersion") << "first, as a reader expects it";
    EXPECT_EQ(text_at(list, "apiVersion"), "tutti.dev/v1");
    EXPECT_EQ(text_at(list, "kind"), kind + "List");
    for (const auto& item : list.at("items").as_array()) {
      EXPECT_EQ(text_at(item.as_object(), "apiVersion"), "tutti.dev/v1");
      EXPECT_EQ(text_at(item.as_object(), "kind"), kind);
    }
    EXPECT_EQ(text.find("<none>"), text.npos) << noun;
    EXPECT_EQ(one_->ask({"get", noun, "-o", "yaml"}).out.find("<none>"), std::string::npos);
  }
  const auto ring = boost::json::parse(one_->ask({"explain", "gang", "ring", "-o", "json"}).out);
  EXPECT_TRUE(ring.at("reason").is_null());
}

TEST_F(Reading, get_nodes_shows_domains_pods_and_room) {
  expect({"get", "nodes"}, "get-nodes.txt");
  expect({"get", "nodes", "-o", "name"}, "get-nodes-name.txt");
  expect({"get", "nodes", "-o", "json"}, "get-nodes.json");
}

TEST_F(Reading, get_shards_shows_epochs_and_reservations) {
  expect({"get", "shards"}, "get-shards.txt");
  expect({"get", "shards", "-o", "name"}, "get-shards-name.txt");
}

TEST_F(Reading, get_reservations_is_a_list_though_nothing_is_held) {
  EXPECT_EQ(one_->ask({"get", "reservations"}).out,
            "GANG   ATTEMPT   SHARD   STATE   HELD   AGE\n");
  const auto list = boost::json::parse(one_->ask({"get", "reservations", "-o", "json"}).out);
  EXPECT_EQ(list.at("kind"), "ReservationList");
  EXPECT_TRUE(list.at("items").as_array().empty());
}

TEST_F(Reading, get_of_one_gang_lists_it_alone) {
  const auto expected = "gang/ring\n";
  for (const char* name : {"ring", "gang/ring", "default/ring"})
    EXPECT_EQ(one_->ask({"get", "gang", name, "-o", "name"}).out, expected) << name;
}

TEST_F(Reading, get_of_an_unknown_gang_says_where_the_others_are) {
  for (const arguments& what :
       {arguments{"get", "gang", "nobody"}, arguments{"get", "gangs", "ring", "-n", "elsewhere"}}) {
    const auto said = one_->ask(what);
    EXPECT_EQ(said.code(), 1);
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err.find("error: no gang "), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("hint: `tutti get gangs -A` lists them\n"), std::string::npos)
        << said.err;
  }
  const auto node = one_->ask({"get", "node", "n1"});
  EXPECT_EQ(node.code(), 1);
  EXPECT_EQ(node.err, "error: nodes are listed all together, not by name\nhint: tutti get nodes\n");
}

TEST_F(Reading, explain_trace_and_retry_of_an_unknown_gang_say_what_to_do) {
  for (const char* verb : {"explain", "trace", "retry"}) {
    const auto said = one_->ask({verb, "gang", "nobody"});
    EXPECT_EQ(said.code(), 1) << verb;
    EXPECT_NE(said.err.find("default/nobody"), std::string::npos) << said.err;
    EXPECT_NE(said.err.find("`tutti get gangs -A` lists"), std::string::npos) << said.err;
  }
}

TEST_F(Reading, get_of_something_else_is_wrong_usage) {
  expect({"get", "jobs"}, "get-jobs.txt", 2);
}

TEST_F(Reading, describe_shows_pods_and_past_attempts) {
  expect({"describe", "gang", "ring"}, "describe-ring.txt");
  expect({"describe", "gang", "too-wide"}, "describe-too-wide.txt");
}

TEST_F(Reading, describe_of_an_unknown_gang_is_an_error) {
  expect({"describe", "gang", "nobody"}, "describe-nobody.txt", 1);
}

TEST_F(Reading, explain_says_why_with_numbers) {
  expect({"explain", "gang", "too-wide"}, "explain-too-wide.txt");
  expect({"explain", "gang", "ring"}, "explain-ring.txt");
  expect({"explain", "gang", "default/ring"}, "explain-ring.txt");
}

TEST_F(Reading, trace_tells_the_way_to_the_decision_and_beyond) {
  expect_in_order({"trace", "gang", "ring"},
                  {"queue.tried", "members=2", "gang.planned", "seats=2 shards=1", "gang.vote",
                   "says=yes", "gang.decided", "gang.ack", "says=held", "gang.bound", "pod=ring-",
                   "node=n", "gang.over", "outcome=bound bound=2", "last attempt: decided after ",
                   ", over after "});
  expect_in_order({"trace", "gang", "too-wide"},
                  {"queue.tried", "gang.over", "outcome=refused bound=0 reason=NeverFits",
                   "last attempt: over after "});
}

TEST_F(Reading, all_that_is_read_of_one_thing_is_there_for_machines) {
  for (const auto& [verb, kind] :
       std::vector<std::pair<arguments, std::string>>{{{"describe", "gang", "ring"}, "Gang"},
                                                      {{"explain", "gang", "ring"}, "Gang"},
                                                      {{"trace", "gang", "ring"}, "Trace"},
                                                      {{"status"}, "Status"},
                                                      {{"top", "racks"}, "RackList"},
                                                      {{"version"}, "Version"}}) {
    const auto in = [&, what = verb](const char* format) {
      auto all = what;
      all.insert(all.end(), {"-o", format});
      return one_->ask(all);
    };
    EXPECT_NE(in("json").out.find("\"kind\": \"" + kind + "\""), std::string::npos) << kind;
    EXPECT_NE(in("yaml").out.find("kind: " + kind + "\n"), std::string::npos) << kind;
    EXPECT_EQ(in("wide").code(), 2) << kind;
    if (verb.size() == 3) {
      EXPECT_EQ(in("name").out, "gang/ring\n");
    }
  }
  EXPECT_EQ(one_->ask({"top", "racks", "-o", "name"}).out, "rack/r1\nrack/r2\n");
}

TEST_F(Reading, readiness_names_its_checks) {
  const auto at = one_->admin_client();
  EXPECT_EQ(at.get("/readyz").status, 200);
  EXPECT_EQ(at.get("/readyz").body, "ok\n");
  EXPECT_EQ(at.get("/readyz?verbose").body,
            "[+]watch-sync ok\n[+]watch-fresh ok\n[+]rights ok\n[+]journal-writable ok\n"
            "[+]decision-log ok\n[+]disk-space ok\n[+]queue ok\n[+]topology ok\n[+]shards ok\n"
            "readyz check passed\n");
  EXPECT_EQ(at.get("/readyz/decision-log").body, "ok\n");
  EXPECT_EQ(at.get("/readyz/shards?verbose").body, "[+]shards ok\nreadyz check passed\n");
  EXPECT_EQ(at.get("/readyz/weather").status, 404);
}

TEST_F(Reading, status_is_one_screen) {
  expect({"status"}, "status.txt");
}

TEST_F(Reading, top_racks_shows_use_and_a_bar_for_each) {
  expect({"top", "racks"}, "top-racks.txt");
}

TEST_F(Reading, wait_returns_when_the_gang_is_bound) {
  expect({"wait", "gang/ring", "--for", "bound", "--timeout", "5"}, "wait-bound.txt");
}

TEST_F(Reading, wait_returns_when_nothing_is_left_to_do) {
  expect({"wait", "--for", "settled", "--timeout", "5"}, "wait-settled.txt");
}

TEST_F(Reading, wait_that_is_in_vain_ends_with_1_and_says_what_the_gang_is) {
  expect({"wait", "gang/too-wide", "--timeout", "1"}, "wait-time-is-over.txt", 1);
}

TEST_F(Reading, wait_for_a_gang_that_is_not_there_says_so) {
  const auto said = one_->ask({"wait", "gang/nobody", "--timeout", "0"});
  EXPECT_EQ(said.code(), 1);
  EXPECT_NE(said.err.find("it is not there"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("hint: `tutti get gangs -A`"), std::string::npos) << said.err;
}

TEST_F(Reading, wait_without_a_name_is_wrong_usage) {
  expect({"wait"}, "wait-without-name.txt", 2);
}

TEST(ReadingNobody, says_that_no_scheduler_answers_and_what_to_do) {
  for (const auto& verb : std::vector<arguments>{{"get", "gangs"},
                                                 {"status"},
                                                 {"top", "racks"},
                                                 {"explain", "gang", "x"},
                                                 {"retry", "gang", "x"},
                                                 {"get", "gangs", "-w"}}) {
    const auto said = run(verb); // of a port that nobody listens on
    EXPECT_EQ(said.code(), 1) << verb.front();
    EXPECT_EQ(said.out, "");
    expect_golden("nobody-answers.txt", said.err);
  }
}

} // namespace
} // namespace tutti::commands
