// Nodes and pods as the mirror tells them, the view that the topology gets, pressure, and JSON.
#include "shards/shard_role.hpp"

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

struct ShardView : ShardStory {
  std::optional<protocol::view_delta> delta() { return world.take<protocol::view_delta>(); }
  std::string read(const char* what, const char* name = "") {
    world.tell(protocol::inspect{1, what, name}, protocol::to(protocol::role_kind::admin));
    auto answer = world.take<protocol::inspected>();
    EXPECT_TRUE(answer.has_value());
    return answer ? answer->json : "";
  }
};

TEST_F(ShardView, a_new_life_asks_the_mirror_for_everything) {
  world.crash();
  world.restart();
  EXPECT_TRUE(world.take<protocol::view_wanted>());
}

TEST_F(ShardView, L4_a_new_life_tells_a_whole_view_though_all_its_nodes_went_while_it_was_dead) {
  world.crash();
  world.restart();
  world.mail.clear();
  fresh(false, true);
  fresh(true);
  const auto told = delta();
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->is_whole);
  EXPECT_TRUE(told->nodes.empty());
}

TEST_F(ShardView, a_new_node_is_told_with_its_facts_once_its_actor_has_spoken) {
  world.cut_off("n3");
  node("n3", 8);
  EXPECT_FALSE(delta());
  world.connect("n3");
  const auto d = delta();
  ASSERT_TRUE(d && d->nodes.size() == 1);
  EXPECT_EQ(d->nodes[0].free, cpus(8));
  ASSERT_TRUE(d->nodes[0].facts);
  EXPECT_EQ(d->nodes[0].facts->name.value, "n3");
}

TEST_F(ShardView, nothing_is_told_before_the_list_is_complete_and_every_actor_has_spoken) {
  const auto n1 = facts("n1", 4), n2 = facts("n2", 4);
  shard_role role{{.shard = {0}, .shards = 1}};
  auto tells = [&role](protocol::message what) {
    auto said = role.on(protocol::received{{}, std::move(what)}, {});
    std::optional<protocol::view_delta> told;
    for (const auto& e : said.list())
      if (const auto* s = std::get_if<protocol::send>(&e))
        if (const auto* d = std::get_if<protocol::view_delta>(&s->what))
          told = *d;
    return told;
  };
  (void)role.on(protocol::started{{1}, {1}, 0, {}}, {});
  EXPECT_FALSE(tells(protocol::view_wanted{}));
  EXPECT_FALSE(tells(protocol::node_seen{n1}));
  EXPECT_FALSE(tells(protocol::room{n1->uid, {cpus(4), {}}})) << "n2 is not listed yet";
  EXPECT_FALSE(tells(protocol::node_seen{n2}));
  EXPECT_FALSE(tells(protocol::view_trust{.fresh = true})) << "n2 has not spoken";
  const auto whole = tells(protocol::room{n2->uid, {cpus(4), {}}});
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->is_whole);
  EXPECT_EQ(whole->nodes.size(), 2u);
}

TEST_F(ShardView, versions_ascend_by_one_and_facts_are_told_once) {
  runs("p", "n1", 1);
  const auto first = delta();
  runs("q", "n1", 1);
  const auto second = delta();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->version, first->version + 1);
  EXPECT_EQ(second->nodes.at(0).facts, nullptr);
  EXPECT_EQ(second->nodes.at(0).free, cpus(2));
  EXPECT_FALSE(second->is_whole);
}

TEST_F(ShardView, a_promise_is_one_delta_with_all_its_nodes_and_the_settled_attempt) {
  EXPECT_TRUE(promised(g, g_asks));
  const auto d = delta();
  ASSERT_TRUE(d);
  EXPECT_EQ(d->nodes.size(), 2u);
  EXPECT_EQ(d->settled, std::vector{g});
  EXPECT_FALSE(delta()) << "not one per node";
  abort(g);
  EXPECT_EQ(delta()->settled, std::vector{g});
}

TEST_F(ShardView, who_plans_on_a_wrong_view_is_told_again_what_is_so) {
  prepare(g, slice({{"a", "n1", 5}}));
  const auto room = delta();
  ASSERT_TRUE(room && room->nodes.size() == 1);
  EXPECT_EQ(room->nodes[0].free, cpus(4)) << "although nothing has changed";
  EXPECT_TRUE(room->nodes[0].facts);

  auto moved = slice({{"a", "n1"}});
  moved->quotes.push_back({words::node("n1"), 4711});
  moved->quotes.push_back({words::node("never-there"), 4711});
  prepare(attempt("h"), moved);
  const auto facts = delta();
  ASSERT_TRUE(facts && facts->nodes.size() == 2);
  EXPECT_TRUE(facts->nodes[0].facts);
  EXPECT_TRUE(facts->nodes[1].is_gone);
}

TEST_F(ShardView, deltas_do_not_wait_for_the_disk) {
  const auto n1 = facts("n1", 4);
  shard_role role{{.shard = {0}, .shards = 1}};
  (void)role.on(protocol::started{{1}, {1}, 0, {}}, {});
  (void)role.on(protocol::received{{}, protocol::node_seen{n1}}, {});
  (void)role.on(protocol::received{{}, protocol::view_trust{.fresh = true}}, {});
  auto told = role.on(protocol::received{{}, protocol::room{n1->uid, {cpus(4), {}}}}, {});
  ASSERT_EQ(told.list().size(), 1u);
  EXPECT_TRUE(std::get<protocol::send>(told.list()[0]).unordered);
}

