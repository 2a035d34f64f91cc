// The node actor's role: begins, holds, lets go, allows Bindings, ends.
#include "shards/node_role.hpp"

#include <gtest/gtest.h>

#include "tests/shards/words.hpp"

namespace tutti::shards {
namespace {

using namespace words;
using namespace protocol;

struct NodeRole : testing::Test {
  node_role role{node("n")};
  effects last;

  template <class M>
  void hears(M what, address from = to_shard({3})) {
    last = role.on(received{std::move(from), message{std::move(what)}}, {});
  }
  template <class M>
  const M* answer() const {
    for (const auto& e : last.list())
      if (const auto* s = std::get_if<send>(&e))
        return std::get_if<M>(&s->what);
    return nullptr;
  }
  bool holds(const base::attempt_id& who, std::vector<protocol::seat> seats,
             std::uint64_t hash = 0) {
    hears(hold{who, std::move(seats), {}, hash});
    return answer<held>()->yes;
  }
  void begin(std::int64_t cpu) { hears(node_begin{facts("n", cpu), {}, {}}); }
};

TEST_F(NodeRole, before_it_knows_itself_it_holds_nothing) {
  EXPECT_FALSE(holds(attempt("g"), {seat("a", "n", taking(1))}));
  EXPECT_TRUE(answer<held>()->moved);
}

TEST_F(NodeRole, tells_its_shard_what_room_it_has_when_it_begins) {
  hears(node_begin{facts("n", 4),
                   {{pod("r"), taking(1)}},
                   {hold{attempt("g"), {seat("a", "n", taking(2))}, {}, 0}}});
  EXPECT_EQ(answer<room>()->free.amounts, cpus(1));
}

TEST_F(NodeRole, says_held_with_what_is_left) {
  begin(4);
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(3))}));
  EXPECT_EQ(answer<held>()->free.amounts, cpus(1));
}

TEST_F(NodeRole, says_what_is_short_and_who_holds_it) {
  begin(4);
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(3))}));
  EXPECT_FALSE(holds(attempt("h"), {seat("b", "n", taking(2))}));
  EXPECT_EQ(answer<held>()->short_pod, pod("b"));
  EXPECT_EQ(answer<held>()->lacking, (base::shortage{"cpu", 2000, 1000}));
  EXPECT_EQ(answer<held>()->holders, std::vector{attempt("g")});
}

TEST_F(NodeRole, refuses_a_plan_that_was_made_on_other_facts) {
  begin(4);
  const auto now = facts("n", 4)->facts_hash;
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(1))}, now));
  hears(node_changed{facts("n", 4, "tainted")});
  EXPECT_FALSE(holds(attempt("h"), {seat("b", "n", taking(1))}, now));
  EXPECT_TRUE(answer<held>()->moved);
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(1))}, now)) << "held before, and repeated";
}

TEST_F(NodeRole, lets_go_of_some_or_all) {
  begin(4);
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(1)), seat("b", "n", taking(2))}));
  hears(let_go{attempt("g"), {pod("b")}});
  EXPECT_EQ(answer<room>()->free.amounts, cpus(3));
  hears(let_go{attempt("g"), {}});
  EXPECT_EQ(answer<room>()->free.amounts, cpus(4));
}

TEST_F(NodeRole, allows_what_really_fits_and_remembers_no_refusal) {
  begin(4);
  EXPECT_TRUE(holds(attempt("g"), {seat("a", "n", taking(2)), seat("b", "n", taking(2))}));
  hears(pod_arrived{node("n"), pod("stranger"), taking(2)});
  EXPECT_EQ(answer<room>()->free.amounts, cpus(-2));
  hears(may_bind{attempt("g"), node("n"), {pod("a"), pod("b")}}, to_gang({"g"}));
  EXPECT_EQ(answer<may_bind_answer>()->allowed, std::vector{pod("a")});
  EXPECT_EQ(answer<may_bind_answer>()->refused, std::vector{pod("b")});
  hears(pod_left{node("n"), pod("stranger")});
  EXPECT_EQ(answer<may_bind_answer>(), nullptr) << "the gang asks again by itself";
  hears(may_bind{attempt("g"), node("n"), {pod("b")}}, to_gang({"g"}));
  EXPECT_EQ(answer<may_bind_answer>()->allowed, std::vector{pod("b")});
}

TEST_F(NodeRole, ends_when_its_node_is_gone) {
  begin(4);
  hears(node_gone{node("n")});
  ASSERT_EQ(last.list().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<retire>(last.list().front()));
}

TEST_F(NodeRole, a_node_that_moved_obeys_the_shard_that_has_begun_it_and_no_other) {
  hears(node_gone{node("n")}, to_shard({1}));
  EXPECT_TRUE(last.empty()) << "about the life before this one";
  begin(4);
  hears(hold{attempt("g"), {seat("a", "n", taking(1))}, {}, 0}, to_shard({1}));
  EXPECT_EQ(answer<held>(), nullptr);
  hears(node_gone{node("n")}, to_shard({1}));
  EXPECT_TRUE(last.empty());
  EXPECT_EQ(role.ledger().free().amounts, cpus(4));
}

TEST_F(NodeRole, equal_stories_in_another_order_end_in_equal_states) {
  begin(4);
  hears(pod_arrived{node("n"), pod("p"), taking(1)});
  hears(hold{attempt("g"), {seat("a", "n", taking(1))}, {}, 0});
  node_role other{node("n")};
  for (const auto& m : {message{node_begin{facts("n", 4), {}, {}}},
                        message{hold{attempt("g"), {seat("a", "n", taking(1))}, {}, 0}},
                        message{pod_arrived{node("n"), pod("p"), taking(1)}}})
    (void)other.on(received{to_shard({3}), m}, {});
  EXPECT_EQ(role.state_hash(), other.state_hash());
}

} // namespace
} // namespace tutti::shards
