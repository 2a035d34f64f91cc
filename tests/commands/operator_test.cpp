// What an operator says to a running scheduler and what it answers: trace, retry, cancel, version,
// completion.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "golden.hpp"
#include "manifests.hpp"
#include "relay.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

/// A gang of one member, whole at once, so that it is tried once and its story is always the same.
void create_lone(const api_client& api, const std::string& name, int cpu) {
  const std::string spaces = "/namespaces/default/";
  const auto group = fmt::format(
      R"({{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata":
      {{"name": "{}"}}, "spec": {{"schedulingPolicy": {{"gang": {{"minCount": 1}}}}}}}})",
      name);
  const auto pod = fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod", "metadata": {{"name": "{0}-0"}}, "spec":
      {{"schedulingGroup": {{"podGroupName": "{0}"}}, "containers": [{{"name": "main", "image":
      "work", "resources": {{"requests": {{"cpu": "{1}"}}}}}}]}}}})",
      name, cpu);
  EXPECT_EQ(api.post("/apis/scheduling.k8s.io/v1beta1" + spaces + "podgroups", group).status, 201);
  EXPECT_EQ(api.post("/api/v1" + spaces + "pods", pod).status, 201);
}

/// One node of 8 CPUs; gang `fits` is bound on it, gang `wide` never fits.
struct Operator : testing::Test {
  temp_dir home_;
  daemon one_{{.what = {"-f", home_.file("world.yaml", manifest(node_text{"n1", "r1", 8}))},
               .listens = true}};

  void SetUp() override {
    one_.settle();
    create_lone(one_.api(), "fits", 1);
    EXPECT_TRUE(comes({"trace", "gang", "fits"}, "queue.bound"));
    create_lone(one_.api(), "wide", 9);
    EXPECT_TRUE(comes({"get", "gangs"}, "NeverFits"));
    one_.settle();
  }
  void TearDown() override { one_.stop(); }

  bool comes(const arguments& verb, const std::string& word) const {
    return eventually([&] { return one_.ask(verb).out.find(word) != std::string::npos; });
  }
  void expect(const arguments& verb, const std::string& golden, int code = 0) const {
    const auto said = one_.ask(verb);
    EXPECT_EQ(said.code(), code) << said.err;
    expect_golden(golden, said.out + said.err);
  }
};

TEST_F(Operator, is_told_every_step_of_a_gang) {
  expect({"trace", "gang", "fits"}, "trace-bound.txt");
  expect({"trace", "gang", "wide"}, "trace-refused.txt");
  expect({"trace", "gang", "nobody"}, "trace-nobody.txt", 1);
}

TEST_F(Operator, has_a_gang_tried_now) {
  expect({"retry", "gang", "wide"}, "retry-queued.txt");
  expect({"retry", "gang", "fits"}, "retry-bound.txt");
  expect({"retry", "gang", "nobody"}, "retry-nobody.txt", 1);
}

TEST_F(Operator, cannot_take_back_what_is_not_under_way) {
  expect({"cancel", "gang", "fits", "--reason", "by mistake"}, "cancel-bound.txt", 1);
  expect({"cancel", "gang", "wide", "--reason", "by mistake"}, "cancel-queued.txt", 1);
  expect({"cancel", "gang", "nobody", "--reason", "by mistake"}, "cancel-nobody.txt", 1);
  expect({"cancel", "gang", "wide", "--reason", " "}, "cancel-blank-reason.txt", 1);
  expect({"cancel", "gang", "wide"}, "cancel-without-reason.txt", 2);
}

/// Its Bindings do not get through, so it is decided and nobody is bound.
TEST(OperatorAlone, takes_back_what_is_decided_and_not_bound) {
  temp_dir home;
  const auto world = home.file("world.yaml", nodes_in_racks(2) + manifest(gang_text{"ring"}));
  daemon api{{.what = {"--serve-only", "-f", world}, .listens = true, .has_admin = false}};
  relay between{api.api().port()};
  between.keep_bindings(true);
  daemon scheduler{{.what = {"--server", between.address(), "--data-dir", home.sub("data")}}};
  ASSERT_TRUE(eventually([&] { return between.kept() == 2; })) << scheduler.itself().err();
  outcome said;
  EXPECT_TRUE(eventually([&] { // a member that is being posted at this moment is not given up
    said = scheduler.ask({"cancel", "gang", "ring", "--reason", "by mistake"});
    return said.code() == 0;
  })) << said.err;
  expect_golden("cancel-done.txt", said.out + said.err);
  EXPECT_TRUE(eventually([&] {
    return api.api().get("/api/v1/namespaces/default/events").body.find("by mistake")
           != std::string::npos;
  }));
  scheduler.stop();
  api.stop();
}

TEST_F(Operator, sees_both_versions) {
  expect({"version"}, "version.txt");
  expect({"version", "-o", "json"}, "version.json");
  expect({"version", "-o", "yaml"}, "version.yaml");
  expect({"version", "--client"}, "version-client.txt");
}

TEST(OperatorAlone, sees_the_version_where_nobody_answers) {
  const auto said = run({"version"}); // of a port that nobody listens on
  EXPECT_EQ(said.code(), 0) << said.err;
  expect_golden("version-alone.txt", said.out + said.err);
}

TEST(OperatorAlone, gets_completion_for_three_shells) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const auto said = run({"completion", shell});
    EXPECT_EQ(said.code(), 0) << said.err;
    expect_golden("completion-" + shell + ".txt", said.out + said.err);
  }
  const auto other = run({"completion", "tcsh"});
  EXPECT_EQ(other.code(), 2);
  expect_golden("completion-tcsh.txt", other.out + other.err);
}

} // namespace
} // namespace tutti::commands
