// The place of a replica among several: Lease, map, list, and only then work.
#include "bridge/keeper_role.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "bridge/limits.hpp"
#include "protocol/sharding.hpp"
#include "tests/bridge/replica_fixture.hpp"

namespace tutti::bridge::testing {
namespace {

using protocol::to_partition;
using protocol::to_shard;

constexpr std::size_t units = replica_world::shards + replica_world::partitions;

std::size_t position(const std::vector<std::string>& log, const std::string& what) {
  return static_cast<std::size_t>(std::find(log.begin(), log.end(), what) - log.begin());
}

bool has_note(const replica_seat& s, const std::string& what) {
  return std::find(s.notes.begin(), s.notes.end(), what) != s.notes.end();
}

TEST(Keeper, a_replica_that_is_alone_runs_everything) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(1s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
  EXPECT_EQ(on.api.holder("a"), "a_p1");
  EXPECT_EQ(on.api.owner("shards", 0), "a");
}

TEST(Keeper, decisions_are_listed_after_the_map_was_changed_and_nothing_begins_before) {
  replica_world on;
  on.start("p1", "a").answers_lists = false;
  on.run_for(3s);
  EXPECT_LT(position(on.log, "p1 POST partitionmaps 201"), position(on.log, "p1 list"));
  EXPECT_LT(position(on.log, "p1 list"), on.log.size());
  EXPECT_TRUE(on.at("p1").runs().empty());
  const auto asked = on.at("p1").said<protocol::slots_wanted>().back().id;
  protocol::decision d;
  d.by = {{"g"}, 1, {1}, 1};
  on.say("p1", protocol::to(protocol::role_kind::decisions), protocol::slots_told{asked, {d}});
  EXPECT_EQ(on.at("p1").runs().size(), units);
  ASSERT_EQ(on.at("p1").owns.back().open.size(), 1u);
  EXPECT_EQ(on.at("p1").owns.back().open.front()->by, d.by);
}

TEST(Keeper, a_list_that_nobody_answers_is_asked_for_again) {
  replica_world on;
  on.start("p1", "a").answers_lists = false;
  on.run_for(3s);
  on.at("p1").answers_lists = true;
  on.run_for(5s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
}

TEST(Keeper, a_restart_begins_everything_under_new_epochs) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  on.kill("p1");
  on.start("p2", "a");
  on.run_for(3s);
  EXPECT_TRUE(on.at("p2").runs().empty()) << "the former life may still be there";
  on.run_for(4s);
  EXPECT_EQ(on.at("p2").runs().size(), units);
  EXPECT_EQ(on.at("p2").runs().at(to_shard({0})), 2u);
  EXPECT_EQ(on.at("p2").errors, 0);
}

TEST(Keeper, a_keeper_that_is_made_anew_ends_all_and_begins_it_under_new_epochs) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  on.start("p1", "a"); // the same process: the same holder
  EXPECT_TRUE(on.at("p1").runs().empty());
  ASSERT_FALSE(on.at("p1").owns.empty());
  on.run_for(1s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
  EXPECT_EQ(on.at("p1").runs().at(to_shard({0})), 2u);
}

TEST(Keeper, a_second_replica_gets_its_share_and_no_unit_runs_twice) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  on.start("p2", "b");
  std::size_t most = 0;
  for (int n = 0; n < 100; ++n) {
    on.run_for(100ms);
    std::set<protocol::address> both;
    for (const auto& [unit, epoch] : on.at("p1").runs())
      EXPECT_FALSE(on.at("p2").runs().contains(unit)) << to_text(unit);
    most = std::max(most, on.at("p1").runs().size() + on.at("p2").runs().size());
  }
  EXPECT_EQ(most, units);
  EXPECT_EQ(on.at("p1").runs().size() + on.at("p2").runs().size(), units);
  EXPECT_FALSE(on.at("p2").runs().empty());
  for (const auto& [unit, epoch] : on.at("p1").runs())
    EXPECT_EQ(epoch, 1u) << "what stays is not disturbed";
  for (const auto& [unit, epoch] : on.at("p2").runs())
    EXPECT_EQ(epoch, 2u);
}

TEST(Keeper, what_a_dead_replica_owned_is_taken_after_its_lease) {
  replica_world on;
  on.start("p1", "a");
  on.start("p2", "b");
  on.run_for(10s);
  const auto mine = on.at("p1").runs().size();
  ASSERT_LT(mine, units);
  on.kill("p2");
  on.run_for(12s);
  EXPECT_EQ(on.at("p1").runs().size(), mine) << "too early";
  on.run_for(8s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
}

TEST(Keeper, ten_seconds_without_a_renewal_and_nothing_is_owned) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  on.at("p1").is_cut = true;
  on.run_for(7s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
  on.run_for(4s);
  EXPECT_TRUE(on.at("p1").runs().empty());
  on.at("p1").pending.clear();
  on.at("p1").is_cut = false;
  on.run_for(8s);
  EXPECT_EQ(on.at("p1").runs().size(), units);
  EXPECT_EQ(on.at("p1").runs().at(to_partition({3})), 2u);
}

TEST(Keeper, a_replica_that_could_not_look_judges_nobody_dead) {
  replica_world on;
  on.start("p1", "a");
  on.start("p2", "b");
  on.run_for(10s);
  const auto mine = on.at("p1").runs();
  on.at("p1").is_cut = true;
  on.run_for(60s);
  on.at("p1").is_cut = false;
  on.run_for(20s);
  EXPECT_EQ(on.at("p1").runs().size(), mine.size());
  EXPECT_EQ(on.at("p1").runs().size() + on.at("p2").runs().size(), units);
}

TEST(Keeper, lost_answers_are_read_back) {
  replica_world on;
  auto& a = on.start("p1", "a");
  a.loses_answers = true; // the Lease and the map are written, and nobody says so
  on.run_for(1s);
  EXPECT_TRUE(a.runs().empty());
  a.loses_answers = false;
  on.run_for(5s);
  EXPECT_EQ(a.runs().size(), units);
  a.loses_answers = true;
  on.run_for(5s);
  a.loses_answers = false;
  on.run_for(5s);
  EXPECT_EQ(a.runs().size(), units);
  EXPECT_EQ(a.runs().at(to_shard({1})), 1u) << "nothing was ever lost";
}

TEST(Keeper, a_second_process_of_the_same_name_is_refused_in_words) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  on.start("p2", "a");
  on.run_for(60s);
  EXPECT_TRUE(on.at("p2").runs().empty());
  EXPECT_EQ(on.at("p2").errors, 1);
  EXPECT_TRUE(has_note(on.at("p2"), "replica.name_in_use"));
  EXPECT_EQ(on.at("p1").runs().size(), units);
  EXPECT_EQ(on.at("p1").errors, 0);
  on.say("p2", protocol::to(protocol::role_kind::admin), protocol::inspect{1, "replicas", {}});
  const auto told = on.at("p2").said<protocol::inspected>().back().json;
  EXPECT_NE(told.find("the name a is in the Lease of another process, a_p1"), std::string::npos)
      << told;
  on.kill("p1");
  on.run_for(20s);
  EXPECT_EQ(on.at("p2").runs().size(), units) << "the other one is gone";
}

TEST(Keeper, a_lease_that_names_another_process_ends_all_here) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(3s);
  auto& lease = on.api.objects.at(leases_path() + "/tutti-a");
  lease.at("spec").as_object()["holderIdentity"] = "a_other";
  on.api.touch(lease);
  on.run_for(3s);
  EXPECT_TRUE(on.at("p1").runs().empty());
  EXPECT_TRUE(has_note(on.at("p1"), "replica.name_in_use"));
}

