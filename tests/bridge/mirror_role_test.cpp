#include "bridge/mirror_role.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "protocol/sharding.hpp"
#include "tests/bridge/exchange_fixture.hpp"

namespace tutti::bridge {
namespace {

using protocol::role_kind;
using namespace std::chrono_literals;

struct node_json {
  std::string name;
  std::string uid;
  std::string rack;
  int cpu = 4;
  int version = 1;

  std::string text() const {
    return fmt::format(R"({{"metadata":{{"name":"{}","uid":"{}","resourceVersion":"{}","labels":)"
                       R"({{"kubernetes.io/hostname":"{}","rack":"{}"}}}},)"
                       R"("status":{{"allocatable":{{"cpu":"{}","memory":"8Gi","pods":"110"}}}}}})",
                       name, uid, version, name, rack, cpu);
  }
};

struct pod_json {
  std::string name;
  std::string node;
  int version = 1;
  std::string uid;
  std::string scheduler = "tutti";
  std::string group;
  std::string phase = "Pending";
  int cpu = 1;

  std::string text() const {
    const auto member =
        group.empty() ? "" : fmt::format(R"(,"schedulingGroup":{{"podGroupName":"{}"}})", group);
    return fmt::format(
        R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"{}","resourceVersion":"{}"}},)"
        R"("spec":{{"schedulerName":"{}","nodeName":"{}","containers":[{{"name":"c","resources":)"
        R"({{"requests":{{"cpu":"{}"}}}}}}]{}}},"status":{{"phase":"{}"}}}})",
        name, uid.empty() ? "uid-" + name : uid, version, scheduler, node, cpu, member, phase);
  }
};

std::string group_text(std::string_view name, int version, int min_count = 2) {
  return fmt::format(
      R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"g-{}","resourceVersion":"{}"}},)"
      R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}}}}})",
      name, name, version, min_count);
}

/// A mirror, three watches that the fixture feeds, and the story that shards and queue hear.
struct Mirror : testing::Test {
  static constexpr std::uint32_t shards = 8;
  std::optional<mirror_role> mirror;
  effect_log log;
  base::time_point now{};
  int version = 100;
  std::map<std::string, std::uint64_t> streams; // by path

