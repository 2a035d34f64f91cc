// What a shard's or a node's next steps depend on is in its hash: states that differ in one thing
// hash differently.
#include <functional>
#include <map>

#include "shards/node_role.hpp"
#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

struct tale : ShardStory {
  void TestBody() override {}
  /// Heard by the shard alone: its nodes answer nothing yet.
  void shard_hears(protocol::message m) {
    (void)alone.on(protocol::received{{}, std::move(m)}, {});
  }
  void begins(std::uint64_t life = 7) {
    (void)alone.on(protocol::started{.epoch = {1}, .incarnation = {life}}, {});
  }
  void is_told(bool fresh = true) {
    begins();
    shard_hears(protocol::view_trust{false, true});
    shard_hears(protocol::node_seen{words::facts("n1", 4)});
    shard_hears(protocol::node_seen{words::facts("n2", 4)});
    shard_hears(protocol::view_trust{fresh, false});
  }
  void nodes_speak(std::int64_t cpu = 4) {
    for (const char* n : {"n1", "n2"})
      shard_hears(protocol::room{words::node(n), words::taking(cpu)});
  }
  void is_asked(bool fast = false, std::uint64_t low_water = 0) {
    is_told();
    nodes_speak();
    shard_hears(protocol::prepare{g, low_water, coordinator(g), g_asks, fast, 1});
  }
  void says_held(const char* name, bool yes = true, std::int64_t free = 2) {
    shard_hears(protocol::held{
        .attempt = g, .node = words::node(name), .yes = yes, .free = words::taking(free)});
  }
  void is_promised(bool fast = false) {
    is_asked(fast);
    says_held("n1");
    says_held("n2");
  }
  void is_committed() {
    is_promised();
    shard_hears(protocol::commit{g, 0, coordinator(g), g_asks});
  }
  shard_role alone{{.shard = {0}, .shards = 1}};
};

using telling = std::function<void(tale&)>;

/// Each differs from another one in one thing that the shard remembers.
const std::map<std::string, telling> shard_stories{
    {"nothing heard", [](tale&) {}},
    {"begun", [](tale& t) { t.begins(); }},
    {"begun in a later life", [](tale& t) { t.begins(8); }},
    {"is being told",
     [](tale& t) {
       t.begins();
       t.shard_hears(protocol::view_trust{false, true});
     }},
    {"told, and stale", [](tale& t) { t.is_told(false); }},
    {"told", [](tale& t) { t.is_told(); }},
    {"the nodes have spoken",
     [](tale& t) {
       t.is_told();
       t.nodes_speak();
     }},
    {"the nodes have less room",
     [](tale& t) {
       t.is_told();
       t.nodes_speak(3);
     }},
    {"a pod runs",
     [](tale& t) {
       t.is_told();
       t.shard_hears(protocol::pod_arrived{words::node("n1"), {"x"}, words::taking(1)});
     }},
    {"a larger pod runs",
     [](tale& t) {
       t.is_told();
       t.shard_hears(protocol::pod_arrived{words::node("n1"), {"x"}, words::taking(2)});
     }},
    {"asked", [](tale& t) { t.is_asked(); }},
    {"asked for the fast path", [](tale& t) { t.is_asked(true); }},
    {"asked under a higher low water", [](tale& t) { t.is_asked(false, 1); }},
    {"asked, and decided meanwhile",
     [](tale& t) {
       t.is_asked();
       t.shard_hears(protocol::commit{t.g, 0, t.coordinator(t.g), t.g_asks});
     }},
    {"one node holds",
     [](tale& t) {
       t.is_asked();
       t.says_held("n1");
     }},
    {"the other node holds",
     [](tale& t) {
       t.is_asked();
       t.says_held("n2");
     }},
    {"one node refuses",
     [](tale& t) {
       t.is_asked();
       t.says_held("n1", false);
     }},
    {"one node has died",
     [](tale& t) {
       t.is_asked();
       (void)t.alone.on(protocol::child_died{protocol::to_node(words::node("n1"))}, {});
     }},
    {"promised", [](tale& t) { t.is_promised(); }},
    {"promised on the fast path", [](tale& t) { t.is_promised(true); }},
    {"asked what became of it",
     [](tale& t) {
       t.is_promised();
       (void)t.alone.on(protocol::timer_fired{{1, std::hash<base::attempt_id>{}(t.g)}}, {});
     }},
    {"committed", [](tale& t) { t.is_committed(); }},
    {"committed and finished",
     [](tale& t) {
       t.is_committed();
       t.shard_hears(protocol::finish{t.g});
     }},
    {"committed, one seat released",
     [](tale& t) {
       t.is_committed();
       t.shard_hears(protocol::release{t.g, {{"a"}}});
     }},
    {"given up",
     [](tale& t) {
       t.is_promised();
       t.shard_hears(protocol::abort_attempt{t.g, 0});
     }},
    {"a later owner",
     [](tale& t) {
       t.is_told();
       t.nodes_speak();
       t.shard_hears(protocol::new_epoch{t.coordinator(t.g), {2}, 0});
     }},
};