TEST(Keeper, a_question_about_the_map_is_answered_by_a_read_that_began_after_it) {
  replica_world on;
  auto& a = on.start("p1", "a");
  on.run_for(1s);
  a.is_cut = true;
  on.run_for(1s);
  ASSERT_EQ(a.pending.size(), 3u); // the beat's: a read of the map is under way
  const auto gang = protocol::to_gang({"g"});
  on.say("p1", gang, protocol::map_wanted{{{"g"}, 1, {1}, 1}});
  on.say("p1", gang, protocol::map_wanted{{{"h"}, 1, {1}, 2}});
  // The old read is answered, and does not count.
  const auto early = on.api.ask(a.pending.back().second);
  const auto id = a.pending.back().first;
  a.pending.pop_back();
  on.tell("p1", protocol::answered{id, early.status, early.body, 0});
  EXPECT_TRUE(a.said<protocol::map_told>().empty());
  ASSERT_EQ(a.pending.size(), 3u);
  a.is_cut = false;
  on.run_for(100ms);
  const auto told = a.said<protocol::map_told>();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].attempt.gang.value, "g");
  EXPECT_EQ(told[0].shard_epochs, (std::vector<std::uint64_t>{1, 1, 1, 1}));
}

TEST(Keeper, a_question_outlives_a_read_that_failed) {
  replica_world on;
  auto& a = on.start("p1", "a");
  on.run_for(1s);
  a.loses_answers = true;
  on.say("p1", protocol::to_gang({"g"}), protocol::map_wanted{{{"g"}, 1, {1}, 1}});
  on.run_for(1s);
  a.loses_answers = false;
  on.run_for(3s);
  EXPECT_EQ(a.said<protocol::map_told>().size(), 1u);
}