  void hear(const protocol::event& e) { log.take(mirror->on(e, now)); }
  void begin() {
    mirror.emplace(mirror_role::options{.shards = shards, .levels = {"zone", "rack"}});
    hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 3, .open = {}});
    find_streams();
    if (do_shards_answer)
      for (std::uint32_t s = 0; s < shards; ++s)
        holds(s, {});
  }
  bool do_shards_answer = true;
  void holds(std::uint32_t shard, std::vector<base::node_uid> what) {
    hear(protocol::received{protocol::to_shard({shard}),
                            protocol::nodes_held{{shard}, std::move(what)}});
  }
  /// The shard of rack "r1" holds room for these on the node "N1".
  void awaits(std::initializer_list<const char*> uids) {
    protocol::pods_awaited asked{{index_of("r1")}, {}};
    for (const auto* name : uids)
      asked.pods.push_back({{"N1"}, {std::string{"uid-"} + name}});
    hear(protocol::received{protocol::to_shard(asked.shard), asked});
  }
  void idle(std::uint32_t shard, const std::string& node, std::uint64_t move) {
    hear(protocol::received{protocol::to_shard({shard}), protocol::node_idle{{node}, move}});
  }
  /// Opens the streams that were asked for and are not open yet.
  void find_streams() {
    for (const auto& x : std::vector{log.open}) {
      auto& known = streams[x.request.target.substr(0, x.request.target.find('?'))];
      if (std::exchange(known, x.id) != x.id)
        hear(protocol::stream_opened{x.id});
    }
  }
  void line(const std::string& path, std::string_view type, const std::string& object) {
    hear(protocol::stream_lines{streams.at(path),
                                fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object)});
  }
  static constexpr const char* nodes = "/api/v1/nodes";
  static constexpr const char* pods = "/api/v1/pods";
  static constexpr const char* groups = "/apis/scheduling.k8s.io/v1beta1/podgroups";

  void end_list(const std::string& path) {
    line(path, "BOOKMARK",
         fmt::format(R"({{"metadata":{{"resourceVersion":"{}","annotations":)"
                     R"({{"k8s.io/initial-events-end":"true"}}}}}})",
                     version));
  }
  void synced() {
    begin();
    for (const auto* path : {nodes, pods, groups})
      end_list(path);
    log.sent.clear();
  }
  void node(node_json n, std::string_view type = "MODIFIED") {
    n.version = ++version;
    line(nodes, type, n.text());
  }
  void pod(pod_json p, std::string_view type = "MODIFIED") {
    p.version = ++version;
    line(pods, type, p.text());
  }
  /// What was said since the last time, as words: "shard 3: node_seen n1".
  std::vector<std::string> said() {
    std::vector<std::string> out;
    for (const auto& s : std::exchange(log.sent, {}))
      out.push_back(to_text(s.to) + " " + std::string{name_of(s.what)}
                    + std::visit(detail, s.what));
    return out;
  }
  static inline const auto detail = [](const auto& m) -> std::string {
    using T = std::decay_t<decltype(m)>;
    if constexpr (std::is_same_v<T, protocol::node_seen>)
      return " " + m.facts->uid.value;
    else if constexpr (std::is_same_v<T, protocol::node_leaves>)
      return fmt::format(" {} by move {}", m.facts->uid.value, m.move);
    else if constexpr (std::is_same_v<T, protocol::node_gone>)
      return " " + m.uid.value;
    else if constexpr (std::is_same_v<T, protocol::pod_arrived>)
      return fmt::format(" {} on {} takes {}m", m.pod.value, m.node.value,
                         m.takes.amounts.cpu_milli);
    else if constexpr (std::is_same_v<T, protocol::pod_left>)
      return fmt::format(" {} from {}", m.pod.value, m.node.value);
    else if constexpr (std::is_same_v<T, protocol::pod_seen>)
      return " " + m.pod.uid.value;
    else if constexpr (std::is_same_v<T, protocol::pod_gone>)
      return " " + m.uid.value;
    else if constexpr (std::is_same_v<T, protocol::view_trust>)
      return fmt::format("{}{}", m.fresh ? " fresh" : " stale", m.is_anew ? " anew" : "");
    else if constexpr (std::is_same_v<T, protocol::group_seen>)
      return " " + m.group.uid + (m.group.refused.empty() ? "" : " refused");
    else if constexpr (std::is_same_v<T, protocol::group_gone>)
      return " " + m.uid + " " + to_text(m.name);
    else
      return {};
  };
  static std::uint32_t index_of(const std::string& rack) {
    protocol::node_facts facts;
    facts.domains = {"", rack};
    return protocol::shard_of(facts, shards).value;
  }
  static std::string shard_of(const std::string& rack) {
    return to_text(protocol::to_shard({index_of(rack)}));
  }
  /// A rack of another shard than that of `rack`.
  static std::string elsewhere(const std::string& rack, int nth = 0) {
    std::set<std::uint32_t> passed{index_of(rack)};
    for (int i = 0;; ++i)
      if (auto other = fmt::format("other{}", i); passed.insert(index_of(other)).second)
        if (nth-- == 0)
          return other;
  }
  using story = std::vector<std::string>;
};

TEST_F(Mirror, begins_by_telling_shards_and_queue_that_everything_is_told_anew) {
  begin();
  const auto words = said();
  ASSERT_EQ(words.size(), shards + 1);
  EXPECT_EQ(words.front(), "shard(0) view_trust stale anew");
  EXPECT_EQ(words.back(), "queue view_trust stale anew");
}

TEST_F(Mirror, is_trusted_when_nodes_and_pods_are_there_and_synced_when_groups_are_too) {
  begin();
  said();
  end_list(nodes);
  EXPECT_TRUE(said().empty());
  end_list(pods);
  EXPECT_EQ(said().front(), "shard(0) view_trust fresh");
  end_list(groups);
  EXPECT_EQ(said(), (story{"queue facts_synced"}));
}

TEST_F(Mirror, a_stale_watch_is_told_to_all_shards_and_mended_by_a_list) {
  synced();
  log.close(streams.at(pods));
  hear(protocol::stream_closed{streams.at(pods), "reset"});
  EXPECT_EQ(said().front(), "shard(0) view_trust stale");
  hear(protocol::timer_fired{{reflector::retry_timer, 2}});
  find_streams();
  EXPECT_EQ(said().front(), "shard(0) view_trust fresh");
}

TEST_F(Mirror, tells_a_node_only_when_its_facts_change) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_seen N1"}));
  node({.name = "n1", .uid = "N1", .rack = "r1"});
  EXPECT_TRUE(said().empty()) << "a heartbeat";
  node({.name = "n1", .uid = "N1", .rack = "r1", .cpu = 2});
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_seen N1"}));
}