TEST_F(ShardView, the_whole_is_told_when_wanted) {
  EXPECT_TRUE(promised(g, g_asks));
  world.mail.clear();
  world.tell(protocol::view_wanted{}, protocol::to(protocol::role_kind::topology));
  const auto d = delta();
  ASSERT_TRUE(d);
  EXPECT_TRUE(d->is_whole);
  ASSERT_EQ(d->nodes.size(), 2u);
  EXPECT_TRUE(d->nodes[0].facts && d->nodes[1].facts);
  EXPECT_EQ(d->settled, std::vector{g});
}

TEST_F(ShardView, taken_ports_are_told) {
  world.tell(protocol::pod_arrived{words::node("n1"), pod("p"), taking(1, 8080)});
  EXPECT_EQ(delta()->nodes.at(0).ports_taken.size(), 1u);
}

TEST_F(ShardView, a_gone_node_is_told_and_its_actor_ends) {
  node_gone("n1");
  const auto d = delta();
  ASSERT_TRUE(d && d->nodes.size() == 1);
  EXPECT_TRUE(d->nodes[0].is_gone);
  EXPECT_FALSE(world.has_node("n1"));
}

TEST_F(ShardView, pods_may_be_told_before_their_node) {
  runs("p", "n3", 3);
  node("n3", 4);
  EXPECT_EQ(world.free_cpus("n3"), 1);
}

TEST_F(ShardView, pods_that_are_not_told_again_are_gone) {
  runs("p", "n1", 3);
  fresh(false, true);
  node("n1", 4);
  node("n2", 4);
  EXPECT_EQ(world.free_cpus("n1"), 1) << "not before all is told";
  fresh(true);
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

TEST_F(ShardView, a_held_pod_that_turns_up_elsewhere_is_consumed) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("a", "n2", 2);
  EXPECT_EQ(world.free_cpus("n1"), 4);
  EXPECT_EQ(world.free_cpus("n2"), 0);
}

// ------------------------------------------------------------------------------- pressure

TEST_F(ShardView, a_node_that_shrinks_below_what_is_held_presses_the_holders_once) {
  EXPECT_TRUE(promised(g, g_asks));
  EXPECT_TRUE(promised(h, slice({{"x", "n2", 1}})));
  node("n1", 1);
  EXPECT_EQ(world.take<protocol::pressure>()->attempt, g);
  EXPECT_FALSE(world.take<protocol::pressure>()) << "h holds nothing there";
  runs("p", "n1", 1);
  EXPECT_FALSE(world.take<protocol::pressure>()) << "told before";
}

TEST_F(ShardView, a_lost_pressure_is_told_again_with_the_inquiry) {
  EXPECT_TRUE(promised(g, g_asks));
  node_gone("n1");
  world.mail.clear();
  world.pass(base::limits::resend_first);
  EXPECT_EQ(world.take<protocol::pressure>()->node, words::node("n1"));
}

TEST_F(ShardView, a_commit_on_a_node_that_others_took_is_refused_until_they_leave) {
  EXPECT_TRUE(promised(g, g_asks));
  runs("stranger", "n1", 3);
  commit(g, g_asks);
  EXPECT_FALSE(acked());
  leaves("stranger", "n1");
  commit(g, g_asks);
  EXPECT_TRUE(acked());
}

// ------------------------------------------------------------------------------- S1b

TEST_F(ShardView, leave_to_bind_is_the_nodes_word) {
  EXPECT_TRUE(committed(g, g_asks));
  world.ask_node({g, words::node("n1"), {pod("a")}});
  const auto answer = world.take<protocol::may_bind_answer>();
  EXPECT_EQ(answer->allowed, std::vector{pod("a")});
  EXPECT_FALSE(answer->is_gone);
}

TEST_F(ShardView, the_shard_answers_for_a_node_that_is_gone) {
  EXPECT_TRUE(committed(g, g_asks));
  node_gone("n1");
  world.ask_node({g, words::node("n1"), {pod("a")}});
  const auto answer = world.take<protocol::may_bind_answer>();
  EXPECT_TRUE(answer->is_gone);
  EXPECT_EQ(answer->refused, std::vector{pod("a")});
}

TEST_F(ShardView, a_node_that_was_not_told_again_yet_is_not_called_gone) {
  EXPECT_TRUE(committed(g, g_asks));
  world.crash();
  world.restart();
  world.ask_node({g, words::node("n1"), {pod("a")}});
  EXPECT_FALSE(world.take<protocol::may_bind_answer>()->is_gone);
}

// ------------------------------------------------------------------------------- JSON

TEST_F(ShardView, describes_itself) {
  EXPECT_TRUE(promised(g, g_asks));
  EXPECT_TRUE(committed(h, slice({{"x", "n1", 1}})));
  world.now += 3s;
  EXPECT_EQ(read("shards"),
            R"({"shard":0,"epoch":1,"incarnation":1,"fresh":true,"nodes":2,"preparing":0,)"
            R"("prepared":1,"in_doubt":1,"committed":1,"oldest_ms":3000,)"
            R"("in_doubt_oldest_ms":3000})");
  EXPECT_EQ(read("shards", "4"), "");
}

TEST_F(ShardView, lists_what_it_holds) {
  EXPECT_TRUE(committed(g, g_asks));
  runs("b", "n2", 2);
  EXPECT_EQ(read("holds"), R"([{"attempt":"g/1/1/1","gang":"g","state":"committed","partition":)"
                               + std::to_string(coordinator(g).value)
                               + R"(,"members":2,"held":1,"nodes":["n1"],"victims":0,)"
                               + R"("guards":0,"finished":false,"age_ms":0}])");
}

} // namespace
} // namespace tutti::shards
