// What happens to pods by itself: running, ending, vanishing; and to the groups they leave behind.
#include "sim/api_server/run_for.hpp"
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

using Kubelet = ApiServer;
using namespace std::chrono_literals;

TEST_F(Kubelet, runs_a_bound_pod_with_one_write) {
  make_node("n1");
  pass(0s); // the node is reported as ready
  make_pod("a");
  bind("a", "n1");
  auto before = plane->objects().last();
  pass(0s);
  EXPECT_EQ(plane->objects().last(), before + 1);
  auto pod = get(pod_path("a"));
  EXPECT_EQ(pod.text("/status/phase"), "Running");
  EXPECT_EQ(pod.text("/status/containerStatuses/0/ready"), "true");
  pass(1h);
  EXPECT_EQ(plane->objects().last(), before + 1);
  EXPECT_EQ(plane->pending_work(), 0u);
}

TEST_F(Kubelet, reports_a_node_as_ready_with_one_write) {
  make_node("n1");
  auto before = plane->objects().last();
  pass(0s);
  EXPECT_EQ(plane->objects().last(), before + 1);
  auto node = get("/api/v1/nodes/n1");
  EXPECT_EQ(node.text("/status/conditions/0/type"), "Ready");
  EXPECT_EQ(node.text("/status/conditions/0/status"), "True");
  pass(1h);
  EXPECT_EQ(plane->objects().last(), before + 1);
}

TEST_F(Kubelet, does_not_run_a_pod_on_a_node_that_does_not_exist_until_it_does) {
  make_pod("a");
  bind("a", "n1");
  pass(1s);
  EXPECT_EQ(get(pod_path("a")).text("/status/phase"), "Pending");
  make_node("n1");
  pass(1s);
  EXPECT_EQ(get(pod_path("a")).text("/status/phase"), "Running");
}

TEST_F(Kubelet, ends_a_pod_after_its_time) {
  make_node("n1");
  make_pod("a", "", R"(,"annotations":{"tutti.dev/run-for":"1m30s"})");
  bind("a", "n1");
  pass(0s);
  EXPECT_EQ(plane->pending_work(), 1u);
  ASSERT_TRUE(plane->next_deadline());
  EXPECT_EQ(*plane->next_deadline(), clock.now() + 90s);
  pass(89s);
  EXPECT_EQ(get(pod_path("a")).text("/status/phase"), "Running");
  pass(1s);
  EXPECT_EQ(get(pod_path("a")).text("/status/phase"), "Succeeded");
  EXPECT_EQ(plane->pending_work(), 0u);
}

TEST_F(Kubelet, lets_a_deleted_pod_live_through_its_grace) {
  make_node("n1");
  make_pod("a", R"(,"terminationGracePeriodSeconds":10)");
  bind("a", "n1");
  pass(0s);
  auto r = remove(pod_path("a"));
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.text("/metadata/deletionGracePeriodSeconds"), "10");
  EXPECT_EQ(r.text("/metadata/generation"), "2");
  pass(0s);
  pass(9s);
  EXPECT_EQ(get(pod_path("a")).status, 200);
  pass(1s);
  EXPECT_EQ(get(pod_path("a")).status, 404);
}

TEST_F(Kubelet, a_second_delete_can_only_shorten_the_grace) {
  make_node("n1");
  make_pod("a", R"(,"terminationGracePeriodSeconds":100)");
  bind("a", "n1");
  pass(0s);
  remove(pod_path("a"));
  remove(pod_path("a"), R"({"gracePeriodSeconds":500})");
  pass(1s);
  remove(pod_path("a"), R"({"gracePeriodSeconds":5})");
  pass(0s);
  pass(5s);
  EXPECT_EQ(get(pod_path("a")).status, 404);
}