TEST_F(Mirror, the_facts_of_a_node_are_complete) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  const auto facts = log.all<protocol::node_seen>().at(0).facts;
  EXPECT_EQ(facts->name.value, "n1");
  EXPECT_EQ(facts->host_name, "n1");
  EXPECT_EQ(facts->domains, (std::vector<std::string>{"", "r1"}));
  EXPECT_EQ(facts->allocatable.cpu_milli, 4000);
  EXPECT_NE(facts->facts_hash, 0u);
}

/// A pod of another scheduler on n1, with labels and perhaps a distance to pods labelled app=db.
/// Each is a version of its own, newer than all that the lists of a test have.
std::string tied_pod(std::string_view name, std::string_view labels, bool keeps_apart = false) {
  static int version = 1000;
  const auto affinity = keeps_apart
                            ? R"(,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnored)"
                              R"(DuringExecution":[{"topologyKey":"zone","labelSelector":)"
                              R"({"matchLabels":{"app":"db"}}}]}})"
                            : "";
  return fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"uid-{}",)"
                     R"("resourceVersion":"{}","labels":{{{}}}}},"spec":{{"schedulerName":"other",)"
                     R"("nodeName":"n1","containers":[{{"name":"c"}}]{}}},)"
                     R"("status":{{"phase":"Running"}}}})",
                     name, name, ++version, labels, affinity);
}

TEST_F(Mirror, pods_of_every_scheduler_come_with_their_ties_and_equal_ones_share_them) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  line(pods, "ADDED", tied_pod("a", R"("app":"db")"));
  line(pods, "ADDED", tied_pod("b", R"("app":"db","apps.kubernetes.io/pod-index":"7")"));
  const auto came = log.all<protocol::pod_arrived>();
  ASSERT_EQ(came.size(), 2u);
  ASSERT_NE(came[0].ties, nullptr);
  EXPECT_EQ(came[0].ties, came[1].ties) << "labels that number pods are left out";
  line(pods, "MODIFIED", tied_pod("a", R"("app":"web")"));
  ASSERT_EQ(log.all<protocol::pod_arrived>().size(), 3u) << "other labels are told";
  EXPECT_NE(log.all<protocol::pod_arrived>()[2].ties, came[0].ties);
}

TEST_F(Mirror, S15_every_shard_hears_of_a_guard_before_anybody_hears_of_the_pod) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  said();
  line(pods, "ADDED", tied_pod("a", R"("app":"web")", true));
  auto words = said();
  ASSERT_EQ(words.size(), shards + 1);
  EXPECT_EQ(words.front(), "shard(0) guards_seen");
  EXPECT_EQ(words.back(), shard_of("r1") + " pod_arrived uid-a on N1 takes 0m");
  line(pods, "ADDED", tied_pod("b", R"("app":"db")", true));
  words = said();
  EXPECT_EQ(words.size(), 1u) << "the same guard is not told twice";
  hear(protocol::received{protocol::to_shard({3}), protocol::view_wanted{}});
  words = said();
  ASSERT_GE(words.size(), 2u);
  EXPECT_EQ(words[0], "shard(3) view_trust stale anew");
  EXPECT_EQ(words[1], "shard(3) guards_seen");
}

TEST_F(Mirror, a_pod_of_ours_that_selects_by_a_numbering_label_is_refused_in_words) {
  synced();
  line(pods, "ADDED",
       R"({"metadata":{"namespace":"ns","name":"p","uid":"P","resourceVersion":"700"},"spec":)"
       R"({"schedulerName":"tutti","containers":[{"name":"c"}],"affinity":{"podAntiAffinity":)"
       R"({"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",)"
       R"("labelSelector":{"matchLabels":{"volcano.sh/task-index":"3"}}}]}}}})");
  const auto seen = log.all<protocol::pod_seen>();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_NE(seen[0].pod.refused.find("volcano.sh/task-index"), std::string::npos);
}

TEST_F(Mirror, S10_answers_who_awaits_pods_that_have_come_and_gone_unseen) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  for (const auto* name : {"waits", "runs", "finishes", "goes", "runs-elsewhere"})
    pod({.name = name}, "ADDED");
  pod({.name = "runs", .node = "n1"});
  pod({.name = "runs-elsewhere", .node = "n2"});
  node({.name = "n2", .uid = "N2", .rack = "r1"}, "ADDED");
  pod({.name = "finishes", .node = "n1", .phase = "Succeeded"}); // was never seen to run
  pod({.name = "goes"}, "DELETED");
  said();
  awaits({"waits", "runs", "finishes", "goes", "runs-elsewhere", "was-never-here"});
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_left uid-finishes from N1",
                           shard_of("r1") + " pod_left uid-goes from N1",
                           shard_of("r1") + " pod_left uid-runs-elsewhere from N1",
                           shard_of("r1") + " pod_left uid-was-never-here from N1"}));
}