TEST(Keeper, a_map_that_makes_no_sense_is_not_written_over) {
  replica_world on;
  auto& a = on.start("p1", "a");
  on.run_for(1s);
  on.api.map().at("spec").at("shards").as_array()[2].as_object()["epoch"] = "x";
  on.api.touch(on.api.map());
  on.start("p2", "b");
  on.run_for(10s);
  EXPECT_EQ(a.runs().size(), units) << "what is owned stays owned";
  EXPECT_TRUE(has_note(a, "replica.bad_map"));
  EXPECT_EQ(a.errors, 1);
  EXPECT_EQ(on.api.map().at("spec").at("shards").at(2).at("epoch"), "x");
  on.say("p1", protocol::to(protocol::role_kind::admin), protocol::inspect{1, "replicas", {}});
  EXPECT_NE(a.said<protocol::inspected>().back().json.find("spec.shards[2].epoch is no number"),
            std::string::npos);
}

TEST(Keeper, a_map_that_was_deleted_comes_back_as_it_was) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(1s);
  on.kill("p1");
  on.start("p2", "a");
  on.run_for(10s);
  on.api.objects.erase("/apis/tutti.dev/v1alpha1/partitionmaps/tutti");
  on.run_for(3s);
  EXPECT_EQ(on.api.epoch("shards", 0), 2u);
  EXPECT_EQ(on.at("p2").runs().size(), units);
}

TEST(Keeper, an_orderly_stop_hands_over_releases_and_retires) {
  replica_world on;
  on.start("p1", "a");
  on.start("p2", "b");
  on.run_for(10s);
  on.tell("p1", protocol::timer_fired{{keeper_role::stop_timer, 0}});
  EXPECT_TRUE(on.at("p1").runs().empty());
  on.run_for(100ms);
  EXPECT_TRUE(on.at("p1").has_retired);
  EXPECT_EQ(on.api.holder("a"), "");
  on.run_for(4s);
  EXPECT_EQ(on.at("p2").runs().size(), units) << "without waiting for a Lease to run out";
}

TEST(Keeper, a_lease_that_is_refused_is_asked_for_now_and_then_only) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(10s);
  on.api.refuses_leases = true;
  const auto& asked = on.api.writes[leases_path() + "/tutti-a"];
  const auto before = asked;
  on.run_for(20s);
  EXPECT_LT(asked - before, 50);
  EXPECT_TRUE(on.at("p1").runs().empty());
  on.tell("p1", protocol::timer_fired{{keeper_role::stop_timer, 0}});
  const auto at_stop = asked;
  on.run_for(20s);
  EXPECT_LT(asked - at_stop, 50);
  EXPECT_FALSE(on.at("p1").has_retired);
  on.api.refuses_leases = false;
  on.run_for(3s);
  EXPECT_TRUE(on.at("p1").has_retired);
}

TEST(Keeper, what_an_actor_died_of_begins_anew_and_nothing_else) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(1s);
  on.tell("p1", protocol::child_died{to_shard({2})});
  on.run_for(1s);
  const auto runs = on.at("p1").runs();
  EXPECT_EQ(runs.size(), units);
  EXPECT_EQ(runs.at(to_shard({2})), 2u);
  EXPECT_EQ(runs.at(to_shard({1})), 1u);
}

TEST(Keeper, what_is_found_unfinished_in_the_log_is_passed_on_to_partitions_that_run_here) {
  replica_world on;
  on.start("p1", "a");
  on.start("p2", "b");
  on.run_for(10s);
  protocol::slots_told found{0, {}};
  for (int n = 0; n < 200; ++n) {
    protocol::decision d;
    d.by = {{"gang-" + std::to_string(n)}, 1, {1}, 1};
    found.all.push_back(d);
  }
  std::size_t expected = 0;
  const auto runs = on.at("p1").runs();
  for (const auto& d : found.all)
    expected += runs.contains(to_partition(protocol::partition_of(d.by.gang))) ? 1 : 0;
  ASSERT_GT(expected, 0u);
  on.say("p1", protocol::to(protocol::role_kind::decisions), found);
  std::size_t told = 0;
  for (const auto& s : on.at("p1").sent)
    if (const auto* m = std::get_if<protocol::resume_decision>(&s.what)) {
      EXPECT_TRUE(runs.contains(s.to));
      EXPECT_EQ(s.to, to_partition(protocol::partition_of(m->what->by.gang)));
      ++told;
    }
  EXPECT_EQ(told, expected);
}

TEST(Keeper, a_partition_below_a_fence_begins_anew_above_it) {
  replica_world on;
  on.start("p1", "a");
  on.run_for(1s);
  on.say("p1", to_partition({5}), protocol::new_epoch{{5}, {40}, 0});
  on.run_for(1s);
  EXPECT_EQ(on.at("p1").runs().at(to_partition({5})), 40u);
}

} // namespace
} // namespace tutti::bridge::testing
