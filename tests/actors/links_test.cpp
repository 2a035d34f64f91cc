// Where a message goes when several replicas share the shards, and what arrives there.
#include "actors/links.hpp"

#include <gtest/gtest.h>

#include "protocol/sharding.hpp"

namespace tutti::actors::testing {
namespace {

using protocol::address;
using protocol::role_kind;
using protocol::to;

/// We are "a"; "b" owns shard 1 and every odd partition; nobody owns shard 2.
protocol::ownership shared() {
  protocol::ownership x{
      .self = "a", .shards = {}, .partitions = {}, .live = {{"b", ""}, {"c", ""}}};
  x.shards = {{"a", {3}}, {"b", {7}}, {"", {2}}};
  for (std::uint32_t p = 0; p < base::limits::partitions; ++p)
    x.partitions.push_back({p % 2 == 0 ? "a" : "b", {1}});
  return x;
}

const address gang = protocol::to_gang({"g"});
const address shard = protocol::to_shard({0});

TEST(Ways, a_shard_is_with_its_owner) {
  EXPECT_TRUE(way_of(shared(), gang, protocol::to_shard({0})).is_here);
  const auto elsewhere = way_of(shared(), gang, protocol::to_shard({1}));
  EXPECT_FALSE(elsewhere.is_here);
  EXPECT_EQ(elsewhere.replica, "b");
}

TEST(Ways, nobody_hears_what_is_for_a_shard_without_an_owner) {
  for (const auto n : {2u, 99u}) {
    const auto nowhere = way_of(shared(), gang, protocol::to_shard({n}));
    EXPECT_FALSE(nowhere.is_here) << n;
    EXPECT_FALSE(nowhere.is_for_all_others) << n;
    EXPECT_EQ(nowhere.replica, "") << n;
  }
}

TEST(Ways, a_gang_is_with_the_owner_of_its_partition) {
  bool met_here = false;
  bool met_there = false;
  for (int n = 0; n < 16; ++n) {
    const base::gang_uid uid{"g" + std::to_string(n)};
    const bool is_ours = protocol::partition_of(uid).value % 2 == 0;
    const auto where = way_of(shared(), shard, protocol::to_gang(uid));
    EXPECT_EQ(where.is_here, is_ours) << n;
    EXPECT_EQ(where.replica, is_ours ? "" : "b") << n;
    met_here = met_here || is_ours;
    met_there = met_there || !is_ours;
  }
  EXPECT_TRUE(met_here && met_there);
}

TEST(Ways, a_shards_view_is_for_every_topology) {
  const auto where = way_of(shared(), shard, to(role_kind::topology));
  EXPECT_TRUE(where.is_here);
  EXPECT_TRUE(where.is_for_all_others);
  const auto own = way_of(shared(), gang, to(role_kind::topology));
  EXPECT_TRUE(own.is_here);
  EXPECT_FALSE(own.is_for_all_others) << "a gang asks the topology beside it";
}

TEST(Ways, an_address_that_names_a_replica_goes_there) {
  EXPECT_EQ(way_of(shared(), shard, {role_kind::mirror, 0, "b"}).replica, "b");
  EXPECT_TRUE(way_of(shared(), shard, {role_kind::mirror, 0, "a"}).is_here);
  EXPECT_TRUE(way_of(shared(), shard, to(role_kind::mirror)).is_here);
}

TEST(Frames, carry_a_sender_that_can_be_answered) {
  const auto frame = make_frame(
      shared(), {to(role_kind::mirror), protocol::to_shard({1}), protocol::node_leaves{}});
  const auto heard = open_frame("a", frame);
  ASSERT_TRUE(heard) << heard.error().message();
  EXPECT_EQ(heard->to, protocol::to_shard({1}));
  EXPECT_EQ(heard->from, (address{role_kind::mirror, 0, "a"}));
  EXPECT_TRUE(std::holds_alternative<protocol::node_leaves>(heard->what));
  const auto answer =
      make_frame(shared(), {protocol::to_shard({1}), heard->from, protocol::node_idle{}});
  EXPECT_EQ(open_frame("b", answer)->to, to(role_kind::mirror)) << "at home it has no other name";
}

TEST(Frames, of_a_shard_reach_the_preemption_coordinator_that_has_asked) {
  const auto asked =
      open_frame("a", make_frame(shared(), {to(role_kind::preemption), protocol::to_shard({1}),
                                            protocol::named_wanted{}}));
  ASSERT_TRUE(asked) << asked.error().message();
  EXPECT_EQ(way_of(shared(), shard, {role_kind::preemption, 0, "b"}).replica, "b");
  const auto answer = open_frame(
      "b", make_frame(shared(), {protocol::to_shard({1}), asked->from, protocol::named_told{}}));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->to, to(role_kind::preemption));
}

TEST(Frames, believe_the_link_and_not_what_a_sender_calls_itself) {
  auto whose = shared();
  whose.self = "somebody else";
  const auto frame = make_frame(
      whose, {to(role_kind::topology), protocol::to_shard({0}), protocol::view_wanted{}});
  EXPECT_EQ(open_frame("b", frame)->from.key, "b");
}

TEST(Frames, of_no_business_of_others_are_refused) {
  for (const auto kind : {role_kind::queue, role_kind::binder, role_kind::evictor,
                          role_kind::status, role_kind::admin, role_kind::keeper,
                          role_kind::decisions, role_kind::node, role_kind::planner}) {
    const auto heard = open_frame("b", make_frame(shared(), {gang, to(kind), protocol::bind{}}));
    ASSERT_FALSE(heard) << static_cast<int>(kind);
    EXPECT_EQ(heard.error().what(), base::code::foreign);
  }
}

TEST(Frames, that_are_damaged_are_refused) {
  auto frame = make_frame(shared(), {gang, protocol::to_shard({1}), protocol::finish{}});
  frame.resize(frame.size() / 2);
  EXPECT_FALSE(open_frame("b", frame));
  EXPECT_FALSE(open_frame("b", "nonsense"));
}

} // namespace
} // namespace tutti::actors::testing
