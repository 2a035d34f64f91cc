// Binding as a scheduler sees it: every answer that a real server gives.
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

using Binding = ApiServer;

TEST_F(Binding, assigns_the_node_and_says_so_in_the_condition) {
  make_pod("a");
  auto r = bind("a", "n1");
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(r.text("/status"), "Success");
  auto pod = get(pod_path("a"));
  EXPECT_EQ(pod.text("/spec/nodeName"), "n1");
  EXPECT_EQ(pod.text("/status/conditions/0/type"), "PodScheduled");
  EXPECT_EQ(pod.text("/status/conditions/0/status"), "True");
  EXPECT_EQ(pod.text("/metadata/generation"), "1") << "a binding is no change of the spec";
}

TEST_F(Binding, accepts_a_node_that_does_not_exist) {
  make_pod("a");
  EXPECT_EQ(bind("a", "ghost").status, 201);
}

TEST_F(Binding, refuses_a_pod_that_has_a_node_even_the_same_one) {
  make_pod("a");
  ASSERT_EQ(bind("a", "n1").status, 201);
  auto r = bind("a", "n1");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.text("/reason"), "Conflict");
  EXPECT_EQ(r.message(), "Operation cannot be fulfilled on pods/binding \"a\": pod a is already "
                         "assigned to node \"n1\"");
}

TEST_F(Binding, refuses_a_gated_pod) {
  make_pod("a", R"(,"schedulingGates":[{"name":"example.com/wait"}])");
  auto r = bind("a", "n1");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.message(), "Operation cannot be fulfilled on pods/binding \"a\": pod a has non-empty "
                         ".spec.schedulingGates");
}

TEST_F(Binding, refuses_a_pod_that_is_being_deleted) {
  make_pod("a", "", R"(,"finalizers":["example.com/hold"])");
  ASSERT_EQ(remove(pod_path("a")).status, 200);
  auto r = bind("a", "n1");
  EXPECT_EQ(r.status, 409);
  EXPECT_EQ(r.message(), "Operation cannot be fulfilled on pods/binding \"a\": pod a is being "
                         "deleted, cannot be assigned to a host");
}

TEST_F(Binding, keeps_its_preconditions) {
  auto made = make_pod("a");
  auto other = bind("a", "n1", R"(,"uid":"00000000-0000-0000-0000-000000000000")");
  EXPECT_EQ(other.status, 409);
  EXPECT_NE(other.message().find("Precondition failed: UID in precondition"), std::string::npos);
  auto old = bind("a", "n1", R"(,"resourceVersion":"1")");
  EXPECT_EQ(old.status, 409);
  EXPECT_NE(old.message().find("ResourceVersion in precondition: 1"), std::string::npos);
  auto good = bind("a", "n1",
                   R"(,"uid":")" + made.text("/metadata/uid") + R"(","resourceVersion":")"
                       + made.revision() + "\"");
  EXPECT_EQ(good.status, 201);
}

TEST_F(Binding, answers_404_for_no_such_pod_400_for_another_name_500_for_no_node) {
  make_pod("a");
  auto missing = bind("b", "n1");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.message(), "pods \"b\" not found");
  auto renamed = post(pod_path("a") + "/binding",
                      R"({"metadata":{"name":"b"},"target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(renamed.status, 400);
  EXPECT_EQ(renamed.message(), "name in URL does not match name in Binding object");
  auto nowhere = bind("a", "");
  EXPECT_EQ(nowhere.status, 500);
  EXPECT_EQ(nowhere.message(), "target.name: Required value");
}

TEST_F(Binding, merges_annotations_and_labels_and_clears_the_nomination) {
  make_pod("a", "", R"(,"labels":{"app":"x"})");
  ASSERT_EQ(strategic(pod_path("a") + "/status", R"({"status":{"nominatedNodeName":"n2"}})").status,
            200);
  ASSERT_EQ(
      bind("a", "n1", R"(,"annotations":{"tutti.dev/attempt":"7"},"labels":{"rank":"0"})").status,
      201);
  auto pod = get(pod_path("a"));
  EXPECT_EQ(pod.text("/metadata/annotations/tutti.dev~1attempt"), "7");
  EXPECT_EQ(pod.text("/metadata/labels"), R"({"app":"x","rank":"0"})");
  EXPECT_EQ(pod.text("/status/nominatedNodeName"), "");
}

TEST_F(Binding, turns_a_false_condition_around_and_drops_its_reason) {
  make_pod("a");
  ASSERT_EQ(strategic(pod_path("a") + "/status",
                      R"({"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
                      R"("reason":"Unschedulable","message":"m"}]}})")
                .status,
            200);
  ASSERT_EQ(bind("a", "n1").status, 201);
  auto pod = get(pod_path("a"));
  EXPECT_EQ(pod.text("/status/conditions/0/status"), "True");
  EXPECT_EQ(pod.text("/status/conditions/0/reason"), "");
  EXPECT_EQ(pod.text("/status/conditions/1"), "");
}

TEST_F(Binding, a_dry_run_changes_nothing) {
  make_pod("a");
  auto before = plane->objects().last();
  auto r = post(pod_path("a") + "/binding?dryRun=All",
                R"({"metadata":{"name":"a"},"target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(r.status, 201);
  EXPECT_EQ(plane->objects().last(), before);
  EXPECT_EQ(get(pod_path("a")).text("/spec/nodeName"), "");
}

TEST_F(Binding, a_bound_pod_cannot_be_nominated) {
  make_pod("a");
  bind("a", "n1");
  auto r = strategic(pod_path("a") + "/status", R"({"status":{"nominatedNodeName":"n2"}})");
  EXPECT_EQ(r.status, 422);
  EXPECT_EQ(r.message(),
            "Pod \"a\" is invalid: status.nominatedNodeName: Forbidden: may not be set "
            "on pods that are already bound to a node");
}

} // namespace tutti::sim::api_server::testing
