// A genuine API server and a scheduler that die, one after the other and at the worst moments.
#include <csignal>

#include <boost/json/object.hpp>
#include <gtest/gtest.h>

#include "tests/commands/judge.hpp"
#include "tests/commands/manifests.hpp"
#include "tests/live/audit.hpp"
#include "tests/live/control_plane.hpp"

namespace tutti::live {
namespace {

using commands::ending;
using commands::expect_sound;
using commands::look_at;
using commands::manifest;
using commands::nodes_in_racks;

commands::gang_text gang(std::string name, int members, int cpu) {
  return {.name = std::move(name),
          .members = members,
          .min = members,
          .cpu = cpu,
          .more = ", schedulerName: tutti"};
}

void expect_bound(const daemon& scheduler, const std::string& gang) {
  const auto said = scheduler.ask({"wait", "gang/" + gang, "--timeout", "30"});
  EXPECT_EQ(said.code(), 0) << said.err;
}

class At : public Live, public testing::WithParamInterface<const char*> {};

/// Rows of the crash table: before and after the decision, between the Bindings, and at a Binding
/// whose answer nobody hears.
TEST_P(At, the_scheduler_dies_and_the_next_one_leaves_no_gang_partial) {
  control_plane on;
  on.create(nodes_in_racks(6) + manifest(gang("wide", 6, 2)) + manifest(gang("pair", 2, 1)));
  auto first = start_scheduler(on, {{"TUTTI_FAULT", GetParam()}});
  const auto how = first.itself().wait();
  ASSERT_TRUE(how && how->signal == SIGKILL) << first.itself().err();
  auto second = start_scheduler(on);
  expect_bound(second, "wide");
  expect_bound(second, "pair");
  second.stop();
  const auto seen = look_at(on.api());
  expect_sound(seen);
  EXPECT_EQ(seen.bound_of("wide"), 6);
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
}
INSTANTIATE_TEST_SUITE_P(Row, At, testing::Values("C2", "C4", "C7:2", "B0:3", "B1:2", "P2:3"));

TEST_F(Live, a_member_deleted_and_made_anew_under_a_decision_is_bound_as_who_it_is_now) {
  control_plane on;
  const auto trio = gang("trio", 3, 2);
  on.create(nodes_in_racks(3) + manifest(trio));
  auto first = start_scheduler(on, {{"TUTTI_FAULT", "C4"}}); // decided, nobody bound
  const auto how = first.itself().wait();
  ASSERT_TRUE(how && how->signal == SIGKILL) << first.itself().err();
  EXPECT_EQ(on.api().remove("/api/v1/namespaces/default/pods/trio-1").status, 200);
  on.create(commands::manifest_of_member(trio, 1));
  const auto anew = look_at(on.api()).pods.at("trio-1").uid;

  auto second = start_scheduler(on);
  expect_bound(second, "trio");
  second.stop();
  const auto seen = look_at(on.api());
  expect_sound(seen);
  EXPECT_EQ(seen.bound_of("trio"), 3);
  EXPECT_EQ(seen.pods.at("trio-1").uid, anew);
}

TEST_F(Live, the_api_server_dies_and_comes_back) {
  control_plane on;
  on.create(nodes_in_racks(4) + manifest(gang("before", 2, 1)));
  auto scheduler = start_scheduler(on);
  expect_bound(scheduler, "before");
  on.kill("kube-apiserver");
  EXPECT_NE(scheduler.ask({"get", "gangs"}).out.find("before"), std::string::npos);
  on.start_again("kube-apiserver");
  on.create(manifest(gang("after", 4, 1)));
  expect_bound(scheduler, "after");
  scheduler.stop();
  expect_sound(look_at(on.api()));
}

TEST_F(Live, a_watch_whose_past_was_compacted_away_begins_anew) {
  control_plane on;
  on.create(nodes_in_racks(4) + manifest(gang("before", 2, 1)));
  auto scheduler = start_scheduler(on);
  expect_bound(scheduler, "before");
  on.kill("kube-apiserver");
  // Nothing older than now is left: the watches that are resumed get 410.
  const auto now = api_client{on.etcd_port()}.post("/v3/kv/range", R"({"key": "AA=="})").object();
  const auto& revision = now.at("header").at("revision").as_string();
  EXPECT_EQ(api_client{on.etcd_port()}
                .post("/v3/kv/compaction",
                      std::string{R"({"physical": true, "revision": ")"} + revision.c_str() + "\"}")
                .status,
            200);
  on.start_again("kube-apiserver");
  on.create(manifest(gang("after", 4, 1)));
  expect_bound(scheduler, "after");
  scheduler.stop();
  expect_sound(look_at(on.api()));
}

} // namespace
} // namespace tutti::live
