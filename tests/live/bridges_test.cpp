// Schedulers behind a bridge on a genuine API server, judged by its objects and its audit log.
#include <optional>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/live/audit.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::eventually;
using commands::expect_sound;
using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;
using namespace std::chrono_literals;

class Bridges : public Live {
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
  static daemon bridge(const control_plane& on, int at = 0, const std::string& who = {}) {
    return daemon{
        {.what = {"--kubeconfig", on.kubeconfig(who), "--listen", fmt::format("127.0.0.1:{}", at)},
         .verb = "bridge"}};
  }
  static int port_of(daemon& bridge) {
    const auto line = bridge.itself().line_with("schedulers on ");
    EXPECT_TRUE(line) << bridge.itself().err();
    return std::stoi(line->substr(line->rfind(':') + 1));
  }
  daemon scheduler(const std::string& name, int bridge, const arguments& more = {}) const {
    arguments all{"--bridge", fmt::format("127.0.0.1:{}", bridge), "--data-dir", home_.sub(name)};
    all.insert(all.end(), more.begin(), more.end());
    return daemon{{.what = std::move(all), .verb = "scheduler"}};
  }
  daemon replica(const std::string& name, int bridge) const {
    return scheduler(name, bridge,
                     {"--replica", name, "--link", "127.0.0.1:0", "--lease-duration", "3"});
  }
  static int whole(const control_plane& on, int gangs) {
    const auto seen = look_at(on.api());
    int out = 0;
    for (int i = 0; i < gangs; ++i)
      out += seen.bound_of(fmt::format("g{}", i)) == 4;
    return out;
  }
  static void expect_each_bound_once(const control_plane& on) {
    for (const auto& [pod, times] : bindings_taken(on.audit_log()))
      EXPECT_EQ(times, 1) << pod;
  }
};

/// Through a death and its takeover as well: the lists of those who take over cost no watch.
TEST_F(Bridges, watch_once_for_three_replicas_with_the_rights_of_the_two_files) {
  constexpr int gangs = 12;
  control_plane on;
  install_on(on);
  on.create(nodes_in_racks(12));
  auto between = bridge(on, 0, "plain");
  const auto at = port_of(between);
  auto a = replica("a", at);
  auto b = replica("b", at);
  auto c = replica("c", at);
  for (int i = 0; i < gangs; ++i) {
    on.create(manifest(our_gang(fmt::format("g{}", i), 4, 1)));
    if (i == gangs / 2)
      a.itself().kill();
  }
  EXPECT_TRUE(eventually([&] { return whole(on, gangs) == gangs; }, 90s))
      << b.ask({"get", "gangs"}).out << between.itself().err();
  expect_sound(look_at(on.api()));
  b.stop();
  c.stop();
  between.stop();
  expect_each_bound_once(on);
  EXPECT_EQ(rights_missed(on.audit_log(), "plain-user"), std::set<std::string>{});
  // A watch is written down when the server has seen its end.
  EXPECT_TRUE(eventually([&] { return watches_opened(on.audit_log()).size() >= 4; }));
  for (const char* kind : {"nodes", "pods", "podgroups", "poddisruptionbudgets"})
    EXPECT_EQ(watches_opened(on.audit_log())[kind], 1) << kind;
  EXPECT_EQ(watches_opened(on.audit_log()).size(), 4u) << "and nothing else is watched";
}

/// The witness of the test above sees each watch that there is.
TEST_F(Bridges, are_what_makes_one_watch_of_two) {
  control_plane on;
  on.create(nodes_in_racks(2));
  for (const char* gang : {"first", "second"}) {
    auto alone = start_scheduler(on);
    on.create(manifest(our_gang(gang, 2, 1)));
    expect_bound(alone, gang);
    alone.stop();
  }
  EXPECT_TRUE(eventually([&] { return watches_opened(on.audit_log())["pods"] == 2; }));
}

TEST_F(Bridges, killed_and_started_again_leaves_no_gang_partial) {
  constexpr int rounds = 5;
  control_plane on;
  on.create(nodes_in_racks(12));
  std::optional<daemon> between{bridge(on)};
  const auto at = port_of(*between);
  auto one = scheduler("one", at);
  for (int i = 0; i < rounds; ++i) {
    on.create(manifest(our_gang(fmt::format("g{}", 2 * i), 4, 1))
              + manifest(our_gang(fmt::format("g{}", 2 * i + 1), 4, 1)));
    if (i % 2 == 0) { // between two Bindings, perhaps; else before any
      EXPECT_TRUE(eventually(
          [&] { return look_at(on.api()).bound_of(fmt::format("g{}", 2 * i)) > 0; }, 60s));
    }
    between->itself().kill();
    between.emplace(bridge(on, at));
  }
  EXPECT_TRUE(eventually([&] { return whole(on, 2 * rounds) == 2 * rounds; }, 90s))
      << one.ask({"get", "gangs"}).out << one.itself().err();
  EXPECT_TRUE(one.itself().is_running()) << "nobody has started it again";
  expect_sound(look_at(on.api()));
  one.stop();
  between->stop();
  expect_each_bound_once(on);
}

TEST_F(Bridges, wait_for_an_api_server_that_is_killed) {
  control_plane on;
  on.create(nodes_in_racks(4) + manifest(our_gang("before", 2, 1)));
  auto between = bridge(on);
  auto one = scheduler("one", port_of(between));
  expect_bound(one, "before");
  on.kill("kube-apiserver");
  const auto is_ready = [&] { return between.admin_client().get("/readyz").status == 200; };
  EXPECT_TRUE(eventually([&] { return !is_ready(); }, 30s));
  on.start_again("kube-apiserver");
  on.create(manifest(our_gang("after", 4, 1)));
  expect_bound(one, "after");
  EXPECT_TRUE(eventually(is_ready, 30s)) << between.admin_client().get("/readyz?verbose").body;
  one.stop();
  between.stop();
}

} // namespace
} // namespace tutti::live