TEST_F(Mirror, S12_says_nothing_of_pods_that_are_awaited_while_it_is_blind) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  log.close(streams.at(pods));
  hear(protocol::stream_closed{streams.at(pods), "reset"});
  said();
  awaits({"p"});
  EXPECT_TRUE(said().empty()) << "it may have come since";
}

TEST_F(Mirror, pods_wait_for_their_node) {
  synced();
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  EXPECT_TRUE(said().empty());
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_seen N1",
                           shard_of("r1") + " pod_arrived uid-p on N1 takes 1000m"}));
}

TEST_F(Mirror, a_node_made_anew_under_the_same_name_gets_its_pods_again) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  said();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "DELETED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_gone N1"}));
  node({.name = "n1", .uid = "N2", .rack = "r1"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_seen N2",
                           shard_of("r1") + " pod_arrived uid-p on N2 takes 1000m"}));
}

TEST_F(Mirror, a_node_whose_delete_was_missed_is_gone_before_it_is_seen) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  said();
  node({.name = "n1", .uid = "N2", .rack = "r1"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_gone N1", shard_of("r1") + " node_seen N2"}));
}

TEST_F(Mirror, a_node_whose_rack_changes_stays_until_its_shard_is_idle_and_takes_its_pods_along) {
  synced();
  const auto to = elsewhere("r1");
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  said();
  node({.name = "n1", .uid = "N1", .rack = to});
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_leaves N1 by move 1"}));
  pod({.name = "q", .node = "n1", .scheduler = "other"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_arrived uid-q on N1 takes 1000m"}));
  idle(index_of("r1"), "N1", 1);
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_gone N1", shard_of(to) + " node_seen N1",
                           shard_of(to) + " pod_arrived uid-p on N1 takes 1000m",
                           shard_of(to) + " pod_arrived uid-q on N1 takes 1000m"}));
  idle(index_of("r1"), "N1", 1);
  EXPECT_TRUE(said().empty()) << "a second copy";
}

TEST_F(Mirror, a_node_that_comes_back_to_its_rack_in_time_does_not_move) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  node({.name = "n1", .uid = "N1", .rack = elsewhere("r1")});
  said();
  node({.name = "n1", .uid = "N1", .rack = "r1"});
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_seen N1"}));
  idle(index_of("r1"), "N1", 1);
  EXPECT_TRUE(said().empty()) << "it may have been promised from since";
  node({.name = "n1", .uid = "N1", .rack = elsewhere("r1")});
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_leaves N1 by move 2"}));
  idle(index_of("r1"), "N1", 1);
  EXPECT_TRUE(said().empty()) << "a word about the first move";
}

TEST_F(Mirror, a_node_that_is_deleted_while_it_leaves_is_gone_from_where_it_is) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  node({.name = "n1", .uid = "N1", .rack = elsewhere("r1")});
  said();
  node({.name = "n1", .uid = "N1", .rack = elsewhere("r1")}, "DELETED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " node_gone N1"}));
  idle(index_of("r1"), "N1", 1);
  EXPECT_TRUE(said().empty());
}

TEST_F(Mirror, no_node_is_told_before_every_shard_has_said_what_it_holds) {
  do_shards_answer = false;
  begin();
  said();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  for (const auto* path : {nodes, pods, groups})
    end_list(path);
  for (std::uint32_t s = 0; s + 1 < shards; ++s)
    holds(s, {});
  EXPECT_FALSE(mirror->is_fresh());
  for (const auto& words : said())
    EXPECT_EQ(words.find("shard"), std::string::npos) << words;
  holds(shards - 1, {});
  const auto words = said();
  ASSERT_EQ(words.size(), 2 + shards + 1) << ::testing::PrintToString(words);
  EXPECT_EQ(words.back(), "queue view_trust fresh");
  EXPECT_EQ(words[0], shard_of("r1") + " node_seen N1");
  EXPECT_EQ(words[1], shard_of("r1") + " pod_arrived uid-p on N1 takes 1000m");
  EXPECT_EQ(words[2], "shard(0) view_trust fresh");
}

