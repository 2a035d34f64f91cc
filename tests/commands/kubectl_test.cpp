// kubectl, where there is one, against the API that `tutti local --listen` serves.
#include <algorithm>
#include <csignal>
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
  process begin(arguments what) {
    what.insert(what.begin(),
                {"kubectl", "--server", "http://127.0.0.1:" + std::to_string(one_->api().port()),
                 "--cache-dir", home_.sub("cache")});
    return process{{what, {{"KUBECONFIG", home_.sub("none")}, {"HOME", home_.path()}}}};
  }
  outcome kubectl(arguments what) {
    auto child = begin(std::move(what));
    const auto how = child.wait();
    EXPECT_TRUE(how) << "kubectl does not end\n" << child.err();
    return {how.value_or(ending{}), child.out(), child.err()};
  }

  static void expect_says(const outcome& seen, const std::vector<std::string>& words) {
    EXPECT_EQ(seen.code(), 0) << seen.err;
    for (const auto& word : words)
      EXPECT_NE(seen.out.find(word), std::string::npos) << "lacks " << word << ":\n" << seen.out;
  }

  /// Lines of its output that begin with `name` and contain `word`.
  static std::ptrdiff_t lines(const process& watch, const std::string& name,
                              const std::string& word) {
    std::istringstream in{watch.out()};
    std::ptrdiff_t out = 0;
    for (std::string line; std::getline(in, line);)
      out += line.starts_with(name + " ") && line.find(word) != line.npos ? 1 : 0;
    return out;
  }
  static void expect_line(const process& watch, const std::string& name, const std::string& word) {
    EXPECT_TRUE(eventually([&] { return lines(watch, name, word) > 0; }))
        << "no line of " << name << " with " << word << ":\n"
        << watch.out() << watch.err();
  }

  temp_dir home_;
  std::optional<daemon> one_;
};

TEST_F(Kubectl, watches_pods_come_change_and_go) {
  auto watch = begin({"get", "pods", "-w"});
  expect_line(watch, "too-wide-2", "Pending");
  expect_says(kubectl({"apply", "-f", home_.file("pair.yaml", manifest(gang_text{"pair"}))}),
              {"pod/pair-1 created"});
  for (const auto* pod : {"pair-0", "pair-1"}) {
    expect_line(watch, pod, "Pending");
    expect_line(watch, pod, "Running");
  }
  EXPECT_EQ(kubectl({"delete", "pod", "pair-0", "--grace-period=1"}).code(), 0);
  expect_line(watch, "pair-0", "Terminating");
  EXPECT_EQ(lines(watch, "pair-1", "Terminating"), 0) << watch.out();
  EXPECT_EQ(lines(watch, "NAME", "STATUS"), 1) << watch.out();
  EXPECT_TRUE(watch.is_running()) << watch.err();
  one_->stop();
  EXPECT_EQ(watch.wait(), (ending{0, 0})) << watch.err();
  EXPECT_EQ(watch.err(), "");
}

TEST_F(Kubectl, watches_pod_groups_come_change_and_go) {
  auto watch = begin({"get", "podgroups", "-w", "--output-watch-events"});
  expect_line(watch, "ADDED", "too-wide ");
  expect_says(kubectl({"apply", "-f", home_.file("pair.yaml", manifest(gang_text{"pair"}))}),
              {"pair created"});
  expect_line(watch, "ADDED", "pair ");
  expect_line(watch, "MODIFIED", "Scheduled");
  EXPECT_EQ(kubectl({"delete", "pod", "pair-0", "pair-1", "--grace-period=1"}).code(), 0);
  EXPECT_EQ(kubectl({"delete", "podgroup", "pair"}).code(), 0);
  expect_line(watch, "DELETED", "pair ");
  one_->stop();
  EXPECT_EQ(watch.wait(), (ending{0, 0})) << watch.err();
}

TEST_F(Kubectl, watches_until_its_time_is_over_and_ends_well) {
  const auto seen = kubectl({"get", "pods", "-w", "--request-timeout=1s"});
  expect_says(seen, {"NAME", "ring-0", "too-wide-2"});
  EXPECT_EQ(seen.err, "");
}

TEST_F(Kubectl, applies_a_list_which_it_looks_up_in_the_older_openapi) {
  const auto list = home_.file("list.yaml", R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: extra}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
  data: {a: b}
)");
  const auto seen = kubectl({"apply", "-f", list});
  expect_says(seen, {"node/extra created", "configmap/settings created"});
  EXPECT_EQ(seen.err, "");
  const auto wrong = home_.file("wrong.yaml", "apiVersion: v1\nkind: List\nitems:\n"
                                              "- {apiVersion: v1, kind: Node, metadata: {name: x}, "
                                              "spec: {unschedulabel: true}}\n");
  const auto refused = kubectl({"apply", "-f", wrong});
  EXPECT_EQ(refused.code(), 1);
  EXPECT_NE(refused.err.find("unknown field \"spec.unschedulabel\""), std::string::npos)
      << refused.err;
}

TEST_F(Kubectl, warns_of_nothing_in_daily_work) {
  const auto file = home_.file("pair.yaml", manifest(gang_text{"pair"}));
  for (const arguments& what :
       {arguments{"apply", "-f", file}, arguments{"apply", "-f", file}, arguments{"get", "nodes"},
        arguments{"get", "pods", "-o", "wide", "-A"}, arguments{"describe", "node", "n1"},
        arguments{"describe", "pod", "pair-0"}, arguments{"describe", "podgroup", "pair"},
        arguments{"label", "node", "n1", "zone=a"},
        arguments{"explain", "podgroup.spec.schedulingPolicy"},
        arguments{"delete", "-f", file, "--grace-period=1"}}) {
    const auto seen = kubectl(what);
    EXPECT_EQ(seen.code(), 0) << what.front();
    EXPECT_EQ(seen.err, "") << what.front();
  }
}

TEST_F(Kubectl, is_told_that_it_may_do_everything) {
  const auto seen = kubectl({"auth", "can-i", "create", "pods"});
  expect_says(seen, {"yes"});
  EXPECT_EQ(seen.err, "");
}

TEST_F(Kubectl, lists_nodes_pods_and_pod_groups) {
  const auto nodes = kubectl({"get", "nodes"});
  expect_says(nodes, {"NAME", "STATUS", "n1", "Ready", "n6"});
  EXPECT_EQ(nodes.out.find("Unknown"), std::string::npos) << nodes.out;
  expect_says(kubectl({"get", "pods", "-o", "wide"}),
              {"ring-0", "Running", "too-wide-2", "Pending"});
  expect_says(kubectl({"get", "podgroups"}), {"ring", "rack-mates", "too-wide"});
}

TEST_F(Kubectl, lists_events_by_their_old_and_new_times) {
  EXPECT_TRUE(eventually([&] {
    const auto seen = kubectl({"get", "events"}).out;
    return seen.find("FailedScheduling") != seen.npos && seen.find("pod/ring-0") != seen.npos;
  }));
  for (const auto* by : {".lastTimestamp", ".firstTimestamp", ".metadata.creationTimestamp"})
    expect_says(kubectl({"get", "events", "--sort-by", by}),
                {"FailedScheduling", "podgroup/too-wide", "Scheduled", "pod/ring-0"});
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
