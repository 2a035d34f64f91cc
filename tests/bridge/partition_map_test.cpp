// What a replica changes in the partition map: only what it must, never twice, and to an end.
#include "bridge/partition_map.hpp"

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tutti::bridge {
namespace {

namespace json = boost::json;
using protocol::to_partition;
using protocol::to_shard;

constexpr std::size_t shards = 5;
constexpr std::size_t partitions = 16;
const std::vector<std::string> names{"a", "b", "c", "d"};

std::set<std::string> some_names() {
  const auto picked = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 4));
  std::set<std::string> out;
  for (const auto n : picked)
    out.insert(names[static_cast<std::size_t>(n)]);
  out.insert(names[static_cast<std::size_t>(*rc::gen::inRange(0, 4))]);
  return out;
}

partition_map some_map() {
  auto out = empty_map(shards, partitions);
  for (const auto& unit : out.units()) {
    const auto who = *rc::gen::inRange(-1, 4);
    out.at(unit).epoch = {*rc::gen::inRange<std::uint64_t>(1, 9)};
    if (who >= 0)
      out.at(unit).replica = names[static_cast<std::size_t>(who)];
  }
  return out;
}

json::object read(std::string_view text) {
  return json::parse(text).as_object();
}

std::string complaint(const json::object& spec) {
  const auto got = read_spec(spec, empty_map(1, 1));
  return got ? "" : got.error().message();
}

TEST(PartitionMap, comes_back_from_its_text) {
  auto map = empty_map(2, 1);
  map.at(to_shard({1})) = {"a", {7}};
  map.at(to_partition({0})) = {"", {3}};
  const auto got = read_spec(read(json::serialize(spec_of(map))), empty_map(2, 1));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(*got, map);
}

TEST(PartitionMap, bad_content_is_refused_and_its_field_named) {
  const std::string good = R"({"replica":"a","epoch":1})";
  const auto with = [&](const std::string& shard, const std::string& more = {}) {
    return complaint(
        read(fmt::format(R"({{"shards":[{}],"partitions":[{}]{}}})", shard, good, more)));
  };
  EXPECT_EQ(with(good), "");
  EXPECT_EQ(with("7"), "spec.shards[0] is no object");
  EXPECT_EQ(with(R"({"epoch":1})"), "spec.shards[0].replica is no text");
  EXPECT_EQ(with(R"({"replica":"a"})"), "spec.shards[0].epoch is no number");
  EXPECT_EQ(with(R"({"replica":"a","epoch":"1"})"), "spec.shards[0].epoch is no number");
  EXPECT_EQ(with(R"({"replica":"a","epoch":-1})"), "spec.shards[0].epoch is negative");
  EXPECT_EQ(with(R"({"replica":"a","epoch":9000000000000000000})"),
            "spec.shards[0].epoch is too high");
  EXPECT_EQ(with(R"({"replica":"a","epoch":0})"),
            "spec.shards[0].epoch is 0 although somebody owns it");
  EXPECT_EQ(with(R"({"replica":"a","epoch":1,"x":2})"), "spec.shards[0].x is not known");
  EXPECT_EQ(with(good, R"(,"more":1)"), "spec.more is not known");
  EXPECT_EQ(with(good + "," + good), "spec.shards has 2 entries where 1 were expected");
  EXPECT_EQ(complaint({{"shards", json::array{}}}),
            "spec.shards has 0 entries where 1 were expected");
  EXPECT_EQ(complaint({}), "spec.shards is no list");
}

TEST(PartitionMap, a_replica_that_is_alone_takes_everything_under_a_new_epoch) {
  auto now = empty_map(2, 2);
  now.at(to_shard({0})) = {"dead", {4}};
  const auto change = next_map(now, "a", {"a"});
  EXPECT_EQ(change.taken.size(), 4u);
  EXPECT_EQ(change.next.at(to_shard({0})), (protocol::owner{"a", {5}}));
  EXPECT_EQ(change.next.at(to_shard({1})), (protocol::owner{"a", {1}}));
  EXPECT_TRUE(next_map(change.next, "a", {"a"}).is_empty());
}