TEST_F(Mirror, a_node_relabelled_while_nobody_ran_goes_first_to_all_who_hold_something_on_it) {
  do_shards_answer = false;
  begin();
  const auto one = index_of(elsewhere("r1")), two = index_of(elsewhere("r1", 1));
  for (std::uint32_t s = 0; s < shards; ++s)
    holds(s, s == one || s == two || s == index_of("r1") ? std::vector<base::node_uid>{{"N1"}}
                                                         : std::vector<base::node_uid>{});
  said();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  const auto name = [](std::uint32_t s) { return to_text(protocol::to_shard({s})); };
  const auto first = std::min(one, two), second = std::max(one, two);
  EXPECT_EQ(said(), (story{name(first) + " node_leaves N1 by move 1"}));
  idle(first, "N1", 1);
  EXPECT_EQ(said(),
            (story{name(first) + " node_gone N1", name(second) + " node_leaves N1 by move 2"}));
  idle(second, "N1", 2);
  EXPECT_EQ(said(), (story{name(second) + " node_gone N1", shard_of("r1") + " node_seen N1"}));
}

TEST_F(Mirror, a_shard_that_began_anew_is_told_again_which_nodes_leave) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  node({.name = "n1", .uid = "N1", .rack = elsewhere("r1")});
  said();
  hear(protocol::received{protocol::to_shard({index_of("r1")}), protocol::view_wanted{}});
  const auto me = shard_of("r1");
  EXPECT_EQ(said(), (story{me + " view_trust stale anew", me + " node_leaves N1 by move 2",
                           me + " view_trust fresh"}));
  holds(index_of("r1"), {{"N1"}});
  EXPECT_TRUE(said().empty());
  idle(index_of("r1"), "N1", 1);
  EXPECT_TRUE(said().empty()) << "the word of an earlier life";
}

TEST_F(Mirror, a_terminating_pod_takes_room_until_it_is_gone) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  said();
  auto dying =
      pod_json{.name = "p", .node = "n1", .version = ++version, .scheduler = "other"}.text();
  dying.insert(dying.find("\"namespace\""), R"("deletionTimestamp":"2026-01-01T00:00:00Z",)");
  line(pods, "MODIFIED", dying);
  const auto told = log.all<protocol::pod_arrived>();
  ASSERT_EQ(told.size(), 1u) << "anybody may count on its room now";
  EXPECT_EQ(told[0].priority, std::numeric_limits<std::int32_t>::min());
  said();
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "DELETED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_left uid-p from N1"}));
  EXPECT_EQ(mirror->pods_kept(), 0u);
}

TEST_F(Mirror, who_could_be_evicted_is_told_to_whoever_asks_while_the_view_is_fresh) {
  const auto ask = [this] {
    hear(protocol::received{protocol::to(role_kind::preemption),
                            protocol::offers_wanted{{{"g"}, 1, {1}, 1}, 10}});
    auto answers = log.all<protocol::offers>();
    said();
    return answers;
  };
  begin();
  auto blind = ask();
  ASSERT_EQ(blind.size(), 1u);
  EXPECT_FALSE(blind[0].is_complete);
  EXPECT_TRUE(blind[0].units.empty());
  mirror.reset();
  streams.clear();
  log = {};
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  pod({.name = "waits", .node = ""}, "ADDED");
  pod({.name = "stray", .node = "n2", .scheduler = "other"}, "ADDED");
  said();
  const auto told = ask();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].is_complete);
  ASSERT_EQ(told[0].units.size(), 2u);
  EXPECT_EQ(told[0].units[0].pods[0].pod, base::pod_uid{"uid-p"});
  EXPECT_EQ(told[0].units[0].pods[0].node, base::node_uid{"N1"});
  EXPECT_EQ(told[0].units[0].pods[0].takes.amounts.cpu_milli, 1000);
  EXPECT_FALSE(told[0].units[0].is_exempt);
  EXPECT_TRUE(told[0].units[1].is_exempt) << "its node is not known yet";
}

TEST_F(Mirror, a_terminal_pod_has_left_its_node) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1"}, "ADDED");
  EXPECT_EQ(said().back(), "queue pod_seen uid-p");
  pod({.name = "p", .node = "n1", .phase = "Succeeded"});
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_left uid-p from N1", "queue pod_seen uid-p"}));
  EXPECT_EQ(mirror->pods_kept(), 1u) << "the queue knows it";
  pod({.name = "p", .node = "n1", .phase = "Succeeded"}, "DELETED");
  EXPECT_EQ(said(), (story{"queue pod_gone uid-p"}));
}

