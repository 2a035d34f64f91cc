// kubectl, where there is one, against the API that `tutti local --listen` serves.
#include <cstdlib>
#include <sstream>

#include <unistd.h>

#include <gtest/gtest.h>

#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

bool has_kubectl() {
  const char* all = std::getenv("PATH");
  std::istringstream folders{all == nullptr ? "" : all};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/kubectl").c_str(), X_OK) == 0)
      return true;
  return false;
}

class Kubectl : public testing::Test {
protected:
  void SetUp() override {
    if (!has_kubectl())
      GTEST_SKIP() << "kubectl is not on the PATH";
    one_.emplace(daemon::options{.what = {"-f", example("small")}, .listens = true});
    one_->settle();
  }
  void TearDown() override {
    if (one_)
      one_->stop();
  }

  /// Runs kubectl with a home of its own, so that no cluster of the user's is ever touched.
  outcome kubectl(arguments what) {
    what.insert(what.begin(),
                {"kubectl", "--server", "http://127.0.0.1:" + std::to_string(one_->api().port()),
                 "--cache-dir", home_.sub("cache")});
    process child{{what, {{"KUBECONFIG", home_.sub("none")}, {"HOME", home_.path()}}}};
    const auto how = child.wait();
    EXPECT_TRUE(how) << "kubectl does not end\n" << child.err();
    return {how.value_or(ending{}), child.out(), child.err()};
  }

  static void expect_says(const outcome& seen, const std::vector<std::string>& words) {
    EXPECT_EQ(seen.code(), 0) << seen.err;
    for (const auto& word : words)
      EXPECT_NE(seen.out.find(word), std::string::npos) << "lacks " << word << ":\n" << seen.out;
  }

  temp_dir home_;
  std::optional<daemon> one_;
};

TEST_F(Kubectl, lists_nodes_pods_and_pod_groups) {
  const auto nodes = kubectl({"get", "nodes"});
  expect_says(nodes, {"NAME", "STATUS", "n1", "Ready", "n6"});
  EXPECT_EQ(nodes.out.find("Unknown"), std::string::npos) << nodes.out;
  expect_says(kubectl({"get", "pods", "-o", "wide"}),
              {"ring-0", "Running", "too-wide-2", "Pending"});
  expect_says(kubectl({"get", "podgroups"}), {"ring", "rack-mates", "too-wide"});
}

TEST_F(Kubectl, describes_a_pod_that_waits_with_the_reason) {
  expect_says(kubectl({"describe", "pod", "too-wide-0"}), {"Pending", "PodScheduled   False"});
  expect_says(kubectl({"get", "pod", "too-wide-0", "-o", "jsonpath={.status.conditions[0]}"}),
              {"Unschedulable", "NeverFits", "2 of 3"});
  expect_says(kubectl({"describe", "podgroup", "too-wide"}),
              {"PodGroupInitiallyScheduled", "FailedScheduling", "NeverFits"});
}

TEST_F(Kubectl, describes_a_pod_that_runs_with_its_node) {
  expect_says(kubectl({"describe", "pod", "ring-0"}),
              {"Node:", "Running", "Scheduled", "Successfully assigned"});
}

TEST_F(Kubectl, applies_a_gang_and_sees_it_start) {
  const auto file = home_.file("pair.yaml", manifest(gang_text{"pair"}));
  expect_says(kubectl({"apply", "-f", file}), {"pair created", "pod/pair-0 created"});
  const auto waited = one_->ask({"wait", "gang/pair", "--timeout", "10"});
  EXPECT_EQ(waited.code(), 0) << waited.err;
  expect_says(kubectl({"wait", "pod/pair-0", "--for", "condition=PodScheduled", "--timeout=10s"}),
              {"pod/pair-0 condition met"});
  expect_says(kubectl({"apply", "-f", file}), {"pair unchanged"});
}

TEST_F(Kubectl, deletes_pods_and_their_room_is_free_again) {
  EXPECT_EQ(kubectl({"delete", "pod", "ring-0", "ring-1", "ring-2", "--grace-period=1"}).code(), 0);
  const auto file =
      home_.file("big.yaml", manifest(gang_text{.name = "big", .members = 4, .min = 4, .cpu = 8}));
  expect_says(kubectl({"apply", "-f", file}), {"big created"});
  const auto waited = one_->ask({"wait", "gang/big", "--timeout", "10"});
  EXPECT_EQ(waited.code(), 0) << waited.err << one_->ask({"explain", "gang", "big"}).out;
}

TEST_F(Kubectl, is_told_what_is_wrong_with_a_group) {
  const auto file = home_.file("bad.yaml", "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
                                           "metadata: {name: bad}\n"
                                           "spec: {schedulingPolicy: {gang: {minCount: 0}}}\n");
  const auto seen = kubectl({"apply", "-f", file});
  EXPECT_EQ(seen.code(), 1);
  EXPECT_NE(seen.err.find("spec.schedulingPolicy.gang.minCount"), std::string::npos) << seen.err;
}

} // namespace
} // namespace tutti::commands
