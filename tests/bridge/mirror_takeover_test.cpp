// What a mirror tells shards where there are other replicas: its own only, after a list if need be.
#include "bridge/mirror_role.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "protocol/sharding.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;

struct MirrorTakeover : testing::Test {
  mirror_role mirror{{.shards = 2, .levels = {"rack"}, .has_others = true}};
  effect_log log;
  base::time_point now{};
  int version = 10;

  void SetUp() override {
    hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 3, .open = {}});
    list("/api/v1/nodes", node("n", "r1"));
    list("/api/v1/pods", pod("p", "n"));
    log.sent.clear();
  }
  void hear(const protocol::event& e) { log.take(mirror.on(e, now)); }
  static std::string node(const std::string& name, const std::string& rack) {
    return fmt::format(R"({{"metadata":{{"name":"{0}","uid":"{0}","resourceVersion":"1","labels":)"
                       R"({{"rack":"{1}"}}}},"status":{{"allocatable":{{"cpu":"4"}}}}}})",
                       name, rack);
  }
  static std::string pod(const std::string& name, const std::string& where) {
    return fmt::format(
        R"({{"metadata":{{"namespace":"ns","name":"{0}","uid":"{0}","resourceVersion":"1"}},)"
        R"("spec":{{"schedulerName":"tutti","nodeName":"{1}","containers":[{{"name":"c"}}]}}}})",
        name, where);
  }
  /// Answers the list that is open for this path with what is given.
  void list(const std::string& path, const std::string& objects) {
    const auto pos = std::find_if(log.open.rbegin(), log.open.rend(), [&](const auto& x) {
      return x.request.target.starts_with(path + "?");
    });
    ASSERT_NE(pos, log.open.rend()) << path;
    const auto id = pos->id;
    hear(protocol::stream_opened{id});
    hear(
        protocol::stream_lines{id, fmt::format("{{\"type\":\"ADDED\",\"object\":{}}}\n", objects)});
    hear(protocol::stream_lines{
        id, fmt::format(R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}",)"
                        R"("annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
                        "\n",
                        ++version)});
  }
  void wants(std::uint32_t shard) {
    hear(protocol::received{protocol::to_shard({shard}),
                            protocol::view_wanted{.after_a_list = true}});
    hear(protocol::received{protocol::to_shard({shard}), protocol::nodes_held{{shard}, {}}});
  }
  void gathered() {
    now += 20ms;
    log.timers.erase({3, 0});
    hear(protocol::timer_fired{{3, 0}});
  }
  std::vector<std::string> told(std::uint32_t shard) {
    std::vector<std::string> out;
    for (const auto& s : log.sent)
      if (s.to == protocol::to_shard({shard})) {
        out.emplace_back(name_of(s.what));
        if (const auto* trust = std::get_if<protocol::view_trust>(&s.what))
          out.back() += trust->fresh ? " fresh" : trust->is_anew ? " anew" : " stale";
      }
    log.sent.clear();
    return out;
  }
  static std::uint32_t home() { // of the node
    return protocol::shard_of(protocol::node_facts{.uid = {"n"}, .domains = {"r1"}}, 2).value;
  }
};

using words = std::vector<std::string>;

TEST_F(MirrorTakeover, a_shard_hears_everything_after_a_list_that_was_asked_for_after_it) {
  wants(home());
  EXPECT_EQ(told(home()), words{"view_trust anew"});
  gathered();
  list("/api/v1/nodes", node("n", "r1"));
  EXPECT_EQ(told(home()), words{}) << "nothing is to be trusted before the pods are listed, too";
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(home()),
            (words{"view_trust anew", "node_seen", "pod_arrived", "view_trust fresh"}));
}

TEST_F(MirrorTakeover, a_shard_that_asks_while_a_list_runs_waits_for_the_next) {
  wants(home());
  gathered();
  wants(1 - home());
  log.sent.clear();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(1 - home()), words{});
  gathered();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(1 - home()), (words{"view_trust anew", "view_trust fresh"}));
}