TEST_F(Mirror, a_resized_pod_arrives_again_with_what_it_takes_now) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  said();
  pod({.name = "p", .node = "n1", .scheduler = "other", .cpu = 3});
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_arrived uid-p on N1 takes 3000m"}));
}

TEST_F(Mirror, a_pod_that_gets_bound_reaches_its_shard_before_the_queue) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = ""}, "ADDED");
  said();
  pod({.name = "p", .node = "n1"});
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_arrived uid-p on N1 takes 1000m",
                           "queue pod_seen uid-p"}));
}

TEST_F(Mirror, the_queue_hears_of_our_pods_and_of_all_members_of_groups) {
  synced();
  pod({.name = "ours"}, "ADDED");
  pod({.name = "theirs", .scheduler = "other"}, "ADDED");
  pod({.name = "member", .scheduler = "other", .group = "g"}, "ADDED");
  EXPECT_EQ(said(), (story{"queue pod_seen uid-ours", "queue pod_seen uid-member"}));
}

TEST_F(Mirror, pods_of_equal_demands_share_one_shape) {
  synced();
  pod({.name = "a"}, "ADDED");
  pod({.name = "b"}, "ADDED");
  const auto seen = log.all<protocol::pod_seen>();
  EXPECT_EQ(seen.at(0).pod.kind, seen.at(1).pod.kind) << "the same object";
  EXPECT_EQ(seen.at(0).pod.resource_version, "101");
}

TEST_F(Mirror, a_pod_made_anew_under_the_same_name_is_another_pod) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .uid = "one"}, "ADDED");
  said();
  pod({.name = "p", .uid = "two"}, "ADDED");
  EXPECT_EQ(said(), (story{shard_of("r1") + " pod_left one from N1", "queue pod_gone one",
                           "queue pod_seen two"}));
}

TEST_F(Mirror, groups_come_and_go) {
  synced();
  line(groups, "ADDED", group_text("g", ++version, 3));
  EXPECT_EQ(log.all<protocol::group_seen>().at(0).group.min_count, 3u);
  EXPECT_EQ(said(), (story{"queue group_seen g-g"}));
  line(groups, "DELETED", group_text("g", ++version));
  EXPECT_EQ(said(), (story{"queue group_gone g-g ns/g"}));
}

TEST_F(Mirror, tells_each_partition_the_highest_fence_that_stands_on_a_pod_before_it_is_synced) {
  begin();
  const auto fenced = [&](std::string_view name, std::string_view fence) {
    line(pods, "ADDED",
         fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"u-{}",)"
                     R"("resourceVersion":"{}","annotations":{{"tutti.dev/fence":"{}"}}}},)"
                     R"("spec":{{"schedulerName":"somebody-else"}}}})",
                     name, name, ++version, fence));
  };
  fenced("a", "3/7");
  fenced("b", "3/9");
  fenced("c", "4/2");
  fenced("d", "nonsense");
  fenced("e", "5/18446744073709551615");
  end_list(nodes);
  end_list(groups);
  log.sent.clear();
  end_list(pods);
  std::map<std::uint32_t, std::uint64_t> told;
  for (const auto& s : log.sent) {
    if (const auto* m = std::get_if<protocol::fence_found>(&s.what))
      told[s.to.index] = m->highest.value;
    if (std::holds_alternative<protocol::facts_synced>(s.what)) {
      EXPECT_EQ(told.size(), base::limits::partitions) << "before anything is tried";
    }
  }
  EXPECT_EQ(told.at(3), 9u);
  EXPECT_EQ(told.at(4), 2u);
  EXPECT_EQ(told.at(5), 0u) << "no owner writes that";
  EXPECT_EQ(told.at(6), 0u);
  log.sent.clear();
  fenced("f", "6/5");
  EXPECT_TRUE(log.all<protocol::fence_found>().empty()) << "a later owner's";
  for (const auto& [partition, highest] : std::map<std::uint32_t, std::uint64_t>{{3, 9}, {6, 0}}) {
    hear(protocol::received{protocol::to_partition({partition}), protocol::view_wanted{}});
    EXPECT_EQ(log.sent.back().to, protocol::to_partition({partition}));
    EXPECT_EQ(log.all<protocol::fence_found>().back().highest.value, highest)
        << "to one that began anew, as it was";
  }
}

