// Beside the other parts of a genuine control plane: kube-scheduler, and Jobs that make their
// groups.
#include <fmt/core.h>
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

class Neighbours : public Live {
protected:
  /// A pod that says nothing of schedulers: it is kube-scheduler's.
  static std::string plain_pod(const std::string& name, int cpu) {
    return fmt::format(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}}}\nspec: {{containers: "
        "[{{name: main, image: work, resources: {{requests: {{cpu: \"{}\"}}}}}}]}}\n",
        name, cpu);
  }
  static std::string node_of(const control_plane& on, const std::string& pod) {
    const auto seen = look_at(on.api());
    const auto pos = seen.pods.find(pod);
    return pos == seen.pods.end() ? std::string{} : pos->second.node;
  }
};

/// Each counts what the other has placed, and leaves its pods alone.
TEST_F(Neighbours, kube_scheduler_and_ours_share_the_nodes) {
  control_plane on{{"--scheduler"}};
  std::string theirs;
  for (int i = 0; i < 4; ++i)
    theirs += plain_pod(fmt::format("theirs-{}", i), 3);
  on.create(nodes_in_racks(4) + theirs);
  const auto are_bound = [&] {
    for (int i = 0; i < 4; ++i)
      if (node_of(on, fmt::format("theirs-{}", i)).empty())
        return false;
    return true;
  };
  ASSERT_TRUE(eventually(are_bound, std::chrono::seconds{60}));
  auto scheduler = start_scheduler(on);
  on.create(manifest(our_gang("fits", 4, 1)) + manifest(our_gang("huge", 2, 2)));
  expect_bound(scheduler, "fits");
  EXPECT_TRUE(eventually([&] {
    return scheduler.ask({"explain", "gang", "huge"}).out.find("Insufficient") != std::string::npos;
  })) << scheduler.ask({"explain", "gang", "huge"}).out;
  on.create(plain_pod("late", 1));
  const auto is_refused = [&] {
    return on.api().get("/api/v1/namespaces/default/pods/late").body.find("Insufficient cpu")
           != std::string::npos;
  };
  EXPECT_TRUE(eventually(is_refused)) << "kube-scheduler counts our gang";
  scheduler.stop();
  const auto seen = look_at(on.api());
  commands::expect_sound(seen);
  EXPECT_EQ(seen.bound_of("fits"), 4);
  EXPECT_EQ(seen.bound_of("huge"), 0);
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
}

std::string job(const std::string& name, int members, int cpu) {
  return fmt::format(
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {0}}}\nspec:\n"
      "  completionMode: Indexed\n  parallelism: {1}\n  completions: {1}\n"
      "  scheduling: {{schedulingPolicy: {{gang: {{minCount: {1}}}}}}}\n"
      "  template:\n    spec:\n      schedulerName: tutti\n      restartPolicy: Never\n"
      "      containers: [{{name: main, image: work, resources: {{requests: {{cpu: "
      "\"{2}\"}}}}}}]\n",
      name, members, cpu);
}

TEST_F(Neighbours, a_job_makes_its_group_and_starts_whole_or_not_at_all) {
  control_plane on{{"--kcm"}};
  on.create(nodes_in_racks(4) + job("sweep", 4, 2) + job("huge", 5, 3));
  auto scheduler = start_scheduler(on);
  const auto bound_of = [&](const std::string& job) {
    const auto seen = look_at(on.api());
    int out = 0;
    for (const auto& [name, pod] : seen.pods)
      out += name.starts_with(job + "-") && !pod.node.empty();
    return out;
  };
  EXPECT_TRUE(eventually([&] { return bound_of("sweep") == 4; }, std::chrono::seconds{60}))
      << scheduler.ask({"get", "gangs"}).out;
  EXPECT_TRUE(eventually([&] {
    const auto gangs = scheduler.ask({"get", "gangs"}).out;
    const auto huge = gangs.find("huge-");
    return huge != gangs.npos && gangs.find("0/5", huge) != gangs.npos;
  })) << scheduler.ask({"get", "gangs"}).out;
  scheduler.stop();
  EXPECT_EQ(bound_of("huge"), 0);
  commands::expect_sound(look_at(on.api()));
}

/// The pods of a Job that is suspended or deleted go, and what was held or noted for them with
/// them.
TEST_F(Neighbours, a_job_that_is_suspended_or_deleted_takes_back_what_it_asked_for) {
  control_plane on{{"--kcm"}};
  on.create(nodes_in_racks(4) + job("first", 5, 3) + job("second", 5, 3));
  auto scheduler = start_scheduler(on);
  const auto shows = [&](const std::string& gang) {
    return scheduler.ask({"get", "gangs"}).out.find(gang) != std::string::npos;
  };
  EXPECT_TRUE(
      eventually([&] { return shows("first-") && shows("second-"); }, std::chrono::seconds{60}));
  const std::string jobs = "/apis/batch/v1/namespaces/default/jobs/";
  EXPECT_EQ(on.api().merge(jobs + "first", R"({"spec": {"suspend": true}})").status, 200);
  EXPECT_EQ(on.api().remove(jobs + "second?propagationPolicy=Background").status, 200);
  const auto waits = [&](const std::string& gang) {
    const auto said = scheduler.ask({"get", "gangs"}).out;
    const auto row = said.find(gang);
    return row != said.npos
           && said.substr(row, said.find('\n', row) - row).find("0/5") != std::string::npos;
  };
  EXPECT_TRUE(eventually([&] { return !waits("second-"); }, std::chrono::seconds{60}))
      << scheduler.ask({"get", "gangs"}).out;
  EXPECT_TRUE(eventually(
      [&] {
        return scheduler.ask({"get", "reservations", "-A"}).out.find("first-") == std::string::npos
               && look_at(on.api()).pods.empty();
      },
      std::chrono::seconds{60}))
      << scheduler.ask({"get", "reservations", "-A"}).out;
  // The room is there for somebody else, whole.
  on.create(job("third", 4, 4));
  EXPECT_TRUE(eventually(
      [&] {
        int bound = 0;
        for (const auto& [name, pod] : look_at(on.api()).pods)
          bound += name.starts_with("third-") && !pod.node.empty();
        return bound == 4;
      },
      std::chrono::seconds{60}))
      << scheduler.ask({"get", "gangs"}).out;
  scheduler.stop();
}

} // namespace
} // namespace tutti::live
