// Who is found at which address.
#include "actors/router.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/actors/inbox.hpp"
#include "tests/actors/waiting.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::role_kind;
using protocol::to;

struct Router : ::testing::Test {
  caf::actor_system_config config;
  caf::actor_system system{config};
  router routes;
  const protocol::address node = protocol::to_node({"n"});
  const protocol::address shard = protocol::to_shard({3});

  caf::actor actor(const inbox_ptr& into) { return system.spawn(stand_in, into, on_letter{}); }
  void send(const protocol::address& where) {
    routes.send(to(role_kind::admin), where, protocol::view_wanted{});
  }
  ~Router() override {
    for (const auto& who : routes.all())
      caf::anon_send_exit(who, caf::exit_reason::kill);
    routes.clear();
    for (const auto& who : others)
      caf::anon_send_exit(who, caf::exit_reason::kill);
  }
  std::vector<caf::actor> others;
};

TEST_F(Router, drops_what_is_sent_where_nobody_is) {
  send(node);
  EXPECT_EQ(routes.find(node), nullptr);
}

TEST_F(Router, a_parent_speaks_for_a_child_that_is_not_there) {
  auto of_shard = std::make_shared<inbox>();
  auto of_node = std::make_shared<inbox>();
  routes.put(shard, actor(of_shard));
  routes.put_parent(node, shard);
  send(node);
  EXPECT_TRUE(eventually([&] { return of_shard->count<protocol::view_wanted>() == 1; }));
  routes.put(node, actor(of_node));
  send(node);
  EXPECT_TRUE(eventually([&] { return of_node->count<protocol::view_wanted>() == 1; }));
  EXPECT_EQ(of_shard->size(), 1u);
  EXPECT_EQ(routes.find(shard) == routes.find(node), false) << "the parent is not the child";
}

TEST_F(Router, a_parent_that_is_not_there_either_hears_nothing) {
  routes.put_parent(node, shard);
  send(node);
  EXPECT_EQ(routes.size(), 0u);
}

TEST_F(Router, what_a_parent_sends_to_a_child_that_is_not_there_does_not_come_back_to_it) {
  auto of_shard = std::make_shared<inbox>();
  routes.put(shard, actor(of_shard));
  routes.put_parent(node, shard);
  routes.send(shard, node, protocol::node_gone{{"n"}});
  send(node);
  EXPECT_TRUE(eventually([&] { return of_shard->count<protocol::view_wanted>() == 1; }));
  EXPECT_EQ(of_shard->size(), 1u) << "the shard would lose a node that has come back";
}

TEST_F(Router, remembers_who_speaks_for_the_gone_but_not_for_all_that_ever_were) {
  const auto one = actor(std::make_shared<inbox>());
  others.push_back(one);
  routes.put(node, one);
  routes.put_parent(node, shard);
  for (std::size_t i = 0; i < 2 * parents_of_gone_max; ++i) {
    const auto where = protocol::to_node({std::to_string(i)});
    routes.put(where, one);
    routes.put_parent(where, shard);
    routes.drop(where, one.address());
  }
  EXPECT_EQ(routes.parents(), parents_of_gone_max + 1) << "those that are there stay";
  auto of_shard = std::make_shared<inbox>();
  routes.put(shard, actor(of_shard));
  send(protocol::to_node({std::to_string(2 * parents_of_gone_max - 1)}));
  EXPECT_TRUE(eventually([&] { return of_shard->count<protocol::view_wanted>() == 1; }));
}

struct kept_frames : link_carrier {
  void carry(const std::string& replica, std::string frame) override {
    frames.emplace_back(replica, std::move(frame));
  }
  std::vector<std::pair<std::string, std::string>> frames;
};

TEST_F(Router, what_others_own_leaves_as_a_frame) {
  kept_frames links;
  auto whose = std::make_shared<protocol::ownership>();
  whose->self = "a";
  whose->shards = {{"a", {1}}, {"b", {1}}};
  whose->live = {{"b", ""}};
  auto here = std::make_shared<inbox>();
  auto view = std::make_shared<inbox>();
  routes.put(protocol::to_shard({0}), actor(here));
  routes.put(to(role_kind::topology), actor(view));
  routes.belongs(whose, links);
  send(protocol::to_shard({0}));
  EXPECT_TRUE(eventually([&] { return here->size() == 1; }));
  EXPECT_TRUE(links.frames.empty());
  send(protocol::to_shard({1}));
  ASSERT_EQ(links.frames.size(), 1u);
  EXPECT_EQ(links.frames[0].first, "b");
  routes.send(protocol::to_shard({0}), to(role_kind::topology), protocol::view_delta{});
  EXPECT_EQ(links.frames.size(), 2u) << "every topology needs the view";
  EXPECT_TRUE(eventually([&] { return view->size() == 1; }));
}

TEST_F(Router, what_came_from_elsewhere_goes_no_further) {
  kept_frames links;
  auto whose = std::make_shared<protocol::ownership>();
  whose->self = "a";
  whose->shards = {{"b", {1}}};
  routes.belongs(whose, links);
  routes.deliver(protocol::to_gang({"g"}), protocol::to_shard({0}), protocol::finish{});
  EXPECT_TRUE(links.frames.empty());
}

TEST_F(Router, who_leaves_does_not_take_out_its_successor) {
  auto first = std::make_shared<inbox>();
  auto second = std::make_shared<inbox>();
  const auto old = actor(first);
  others.push_back(old);
  routes.put(node, old);
  routes.put(node, actor(second));
  routes.drop(node, old.address());
  send(node);
  EXPECT_TRUE(eventually([&] { return second->size() == 1; }));
  EXPECT_EQ(first->size(), 0u);
}

} // namespace
} // namespace tutti::actors::testing