TEST_F(Mirror, makes_groups_of_workloads_where_the_server_has_no_groups) {
  mirror.emplace(mirror_role::options{.shards = shards, .spoken = api::dialect::v1alpha1});
  hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 3, .open = {}});
  find_streams();
  const auto* workloads = "/apis/scheduling.k8s.io/v1alpha1/workloads";
  for (const auto* path : {nodes, pods, workloads})
    end_list(path);
  log.sent.clear();
  const auto member = [&](std::string_view name, std::string_view type) {
    line(pods, type,
         fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"u-{}",)"
                     R"("resourceVersion":"{}"}},"spec":{{"schedulerName":"tutti","workloadRef":)"
                     R"({{"name":"pair","podGroup":"worker","podGroupReplicaKey":"r0"}}}}}})",
                     name, name, ++version));
  };
  member("a", "ADDED");
  EXPECT_EQ(said(), (story{"queue pod_seen u-a"}));
  const auto workload = [&](std::string_view spec) {
    return fmt::format(R"({{"metadata":{{"namespace":"ns","name":"pair","uid":"W",)"
                       R"("resourceVersion":"{}"}},"spec":{}}})",
                       ++version, spec);
  };
  const auto* pair = R"({"podGroups":[{"name":"worker","policy":{"gang":{"minCount":2}}}]})";
  line(workloads, "ADDED", workload(pair));
  member("b", "ADDED");
  EXPECT_EQ(said(), (story{"queue group_seen W/worker/r0", "queue pod_seen u-b"}));
  line(workloads, "MODIFIED", workload(R"({"podGroups":"many"})"));
  EXPECT_EQ(said(), (story{"queue group_seen W/worker/r0 refused"}));
  member("a", "DELETED");
  member("b", "DELETED");
  EXPECT_EQ(said(), (story{"queue pod_gone u-a", "queue pod_gone u-b",
                           "queue group_gone W/worker/r0 ns/pair/worker/r0"}));
}

TEST_F(Mirror, knows_members_by_a_label_where_the_server_has_no_groups_but_ours) {
  mirror.emplace(mirror_role::options{.shards = shards, .spoken = api::dialect::own});
  hear(protocol::started{.epoch = {1}, .incarnation = {1}, .seed = 3, .open = {}});
  find_streams();
  for (const auto* path : {nodes, pods, "/apis/tutti.dev/v1alpha1/podgroups"})
    end_list(path);
  log.sent.clear();
  const auto group_of = [&](std::string_view name, std::string_view labels) {
    line(pods, "ADDED",
         fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"u-{}","labels":{},)"
                     R"("resourceVersion":"{}"}},"spec":{{"schedulerName":"tutti"}}}})",
                     name, name, labels, ++version));
    return log.all<protocol::pod_seen>().back().pod.group;
  };
  EXPECT_EQ(group_of("a", R"({"tutti.dev/pod-group":"ring"})"), "ring");
  EXPECT_EQ(group_of("b", R"({"app":"ring"})"), "");
}

TEST_F(Mirror, lets_nobody_start_alone_whose_label_does_not_count_here) {
  synced();
  const auto refusal = [&](std::string_view name, std::string_view spec) {
    line(pods, "ADDED",
         fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"u-{}","labels":)"
                     R"({{"tutti.dev/pod-group":"ring"}},"resourceVersion":"{}"}},)"
                     R"("spec":{{"schedulerName":"tutti"{}}}}})",
                     name, name, ++version, spec));
    return log.all<protocol::pod_seen>().back().pod.refused;
  };
  EXPECT_NE(refusal("a", "").find("the label tutti.dev/pod-group counts only"), std::string::npos);
  EXPECT_EQ(refusal("b", R"(,"schedulingGroup":{"podGroupName":"ring"})"), "");
}

TEST_F(Mirror, a_pod_with_demands_that_nobody_weighs_is_refused_in_words) {
  synced();
  const auto with = [&](std::string_view name, std::string_view spec) {
    line(pods, "ADDED",
         fmt::format(R"({{"metadata":{{"namespace":"ns","name":"{}","uid":"u-{}",)"
                     R"("resourceVersion":"{}"}},"spec":{{"schedulerName":"tutti",{}}}}})",
                     name, name, ++version, spec));
    return log.all<protocol::pod_seen>().back().pod.refused;
  };
  EXPECT_EQ(with("a", R"("topologySpreadConstraints":[{"whenUnsatisfiable":"DoNotSchedule"}],)"
                      R"("resourceClaims":[{"name":"gpu"}])"),
            "asks for spec.topologySpreadConstraints[0], spec.resourceClaims, which this scheduler "
            "does not weigh yet");
  EXPECT_EQ(with("b", R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"}])"),
            "");
  EXPECT_EQ(with("c", R"("schedulingGroup":{})"), "spec.schedulingGroup names no PodGroup");
}