TEST(state_hash, of_shards_in_different_states_differs) {
  std::map<std::uint64_t, std::string> seen;
  for (const auto& [name, story] : shard_stories) {
    tale t;
    story(t);
    const auto [pos, is_new] = seen.emplace(t.alone.state_hash(), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << pos->second;
  }
}

/// Found by the small model: PREPARE, then the word of a later owner, then the node's yes.
TEST(ShardEpochs, S8_a_later_owner_that_comes_while_nodes_are_asked_ends_the_older_attempt) {
  tale t;
  t.is_asked();
  t.shard_hears(protocol::new_epoch{t.coordinator(t.g), {2}, 0});
  t.says_held("n1");
  const auto last = t.alone.on(protocol::received{{},
                                                  protocol::held{.attempt = t.g,
                                                                 .node = words::node("n2"),
                                                                 .yes = true,
                                                                 .free = words::taking(2)}},
                               {});
  EXPECT_EQ(t.alone.reservations().find(t.g), nullptr);
  bool has_voted = false;
  for (const auto& e : last.list())
    if (const auto* s = std::get_if<protocol::send>(&e))
      if (const auto* v = std::get_if<protocol::vote>(&s->what)) {
        has_voted = true;
        EXPECT_FALSE(v->yes);
      }
  EXPECT_TRUE(has_voted);
}

struct seat_keeper {
  node_role role{words::node("n")};
  void hear(protocol::message m, std::uint32_t shard = 3) {
    (void)role.on(protocol::received{protocol::to_shard({shard}), std::move(m)}, {});
  }
  void begins(std::uint32_t shard = 3) {
    hear(protocol::node_begin{words::facts("n", 4), {}, {}}, shard);
  }
  void holds(const char* gang, std::vector<protocol::victim> victims = {}) {
    hear(protocol::hold{
        words::attempt(gang), {words::seat("a", "n", words::taking(1))}, std::move(victims), 0});
  }
};

TEST(state_hash, of_nodes_in_different_states_differs) {
  const std::map<std::string, std::function<void(seat_keeper&)>> stories{
      {"nothing heard", [](seat_keeper&) {}},
      {"begun", [](seat_keeper& n) { n.begins(); }},
      {"begun by another shard", [](seat_keeper& n) { n.begins(4); }},
      {"resized",
       [](seat_keeper& n) {
         n.begins();
         n.hear(protocol::node_changed{words::facts("n", 5)});
       }},
      {"holds",
       [](seat_keeper& n) {
         n.begins();
         n.holds("g");
       }},
      {"holds for another",
       [](seat_keeper& n) {
         n.begins();
         n.holds("h");
       }},
      {"holds for both",
       [](seat_keeper& n) {
         n.begins();
         n.holds("g");
         n.holds("h");
       }},
      {"held before it was made anew",
       [](seat_keeper& n) {
         n.hear(protocol::node_begin{
             words::facts("n", 4),
             {},
             {{words::attempt("g"), {words::seat("a", "n", words::taking(1))}, {}, 0}}});
       }},
      {"has given leave",
       [](seat_keeper& n) {
         n.begins();
         n.holds("g");
         n.hear(protocol::may_bind{words::attempt("g"), words::node("n"), {{"a"}}});
       }},
      {"the pod is here",
       [](seat_keeper& n) {
         n.begins();
         n.hear(protocol::pod_arrived{words::node("n"), {"a"}, words::taking(1)});
       }},
      {"the pod is here, and was held",
       [](seat_keeper& n) {
         n.begins();
         n.holds("g");
         n.hear(protocol::pod_arrived{words::node("n"), {"a"}, words::taking(1)});
       }},
      {"holds, and names a victim",
       [](seat_keeper& n) {
         n.begins();
         n.holds("g", {words::victim("v", "n")});
       }},
  };
  std::map<std::uint64_t, std::string> seen;
  for (const auto& [name, story] : stories) {
    seat_keeper n;
    story(n);
    const auto [pos, is_new] = seen.emplace(n.role.state_hash(), name);
    EXPECT_TRUE(is_new) << name << " hashes as " << pos->second;
  }
}

} // namespace
} // namespace tutti::shards
