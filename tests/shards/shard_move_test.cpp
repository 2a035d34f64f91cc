// A node whose rack label names another shard: kept for what is promised on it, promised no more.
#include "shards/shard_role.hpp"

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

struct ShardMove : ShardStory {
  void leaves_us(const std::string& name, std::uint64_t move = 1) {
    world.tell(protocol::node_leaves{facts(name, 4, "other rack"), move});
  }
  /// The mirror was told that nothing is promised on `name`, in answer to `move`.
  bool is_idle(const std::string& name, std::uint64_t move = 1) {
    const auto word = world.take<protocol::node_idle>();
    return word && word->node == words::node(name) && word->move == move;
  }
  std::vector<base::node_uid> held_nodes() {
    const auto word = world.take<protocol::nodes_held>();
    EXPECT_TRUE(word.has_value());
    return word ? word->nodes : std::vector<base::node_uid>{};
  }
  /// What the topology believes may be placed on `name`.
  std::optional<base::resources> offered(const std::string& name) {
    std::optional<base::resources> out;
    while (const auto d = world.take<protocol::view_delta>())
      for (const auto& n : d->nodes)
        if (n.uid == words::node(name) && !n.is_gone)
          out = n.free;
    return out;
  }
};

TEST_F(ShardMove, a_node_without_promises_may_go_at_once) {
  leaves_us("n1");
  EXPECT_TRUE(is_idle("n1"));
  EXPECT_TRUE(world.has_node("n1")) << "until the mirror says so: it may come back";
  leaves_us("n1");
  EXPECT_TRUE(is_idle("n1")) << "told again, said again";
  leaves_us("n1", 2);
  EXPECT_TRUE(is_idle("n1", 2));
  node_gone("n1");
  EXPECT_FALSE(world.has_node("n1"));
  EXPECT_FALSE(world.take<protocol::node_idle>());
}

TEST_F(ShardMove, a_node_that_leaves_is_not_promised_from_and_offers_nothing) {
  leaves_us("n1");
  EXPECT_EQ(offered("n1"), base::resources{});
  EXPECT_FALSE(promised(g, slice({{"a", "n1"}})));
  EXPECT_EQ(last.why_not.primary, base::reason_code::view_stale);
  EXPECT_NE(last.why_not.detail.find("another shard"), std::string::npos) << last.why_not.detail;
  node("n1", 4);
  EXPECT_EQ(offered("n1"), cpus(4));
  EXPECT_TRUE(promised(g, slice({{"a", "n1"}}))) << "it has come back";
}

TEST_F(ShardMove, a_prepared_promise_keeps_the_node_until_it_is_given_up) {
  EXPECT_TRUE(promised(g, g_asks));
  leaves_us("n1");
  EXPECT_FALSE(world.take<protocol::node_idle>());
  EXPECT_FALSE(world.take<protocol::pressure>()) << "its room is not taken";
  EXPECT_EQ(world.free_cpus("n1"), 2);
  abort(g);
  EXPECT_TRUE(is_idle("n1"));
}

TEST_F(ShardMove, a_prepared_promise_on_a_node_that_leaves_can_be_committed_and_bound) {
  EXPECT_TRUE(promised(g, g_asks));
  leaves_us("n1");
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  world.ask_node({g, words::node("n1"), {pod("a")}});
  EXPECT_EQ(world.take<protocol::may_bind_answer>()->allowed, std::vector{pod("a")});
  EXPECT_FALSE(world.take<protocol::node_idle>());
  runs("a", "n1", 2);
  EXPECT_TRUE(is_idle("n1")) << "the pod is there for every shard to see";
}

TEST_F(ShardMove, a_committed_promise_keeps_the_node_until_it_is_released) {
  EXPECT_TRUE(committed(g, g_asks));
  leaves_us("n1");
  release(g, {pod("b")});
  EXPECT_FALSE(world.take<protocol::node_idle>()) << "a is on n1";
  release(g, {pod("a")});
  EXPECT_TRUE(is_idle("n1"));
}

TEST_F(ShardMove, a_slice_that_is_being_asked_for_keeps_the_node) {
  world.cut_off("n2");
  prepare(g, g_asks);
  leaves_us("n1");
  EXPECT_FALSE(world.take<protocol::node_idle>()) << "n1 has said yes, n2 not yet";
  world.connect("n2");
  EXPECT_TRUE(voted_yes());
  EXPECT_FALSE(world.take<protocol::node_idle>());
  abort(g);
  EXPECT_TRUE(is_idle("n1"));
}

TEST_F(ShardMove, a_victim_keeps_its_node_until_it_is_gone) {
  runs("v", "n2", 4);
  EXPECT_TRUE(promised(g, slice({{"a", "n1"}}, {{"v", "n2"}})));
  leaves_us("n2");
  EXPECT_FALSE(world.take<protocol::node_idle>()) << "another shard would lend its room again";
  leaves("v", "n2");
  EXPECT_TRUE(is_idle("n2"));
}

TEST_F(ShardMove, a_commit_that_was_forgotten_takes_no_room_on_a_node_that_leaves) {
  leaves_us("n1");
  EXPECT_TRUE(is_idle("n1"));
  commit(g, g_asks);
  EXPECT_FALSE(acked()) << "it was called idle";
  EXPECT_EQ(state(g), reservation_state::absent);
}

TEST_F(ShardMove, a_new_life_says_what_it_holds_and_gets_the_node_back_until_it_is_idle) {
  EXPECT_TRUE(promised(g, slice({{"a", "n1"}})));
  EXPECT_TRUE(committed(h, slice({{"b", "n2"}})));
  EXPECT_TRUE(promised(attempt("done"), slice({{"c", "n2"}})));
  abort(attempt("done"));
  world.crash();
  world.restart();
  fresh(false, true);
  EXPECT_EQ(held_nodes(), (std::vector{words::node("n1"), words::node("n2")}));
  leaves_us("n1", 1);
  leaves_us("n2", 2);
  fresh(true);
  EXPECT_EQ(world.free_cpus("n1"), 2) << "in doubt, and held";
  EXPECT_EQ(world.free_cpus("n2"), 2);
  EXPECT_FALSE(world.take<protocol::node_idle>());
  EXPECT_FALSE(promised(attempt("rival"), slice({{"x", "n1"}})));
  owner_says(g, false);
  EXPECT_TRUE(is_idle("n1", 1));
  runs("b", "n2", 2);
  EXPECT_TRUE(is_idle("n2", 2));
}

TEST_F(ShardMove, a_promise_whose_pod_was_bound_meanwhile_is_no_reason_to_stay) {
  EXPECT_TRUE(committed(g, slice({{"a", "n1"}})));
  world.crash();
  world.restart();
  fresh(false, true);
  EXPECT_EQ(held_nodes(), std::vector{words::node("n1")}) << "as far as it knows";
  leaves_us("n1");
  runs("a", "n1", 2);
  EXPECT_TRUE(is_idle("n1"));
}

TEST_F(ShardMove, a_mirror_that_begins_anew_hears_of_what_is_being_asked_for_too) {
  world.cut_off("n2");
  prepare(g, g_asks);
  fresh(false, true);
  EXPECT_EQ(held_nodes(), (std::vector{words::node("n1"), words::node("n2")}));
}

} // namespace
} // namespace tutti::shards
