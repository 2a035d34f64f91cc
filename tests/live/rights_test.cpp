// With which rights the scheduler works, and what it says if it lacks one.
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/live/audit.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::eventually;
using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;

class Rights : public Live {};

TEST_F(Rights, of_the_role_are_enough) {
  control_plane on;
  on.create(file_in_source("deploy/rbac.yaml") + given_to_plain_user("tutti"));
  on.create(
      nodes_in_racks(4)
      + manifest(commands::gang_text{
          .name = "trio", .members = 3, .min = 3, .more = ", schedulerName: tutti"})
      + manifest(commands::gang_text{
          .name = "huge", .members = 9, .min = 9, .cpu = 3, .more = ", schedulerName: tutti"}));
  daemon scheduler{{.what = {"--kubeconfig", on.kubeconfig("plain"), "--data-dir",
                             home_.sub("scheduler"), "--evict-degraded", "--repair-deadline", "1"},
                    .verb = "scheduler"}};
  expect_bound(scheduler, "trio");
  // One member goes and does not come back: the others are evicted.
  const std::string pods = "/api/v1/namespaces/default/pods/";
  EXPECT_EQ(on.api().remove(pods + "trio-0?gracePeriodSeconds=0").status, 200);
  EXPECT_TRUE(eventually([&] {
    const auto pod = on.api().get(pods + "trio-1").object();
    return pod.empty() || !pod.contains("metadata")
           || pod.at("metadata").as_object().contains("deletionTimestamp");
  })) << scheduler.ask({"explain", "gang", "trio"}).out;
  scheduler.stop();

  EXPECT_EQ(rights_missed(on.audit_log(), "plain-user"), std::set<std::string>{});
  // A watch is written down when the server has seen its end.
  for (const char* right : {"get namespaces", "watch nodes", "watch pods", "watch podgroups",
                            "get pods", "create pods/binding", "patch pods/status",
                            "patch podgroups/status", "create events", "delete pods"})
    EXPECT_TRUE(eventually([&] {
      return rights_used(on.audit_log(), "plain-user").contains(right);
    })) << right;
}

TEST_F(Rights, that_are_missing_are_named_and_nothing_is_lost_until_they_are_granted) {
  control_plane on;
  // All but what writes: Bindings and conditions.
  on.create(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
      "metadata: {name: reader}\nrules:\n"
      "- {apiGroups: [\"\"], resources: [namespaces, nodes, pods], verbs: [get, list, watch]}\n"
      "- {apiGroups: [scheduling.k8s.io], resources: [podgroups], verbs: [get, list, watch]}\n"
      + given_to_plain_user("reader"));
  on.create(nodes_in_racks(2) + manifest(our_gang("pair", 2, 1)));
  auto scheduler = start_scheduler(on, {}, "plain");
  const auto admin = scheduler.admin_client();
  EXPECT_TRUE(eventually([&] {
    return admin.get("/readyz/rights").body.find("create pods/binding") != std::string::npos;
  })) << admin.get("/readyz?verbose").body;
  EXPECT_EQ(admin.get("/readyz").status, 503);
  EXPECT_TRUE(scheduler.itself().line_with("does not let us create pods/binding"));
  EXPECT_NE(scheduler.ask({"get", "gangs"}).out.find("ApiForbidden"), std::string::npos);
  const auto why = scheduler.ask({"explain", "gang", "pair"}).out;
  EXPECT_NE(why.find("ApiForbidden"), std::string::npos) << why;
  EXPECT_EQ(look_at(on.api()).bound_of("pair"), 0);

  on.create(file_in_source("deploy/rbac.yaml") + given_to_plain_user("tutti"));
  expect_bound(scheduler, "pair");
  EXPECT_TRUE(
      eventually([&] { return admin.get("/readyz").status == 200; }, std::chrono::seconds{60}))
      << admin.get("/readyz?verbose").body;
  scheduler.stop();
}

} // namespace
} // namespace tutti::live
