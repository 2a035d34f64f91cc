// Gangs on a genuine API server, judged from outside: by its objects and by its audit log.
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/commands/manifests.hpp"
#include "tests/live/audit.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::eventually;
using commands::expect_sound;
using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;

std::string group_path(const std::string& gang) {
  return "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/" + gang;
}

/// "True", "False" or "" of the condition of that type.
std::string condition(const control_plane& on, const std::string& path, const std::string& type) {
  const auto x = on.api().get(path).object();
  const auto* status = x.if_contains("status");
  const auto* list = status == nullptr ? nullptr : status->as_object().if_contains("conditions");
  for (const auto& c : list == nullptr ? boost::json::array{} : list->as_array())
    if (c.at("type") == type.c_str())
      return std::string{c.at("status").as_string()};
  return {};
}

void expect_each_bound_once(const control_plane& on) {
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
}

TEST_F(Live, gangs_are_bound_whole_or_not_at_all) {
  control_plane on;
  on.create(nodes_in_racks(4) + manifest(our_gang("good", 4, 2))
            + manifest(our_gang("huge", 9, 3)));
  auto scheduler = start_scheduler(on);
  expect_bound(scheduler, "good");
  EXPECT_TRUE(eventually([&] {
    return condition(on, group_path("huge"), "PodGroupInitiallyScheduled") == "False";
  })) << on.api().get(group_path("huge")).body;
  EXPECT_TRUE(eventually([&] {
    return condition(on, group_path("good"), "PodGroupInitiallyScheduled") == "True";
  })) << on.api().get(group_path("good")).body;
  // What cluster autoscalers look for.
  EXPECT_TRUE(eventually([&] {
    return condition(on, "/api/v1/namespaces/default/pods/huge-0", "PodScheduled") == "False";
  }));
  scheduler.stop();

  const auto seen = look_at(on.api());
  expect_sound(seen);
  EXPECT_EQ(seen.bound_of("good"), 4);
  EXPECT_EQ(seen.bound_of("huge"), 0);
  expect_each_bound_once(on);
  EXPECT_EQ(bindings_taken(on.audit_log()).size(), 4);
}

TEST_F(Live, a_gang_waits_for_its_last_member) {
  control_plane on;
  auto three = our_gang("late", 2, 1);
  three.min = 3;
  on.create(nodes_in_racks(2) + manifest(three));
  auto scheduler = start_scheduler(on);
  EXPECT_TRUE(eventually([&] {
    return scheduler.ask({"explain", "gang", "late"}).out.find("WaitingForMembers")
           != std::string::npos;
  }));
  EXPECT_EQ(look_at(on.api()).bound_of("late"), 0);
  on.create(commands::manifest_of_member(three, 2));
  expect_bound(scheduler, "late");
  scheduler.stop();
  EXPECT_EQ(look_at(on.api()).bound_of("late"), 3);
}

TEST_F(Live, gates_are_honoured_and_so_is_a_selector_that_comes_when_they_go) {
  control_plane on;
  on.create(nodes_in_racks(3)
            + manifest(our_gang("gated", 2, 1, ", schedulingGates: [{name: quota}]")));
  auto scheduler = start_scheduler(on);
  EXPECT_TRUE(eventually([&] {
    return scheduler.ask({"explain", "gang", "gated"}).out.find("Gated") != std::string::npos;
  }));
  EXPECT_EQ(look_at(on.api()).bound_of("gated"), 0);
  for (const char* pod : {"gated-0", "gated-1"})
    EXPECT_EQ(on.api()
                  .merge(std::string{"/api/v1/namespaces/default/pods/"} + pod,
                         R"({"spec": {"schedulingGates": null,
                                      "nodeSelector": {"example.com/rack": "rack-2"}}})")
                  .status,
              200);
  expect_bound(scheduler, "gated");
  scheduler.stop();
  for (const auto& [name, pod] : look_at(on.api()).pods)
    EXPECT_EQ(pod.node, "node-2") << name;
}

/// What is there counts, what is asked for comes on top, and nothing is written.
TEST_F(Live, a_plan_on_the_cluster_says_what_then_happens) {
  control_plane on;
  on.create(nodes_in_racks(4) + manifest(our_gang("first", 3, 3)));
  auto scheduler = start_scheduler(on);
  expect_bound(scheduler, "first");
  const auto plan = [&](const std::string& more) {
    return commands::run(
        {"plan", "--kubeconfig", on.kubeconfig(), "-f", home_.file("more.yaml", more)});
  };
  const auto fits = manifest(our_gang("fits", 4, 1)), wide = manifest(our_gang("wide", 2, 4));
  const auto yes = plan(fits);
  EXPECT_EQ(yes.code(), 0) << yes.out << yes.err;
  EXPECT_NE(yes.out.find("default/fits"), std::string::npos) << yes.out;
  const auto no = plan(wide);
  EXPECT_EQ(no.code(), 11) << no.out << no.err;
  EXPECT_EQ(on.api().get(group_path("fits")).status, 404) << "a plan has made something";
  on.create(fits + wide);
  expect_bound(scheduler, "fits");
  EXPECT_EQ(look_at(on.api()).bound_of("wide"), 0);
  const auto alone = commands::run({"plan", "--kubeconfig", on.kubeconfig()});
  EXPECT_EQ(alone.code(), 11) << alone.out << alone.err;
  EXPECT_NE(alone.out.find("default/wide"), std::string::npos) << alone.out;
  scheduler.stop();
  const auto without_rights = commands::run({"plan", "--kubeconfig", on.kubeconfig("plain")});
  EXPECT_EQ(without_rights.code(), 1);
  EXPECT_NE(without_rights.err.find("hint: "), std::string::npos) << without_rights.err;
}

} // namespace
} // namespace tutti::live
