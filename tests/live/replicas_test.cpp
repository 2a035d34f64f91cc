// Several schedulers on a genuine API server: what they keep there, and with which rights.
#include <chrono>
#include <csignal>

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
using namespace std::chrono_literals;

class Replicas : public Live {
protected:
  static void install_on(const control_plane& on) {
    for (const char* kind : {"gangdecisionchunks", "gangdecisions", "partitionmaps"})
      on.create(file_in_source(fmt::format("deploy/crds/{}.tutti.dev.yaml", kind)));
    on.create(file_in_source("deploy/rbac.yaml"));
    on.create(file_in_source("deploy/rbac-replicas.yaml"));
    on.create(given_to_plain_user("tutti") + given_to_plain_user("tutti-replica")
              + given_to_plain_user("tutti-replica", "kube-system"));
    EXPECT_TRUE(eventually(
        [&] { return on.api().get("/apis/tutti.dev/v1alpha1/partitionmaps").status == 200; }, 60s));
  }
  daemon replica(const control_plane& on, const std::string& name) const {
    return daemon{{.what = {"--kubeconfig", on.kubeconfig("plain"), "--data-dir", home_.sub(name),
                            "--replica", name, "--link", "127.0.0.1:0", "--lease-duration", "3"},
                   .verb = "scheduler"}};
  }
  static bool shares_with(const daemon& asked, const std::string& other) {
    const auto said = asked.ask({"get", "replicas"}).out;
    const auto row = said.find(other + " ");
    return row != said.npos && said.find(" up", row) != said.npos;
  }
  static int whole(const control_plane& on, int gangs) {
    const auto seen = look_at(on.api());
    int out = 0;
    for (int i = 0; i < gangs; ++i)
      out += seen.bound_of(fmt::format("g{}", i)) == 4;
    return out;
  }
};

TEST_F(Replicas, with_the_rights_of_the_two_files_survive_one_of_them) {
  constexpr int gangs = 12;
  control_plane on;
  install_on(on);
  on.create(nodes_in_racks(12));
  auto a = replica(on, "a");
  auto b = replica(on, "b");
  ASSERT_TRUE(eventually([&] { return shares_with(a, "b") && shares_with(b, "a"); }, 60s))
      << b.ask({"get", "replicas", "-o", "wide"}).out;
  for (int i = 0; i < gangs; ++i) {
    on.create(manifest(our_gang(fmt::format("g{}", i), 4, 1)));
    if (i == gangs / 2)
      a.itself().kill();
  }
  EXPECT_TRUE(eventually([&] { return whole(on, gangs) == gangs; }, 60s))
      << b.ask({"get", "gangs"}).out;
  commands::expect_sound(look_at(on.api()));
  b.stop();
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
  EXPECT_EQ(rights_missed(on.audit_log(), "plain-user"), std::set<std::string>{});
  const auto used = rights_used(on.audit_log(), "plain-user");
  for (const char* right : {"create leases", "update leases", "list leases", "create partitionmaps",
                            "update partitionmaps", "create gangdecisions", "update gangdecisions",
                            "list gangdecisions"})
    EXPECT_TRUE(used.contains(right)) << right;
}

/// A process that stands still owns its shards until the others have seen its Lease grow old. When
/// it goes on, it must not go on with what it has lost.
TEST_F(Replicas, that_stands_still_is_taken_over_from_and_comes_back_as_nobody) {
  constexpr int gangs = 12;
  control_plane on;
  install_on(on);
  on.create(nodes_in_racks(12));
  auto a = replica(on, "a");
  auto b = replica(on, "b");
  auto c = replica(on, "c");
  const auto are_three = [&] {
    return shares_with(a, "b") && shares_with(a, "c") && shares_with(b, "c");
  };
  ASSERT_TRUE(eventually(are_three, 90s)) << b.ask({"get", "replicas", "-o", "wide"}).out;
  for (int i = 0; i < gangs / 2; ++i)
    on.create(manifest(our_gang(fmt::format("g{}", i), 4, 1)));
  a.itself().send(SIGSTOP);
  const auto stopped = std::chrono::steady_clock::now();
  for (int i = gangs / 2; i < gangs; ++i)
    on.create(manifest(our_gang(fmt::format("g{}", i), 4, 1)));
  EXPECT_TRUE(eventually([&] { return whole(on, gangs) > gangs / 2; }, 60s));
  const std::chrono::duration<double> first = std::chrono::steady_clock::now() - stopped;
  EXPECT_TRUE(eventually([&] { return whole(on, gangs) == gangs; }, 90s))
      << b.ask({"get", "gangs"}).out;
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - stopped;
  fmt::print("after SIGSTOP of one of three (lease 3 s): first new gang {:.1f} s, all {:.1f} s\n",
             first.count(), all.count());
  a.itself().send(SIGCONT);
  on.create(manifest(our_gang("last", 4, 0)));
  expect_bound(b, "last");
  commands::expect_sound(look_at(on.api()));
  for (auto* each : {&a, &b, &c})
    each->stop();
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
}

} // namespace
} // namespace tutti::live
