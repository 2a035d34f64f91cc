// A genuine API server and a scheduler that die, one after the other and at the worst moments.
#include <algorithm>
#include <cctype>
#include <csignal>
#include <functional>
#include <map>

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

using rows = std::vector<const char*>;

class At : public Live, public testing::WithParamInterface<rows> {};

/// Each row of the crash table that a first run passes, over a genuine API server. Most share one:
/// each row has gangs and a store of its own.
TEST_P(At, the_scheduler_dies_and_the_next_one_leaves_no_gang_partial) {
  control_plane on;
  on.create(nodes_in_racks(6, 12));
  for (const std::string row : GetParam()) {
    SCOPED_TRACE(row);
    auto name = row;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
      return c == ':' ? '-' : static_cast<char>(std::tolower(c));
    });
    const auto wide = "wide-" + name, pair = "pair-" + name;
    on.create(manifest(our_gang(wide, 6, 1)) + manifest(our_gang(pair, 2, 1)));
    const auto scheduler = [&](std::map<std::string, std::string> env) {
      return daemon{{.what = {"--kubeconfig", on.kubeconfig(), "--data-dir", home_.sub(name)},
                     .environment = std::move(env),
                     .may_die = true,
                     .verb = "scheduler"}};
    };
    auto first = scheduler({{"TUTTI_FAULT", row}});
    const auto how = first.itself().wait(std::chrono::seconds{60});
    ASSERT_TRUE(how && how->signal == SIGKILL) << first.itself().err();
    auto second = scheduler({});
    expect_bound(second, wide);
    expect_bound(second, pair);
    second.stop();
    const auto seen = look_at(on.api());
    expect_sound(seen);
    EXPECT_EQ(seen.bound_of(wide), 6);
    EXPECT_EQ(seen.bound_of(pair), 2);
  }
  for (const auto& [pod, times] : bindings_taken(on.audit_log()))
    EXPECT_EQ(times, 1) << pod;
}
INSTANTIATE_TEST_SUITE_P(Rows, At,
                         testing::Values(rows{"C0", "C0:2", "C1", "C2", "C2:2", "C3"},
                                         rows{"C4", "C5", "C7", "C7:2", "C8", "C9"},
                                         rows{"P0", "P0:3", "P1", "P2", "P2:3", "P3"},
                                         rows{"P4", "P5", "P8", "B0", "B0:3"},
                                         rows{"B1", "B1:2", "B2", "B2:6"}),
                         [](const auto& x) { return std::string{"from_"} + x.param.front(); });

TEST_F(Live, a_member_deleted_and_made_anew_under_a_decision_is_bound_as_who_it_is_now) {
  control_plane on;
  const auto trio = our_gang("trio", 3, 2);
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

/// A scheduler has bound a gang, the API server dies, and what was done meanwhile is over.
class Restart : public Live {
protected:
  void survive(const std::function<void(const control_plane&)>& meanwhile) {
    control_plane on;
    on.create(nodes_in_racks(4) + manifest(our_gang("before", 2, 1)));
    auto scheduler = start_scheduler(on);
    expect_bound(scheduler, "before");
    on.kill("kube-apiserver");
    EXPECT_TRUE(lists_begun(on.audit_log()).empty()) << "what kill -9 cuts is not written down";
    EXPECT_NE(scheduler.ask({"get", "gangs"}).out.find("before"), std::string::npos);
    meanwhile(on);
    on.start_again("kube-apiserver");
    on.create(manifest(our_gang("after", 4, 1)));
    expect_bound(scheduler, "after");
    scheduler.stop();
    expect_sound(look_at(on.api()));
    // A watch is written down when the server has seen its end.
    const auto has_all = [&] { return lists_begun(on.audit_log()).size() >= kinds; };
    if (is_to_list_) {
      EXPECT_TRUE(commands::eventually(has_all));
    }
    lists_ = lists_begun(on.audit_log());
  }
  static constexpr std::size_t kinds = 3;
  bool is_to_list_ = false;
  std::map<std::string, int> lists_; ///< that were begun in the second life
};

TEST_F(Restart, of_the_api_server_is_waited_for) {
  survive([](const control_plane&) {});
}

TEST_F(Restart, that_lost_the_past_of_a_watch_lets_it_begin_anew) {
  is_to_list_ = true;
  survive([](const control_plane& on) {
    const api_client etcd{on.etcd_port()};
    // Two revisions that no watch has seen, and nothing older than the second is kept.
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(etcd.post("/v3/kv/put", R"({"key": "YQ==", "value": "YQ=="})").status, 200);
    const auto now = etcd.post("/v3/kv/range", R"({"key": "YQ=="})").object();
    const std::string revision{now.at("header").at("revision").as_string()};
    EXPECT_EQ(
        etcd.post("/v3/kv/compaction", R"({"physical": true, "revision": ")" + revision + "\"}")
            .status,
        200);
  });
  for (const char* kind : {"nodes", "pods", "podgroups"})
    EXPECT_GE(lists_[kind], 1) << kind;
}

} // namespace
} // namespace tutti::live
