// A node gets another rack label, and with it another shard, while room on it is promised.
#include "tests/actors/stage.hpp"

#include "protocol/sharding.hpp"

namespace tutti::actors::testing {
namespace {

struct SchedulerMove : ::testing::Test {
  stage on{{.fast_path = true}};

  static base::shard_id shard_of_rack(const std::string& rack) {
    protocol::node_facts facts;
    facts.domains = {rack};
    return protocol::shard_of(facts, 2);
  }
  /// A rack of the other shard.
  static std::string other_rack() {
    std::string out = "b";
    while (shard_of_rack(out) == shard_of_rack("a"))
      out += "b";
    return out;
  }
  std::int64_t nodes_of(base::shard_id shard) {
    const auto said = on.ask(protocol::to_shard(shard), "shards", {});
    return said.is_object() ? said.at("nodes").as_int64() : -1;
  }
  /// All of node "n" is promised to gang "g", whose Bindings are on their way.
  void promise_all_of_a_node() {
    on.node("n", 8, "a");
    on.keep_bindings();
    ASSERT_TRUE(on.start());
    ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
    on.gang("g", 2, 4);
    ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 2; }));
  }
  void the_rival_is_refused_and_the_node_moves_afterwards() {
    on.gang("rival", 2, 4);
    ASSERT_TRUE(eventually([this] {
      return on.word("rival", "reason") == "InsufficientResources";
    })) << on.all_words("rival");
    EXPECT_EQ(nodes_of(shard_of_rack("a")), 1);
    on.let_bindings_go();
    ASSERT_TRUE(eventually([this] { return on.is_bound("g", 2); })) << on.all_words("g");
    ASSERT_TRUE(eventually([this] { return nodes_of(shard_of_rack(other_rack())) == 1; }));
    EXPECT_EQ(nodes_of(shard_of_rack("a")), 0);
    EXPECT_FALSE(on.is_bound("rival", 2));
    on.node("m", 8, other_rack());
    EXPECT_TRUE(eventually([this] { return on.is_bound("rival", 2); })) << on.all_words("rival");
    EXPECT_EQ(on.failures(), 0u) << on.failure().message();
  }
};

TEST_F(SchedulerMove, room_on_a_node_that_changes_its_shard_is_not_promised_twice) {
  promise_all_of_a_node();
  on.node("n", 8, other_rack());
  the_rival_is_refused_and_the_node_moves_afterwards();
}

TEST_F(SchedulerMove, nor_when_it_was_relabelled_while_nobody_ran) {
  promise_all_of_a_node();
  on.stop();
  on.node("n", 8, other_rack());
  on.keep_bindings();
  ASSERT_TRUE(on.start());
  ASSERT_TRUE(eventually([this] { return on.is_ready(); }));
  ASSERT_TRUE(eventually([this] { return on.bindings_kept() == 2; })) << on.all_words("g");
  the_rival_is_refused_and_the_node_moves_afterwards();
}

TEST_F(SchedulerMove, an_idle_node_moves_at_once_and_is_used) {
  on.node("n", 8, "a");
  ASSERT_TRUE(on.start());
  ASSERT_TRUE(eventually([this] { return nodes_of(shard_of_rack("a")) == 1; }));
  on.node("n", 8, other_rack());
  ASSERT_TRUE(eventually([this] { return nodes_of(shard_of_rack(other_rack())) == 1; }));
  on.gang("g", 2, 4);
  EXPECT_TRUE(eventually([this] { return on.is_bound("g", 2); })) << on.all_words("g");
}

} // namespace
} // namespace tutti::actors::testing