TEST_F(Mirror, a_group_that_cannot_be_read_is_refused_visibly) {
  synced();
  line(groups, "ADDED",
       fmt::format(R"({{"metadata":{{"namespace":"ns","name":"g","uid":"g-g",)"
                   R"("resourceVersion":"{}"}},"spec":{{"schedulingPolicy":7}}}})",
                   ++version));
  EXPECT_EQ(said(), (story{"queue group_seen g-g refused"}));
}

TEST_F(Mirror, a_shard_that_began_anew_is_told_everything_again) {
  synced();
  node({.name = "n1", .uid = "N1", .rack = "r1"}, "ADDED");
  pod({.name = "p", .node = "n1", .scheduler = "other"}, "ADDED");
  said();
  protocol::node_facts facts;
  facts.domains = {"", "r1"};
  const auto shard = protocol::shard_of(facts, shards);
  hear(protocol::received{protocol::to_shard(shard), protocol::view_wanted{}});
  const auto me = shard_of("r1");
  EXPECT_EQ(said(), (story{me + " view_trust stale anew", me + " node_seen N1",
                           me + " pod_arrived uid-p on N1 takes 1000m", me + " view_trust fresh"}));
}

TEST_F(Mirror, a_queue_that_began_anew_is_told_everything_again) {
  synced();
  pod({.name = "p"}, "ADDED");
  line(groups, "ADDED", group_text("g", ++version));
  said();
  hear(protocol::received{protocol::to(role_kind::queue), protocol::view_wanted{}});
  EXPECT_EQ(said().front(), "queue view_trust stale anew") << "before the first word of it";
  find_streams();
  line(pods, "ADDED", pod_json{.name = "p", .version = 101}.text());
  line(groups, "ADDED", group_text("g", 102));
  end_list(pods);
  end_list(groups);
  EXPECT_EQ(log.all<protocol::pod_seen>().size(), 1u);
  EXPECT_EQ(log.all<protocol::group_seen>().size(), 1u);
  EXPECT_EQ(log.all<protocol::facts_synced>().size(), 1u);
}

TEST_F(Mirror, a_queue_that_began_anew_in_the_middle_of_the_first_list_misses_nothing) {
  begin();
  pod({.name = "early"}, "ADDED"); // heard by the life before
  said();
  hear(protocol::received{protocol::to(role_kind::queue), protocol::view_wanted{}});
  EXPECT_EQ(said(), (story{"queue view_trust stale anew"}));
  find_streams();
  end_list(nodes);
  line(pods, "ADDED", pod_json{.name = "early", .version = 101}.text());
  end_list(pods);
  EXPECT_EQ(log.all<protocol::facts_synced>().size(), 0u);
  end_list(groups);
  EXPECT_EQ(log.all<protocol::facts_synced>().size(), 1u);
  EXPECT_EQ(log.all<protocol::pod_seen>().size(), 1u);
}

TEST_F(Mirror, a_queue_that_asks_before_the_first_word_costs_no_second_list) {
  begin();
  log.open.clear();
  hear(protocol::received{protocol::to(role_kind::queue), protocol::view_wanted{}});
  EXPECT_TRUE(log.open.empty());
  EXPECT_EQ(said().back(), "queue view_trust stale anew");
}

TEST_F(Mirror, a_view_that_is_lost_and_found_is_told_to_the_queue) {
  synced();
  hear(protocol::stream_closed{streams.at(nodes), "reset"});
  EXPECT_EQ(said().back(), "queue view_trust stale");
}

TEST_F(Mirror, describes_itself) {
  synced();
  now += 3s;
  hear(protocol::received{protocol::to(role_kind::admin), protocol::inspect{7, "mirror", ""}});
  const auto answer = log.all<protocol::inspected>().at(0);
  EXPECT_EQ(answer.id, 7u);
  const auto json = boost::json::parse(answer.json);
  EXPECT_TRUE(json.at("synced").as_bool());
  EXPECT_TRUE(json.at("fresh").as_bool());
  const auto& pods_view = json.at("resources").at(1);
  EXPECT_EQ(pods_view.at("resourceVersion"), "100");
  EXPECT_EQ(pods_view.at("quietMs"), 3000);
  EXPECT_EQ(pods_view.at("objects"), 0);
}

} // namespace
} // namespace tutti::bridge