/// Both begin anew, under epochs that are newer still, while the list that they asked for is held
/// up.
TEST_F(MirrorTakeover, shards_that_ask_again_while_their_list_runs_get_the_next) {
  for (const auto shard : {0u, 1u})
    wants(shard);
  gathered();
  for (const auto shard : {0u, 1u})
    wants(shard);
  log.sent.clear();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(home()), words{});
  EXPECT_TRUE(log.timers.contains({3, 0})) << "nobody asks for the list that they wait for";
  gathered();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(home()),
            (words{"view_trust anew", "node_seen", "pod_arrived", "view_trust fresh"}));
}

TEST_F(MirrorTakeover, a_shard_that_nobody_runs_here_is_told_nothing_of_nodes) {
  wants(1 - home());
  gathered();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  const auto all = told(home());
  EXPECT_EQ(std::count(all.begin(), all.end(), "node_seen"), 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), "pod_arrived"), 0);
}

/// Another replica has decided for it; this mirror is behind, and does not know so.
TEST_F(MirrorTakeover, S1b_a_pod_that_this_mirror_has_not_heard_of_is_not_called_gone) {
  hear(protocol::received{protocol::to_shard({home()}), protocol::nodes_held{{home()}, {}}});
  log.sent.clear();
  hear(protocol::received{protocol::to_shard({home()}),
                          protocol::pods_awaited{{home()}, {{{"n"}, {"unheard"}}}}});
  EXPECT_EQ(told(home()), words{});
}

TEST_F(MirrorTakeover, a_mirror_that_is_made_anew_serves_who_says_what_it_holds) {
  hear(protocol::received{protocol::to_shard({home()}), protocol::nodes_held{{home()}, {}}});
  const auto all = told(home());
  EXPECT_EQ(std::count(all.begin(), all.end(), "node_seen"), 1);
  EXPECT_EQ(all.back(), "view_trust fresh");
}

/// It was given to another replica before it could say what it holds.
TEST_F(MirrorTakeover, a_shard_that_has_ended_without_a_word_is_not_waited_for) {
  for (const auto shard : {0u, 1u})
    hear(protocol::received{protocol::to_shard({shard}),
                            protocol::view_wanted{.after_a_list = true}});
  hear(protocol::child_died{protocol::to_shard({1 - home()})});
  hear(protocol::received{protocol::to_shard({home()}), protocol::nodes_held{{home()}, {}}});
  gathered();
  log.sent.clear();
  list("/api/v1/nodes", node("n", "r1"));
  list("/api/v1/pods", pod("p", "n"));
  EXPECT_EQ(told(home()),
            (words{"view_trust anew", "node_seen", "pod_arrived", "view_trust fresh"}));
}

TEST_F(MirrorTakeover, once_the_last_that_was_waited_for_has_ended_the_others_hear_of_their_nodes) {
  const auto other = 1 - home();
  for (const auto shard : {home(), other})
    hear(protocol::received{protocol::to_shard({shard}), protocol::view_wanted{}});
  hear(protocol::received{protocol::to_shard({home()}), protocol::nodes_held{{home()}, {}}});
  const auto before = told(home());
  EXPECT_NE(before.back(), "view_trust fresh");
  hear(protocol::child_died{protocol::to_shard({other})});
  EXPECT_EQ(told(home()).back(), "view_trust fresh");
}

/// Where it goes, other mirrors say as well: to the shard of its label.
TEST_F(MirrorTakeover, a_node_that_an_ended_shard_has_held_goes_home) {
  const auto other = 1 - home();
  hear(protocol::received{protocol::to_shard({other}), protocol::view_wanted{}});
  hear(protocol::received{protocol::to_shard({other}), protocol::nodes_held{{other}, {{"n"}}}});
  hear(protocol::received{protocol::to_shard({home()}), protocol::view_wanted{}});
  hear(protocol::received{protocol::to_shard({home()}), protocol::nodes_held{{home()}, {}}});
  const auto before = told(home());
  EXPECT_EQ(std::count(before.begin(), before.end(), "node_seen"), 0);
  hear(protocol::child_died{protocol::to_shard({other})});
  const auto after = told(home());
  EXPECT_EQ(std::count(after.begin(), after.end(), "node_seen"), 1);
  EXPECT_EQ(std::count(after.begin(), after.end(), "pod_arrived"), 1);
}

} // namespace
} // namespace tutti::bridge