TEST(PartitionMap, what_begins_anew_gets_a_higher_epoch_once) {
  auto now = next_map(empty_map(2, 2), "a", {"a"}).next;
  const units_anew anew{{to_shard({1}), {2}}, {to_partition({0}), {9}}};
  const auto change = next_map(now, "a", {"a"}, anew);
  EXPECT_EQ(change.next.at(to_shard({1})).epoch.value, 2u);
  EXPECT_EQ(change.next.at(to_partition({0})).epoch.value, 9u);
  EXPECT_EQ(change.taken.size(), 2u);
  EXPECT_TRUE(next_map(change.next, "a", {"a"}, anew).is_empty());
}

TEST(PartitionMap, an_orderly_stop_leaves_epochs_and_no_owner) {
  const auto now = next_map(empty_map(2, 2), "a", {"a"}).next;
  const auto change = map_without(now, "a");
  EXPECT_EQ(change.given.size(), 4u);
  EXPECT_EQ(change.next.at(to_shard({0})), (protocol::owner{"", {1}}));
}

TEST(PartitionMap, every_replica_gets_a_fair_share) {
  std::map<std::string, int> share;
  const std::set<std::string> live{"tutti-0", "tutti-1", "tutti-2", "tutti-3"};
  for (std::uint32_t p = 0; p < 64; ++p)
    ++share[chosen_for(to_partition({p}), live)];
  for (const auto& name : live)
    EXPECT_GE(share[name], 6) << name; // 16 on average
}

RC_GTEST_PROP(PartitionMap, every_change_moves_only_what_it_must, ()) {
  const auto now = some_map();
  const auto live = some_names();
  for (const auto& self : live) {
    const auto change = next_map(now, self, live);
    RC_ASSERT(is_settled(now, self, live, {}) == change.is_empty());
    for (const auto& unit : now.units()) {
      const auto& before = now.at(unit);
      const auto& after = change.next.at(unit);
      if (before == after)
        continue;
      RC_ASSERT(before.epoch <= after.epoch);
      if (after.replica == self) { // taken
        RC_ASSERT(!live.contains(before.replica));
        RC_ASSERT(chosen_for(unit, live) == self);
        RC_ASSERT(before.epoch < after.epoch);
      } else { // given
        RC_ASSERT(before.replica == self && after.replica.empty());
        RC_ASSERT(chosen_for(unit, live) != self);
      }
    }
  }
}

RC_GTEST_PROP(PartitionMap, two_replicas_with_equal_views_never_take_the_same, ()) {
  const auto now = some_map();
  const auto live = some_names();
  std::map<protocol::address, std::string> takers;
  for (const auto& self : live)
    for (const auto& unit : next_map(now, self, live).taken)
      RC_ASSERT(takers.emplace(unit, self).second);
}

RC_GTEST_PROP(PartitionMap, a_replica_that_goes_moves_its_own_share_only, ()) {
  const auto live = some_names();
  auto fewer = live;
  const auto gone = *live.begin();
  fewer.erase(gone);
  if (fewer.empty())
    fewer.insert("z");
  for (const auto& unit : empty_map(shards, partitions).units())
    if (live.size() > 1 && chosen_for(unit, live) != gone)
      RC_ASSERT(chosen_for(unit, fewer) == chosen_for(unit, live));
}

/// One after the other, in any order, each on the map that the one before has written.
RC_GTEST_PROP(PartitionMap, comes_to_rest_with_everything_where_it_belongs, ()) {
  auto now = some_map();
  const auto live = some_names();
  const std::vector<std::string> turns{live.begin(), live.end()};
  for (int round = 0; round < 2; ++round)
    for (const auto& self : turns)
      now = next_map(now, self, live).next;
  for (const auto& self : turns)
    RC_ASSERT(next_map(now, self, live).is_empty());
  for (const auto& unit : now.units())
    RC_ASSERT(now.at(unit).replica == chosen_for(unit, live));
}

} // namespace
} // namespace tutti::bridge