TEST_F(Kubelet, an_unbound_pod_and_a_delete_without_grace_vanish_at_once) {
  make_node("n1");
  make_pod("a");
  make_pod("b");
  bind("b", "n1");
  auto r = remove(pod_path("a"));
  EXPECT_EQ(r.text("/metadata/deletionGracePeriodSeconds"), "0");
  EXPECT_EQ(get(pod_path("a")).status, 404);
  remove(pod_path("b"), R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(get(pod_path("b")).status, 404);
}

TEST_F(Kubelet, a_group_exists_while_its_pods_live) {
  make_node("n1");
  auto made = make_group("g");
  EXPECT_EQ(made.text("/metadata/finalizers/0"), "scheduling.k8s.io/podgroup-protection");
  make_pod("a", R"(,"schedulingGroup":{"podGroupName":"g"})");
  bind("a", "n1");
  pass(0s);
  auto path = std::string{groups} + "/g";
  EXPECT_EQ(remove(path).status, 200);
  pass(1s);
  EXPECT_NE(get(path).text("/metadata/deletionTimestamp"), "");
  merge(pod_path("a") + "/status", R"({"status":{"phase":"Succeeded"}})");
  pass(1s);
  EXPECT_EQ(get(path).status, 404);
}

TEST_F(Kubelet, a_group_without_pods_goes_at_once) {
  make_group("g");
  remove(std::string{groups} + "/g");
  pass(0s);
  EXPECT_EQ(get(std::string{groups} + "/g").status, 404);
}

TEST_F(Kubelet, a_namespace_takes_its_contents_with_it) {
  post("/api/v1/namespaces", R"({"metadata":{"name":"lab"}})");
  auto made = post("/api/v1/namespaces/lab/pods",
                   R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(remove("/api/v1/namespaces/lab").text("/status/phase"), "Terminating");
  pass(0s);
  EXPECT_EQ(get("/api/v1/namespaces/lab/pods/a").status, 404);
  EXPECT_EQ(get("/api/v1/namespaces/lab").status, 404);
}

TEST_F(Kubelet, catches_up_when_more_happens_at_once_than_the_window_holds) {
  control_plane::options o;
  o.keeps.events_max = 3;
  start(o);
  make_node("n1");
  make_group("g");
  for (auto name : {"a", "b", "c", "d", "e"}) {
    make_pod(name, R"(,"schedulingGroup":{"podGroupName":"g"})");
    bind(name, "n1");
  }
  pass(0s);
  for (auto name : {"a", "b", "c", "d", "e"}) {
    EXPECT_EQ(get(pod_path(name)).text("/status/phase"), "Running") << name;
    remove(pod_path(name), R"({"gracePeriodSeconds":0})");
  }
  remove(std::string{groups} + "/g");
  pass(0s);
  EXPECT_EQ(get(std::string{groups} + "/g").status, 404);
  EXPECT_EQ(plane->pending_work(), 0u);
}

TEST_F(Kubelet, counts_the_time_of_a_pod_from_its_start_also_after_a_restart) {
  make_node("n1");
  make_pod("a", "", R"(,"annotations":{"tutti.dev/run-for":"60s"})");
  bind("a", "n1");
  pass(0s);
  pass(40s);
  control_plane again{{}, clock}; // a new process with what the old one left behind
  for (auto kind : {kind_id::namespaces, kind_id::nodes, kind_id::pods})
    for (const auto& [key, x] : plane->objects().all(kind))
      again.objects().restore(kind, x);
  again.objects().restored(plane->objects().last());
  again.begin();
  ASSERT_TRUE(again.next_deadline());
  EXPECT_EQ(*again.next_deadline(), clock.now() + 20s);
}

TEST_F(Kubelet, a_time_that_is_none_is_refused_with_what_is_allowed) {
  auto r = post(pods, R"({"metadata":{"name":"a","annotations":{"tutti.dev/run-for":"2x"}},)"
                      R"("spec":{"containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.text("/details/causes/0/field"), "metadata.annotations[tutti.dev/run-for]");
  EXPECT_EQ(r.text("/details/causes/0/message"),
            "Invalid value: \"2x\": must be a positive duration of hours, minutes, seconds or "
            "milliseconds, such as \"30s\", \"1m30s\", \"1.5h\" or \"500ms\", and at most a "
            "century");
  EXPECT_EQ(get(pod_path("a")).status, 404);
  make_pod("a");
  const auto path = pod_path("a");
  const auto patched = [&](const std::string& text) {
    return merge(path, R"({"metadata":{"annotations":{"tutti.dev/run-for":")" + text + R"("}}})")
        .status;
  };
  EXPECT_EQ(patched("-1s"), 422);
  EXPECT_EQ(patched("5s"), 200);
}

TEST_F(Kubelet, an_eviction_obeys_the_budget) {
  make_pod("a", "", R"(,"labels":{"app":"x"})");
  post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
       R"({"metadata":{"name":"b"},"spec":{"minAvailable":1,)"
       R"("selector":{"matchLabels":{"app":"x"}}}})");
  auto path = pod_path("a") + "/eviction";
  auto r = post(path, R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(r.status, 429);
  EXPECT_EQ(r.text("/reason"), "TooManyRequests");
  merge("/apis/policy/v1/namespaces/default/poddisruptionbudgets/b/status",
        R"({"status":{"disruptionsAllowed":1}})");
  EXPECT_EQ(post(path, R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(get(pod_path("a")).status, 404);
}

TEST(Durations, are_read_as_go_writes_them) {
  EXPECT_EQ(parse_duration("30s"), base::duration{30s});
  EXPECT_EQ(parse_duration("1m30s"), base::duration{90s});
  EXPECT_EQ(parse_duration("1.5h"), base::duration{90min});
  EXPECT_EQ(parse_duration("500ms"), base::duration{500ms});
  for (auto text : {"", "30", "s", "-5s", "1d", "0s", "1e9h"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

} // namespace tutti::sim::api_server::testing
