// The participant's rows of the crash table: where it dies, what is durable, what it does after.
#include "shards/shard_role.hpp"

#include <gtest/gtest.h>

#include "tests/shards/story.hpp"

namespace tutti::shards {
namespace {

using namespace words;

struct ShardCrash : ShardStory {
  protocol::decision_ptr decided(const base::attempt_id& who, const protocol::slice& asked) {
    auto out = std::make_shared<protocol::decision>();
    out->by = who;
    out->what = protocol::verdict::committed;
    out->chosen.slices = {asked};
    return out;
  }
};

TEST_F(ShardCrash, P0_nothing_is_durable_and_the_attempt_is_forgotten) {
  crash_at("P0", [&] { prepare(g, g_asks); });
  mirror_tells_all();
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

TEST_F(ShardCrash, P0_a_vote_is_out_and_the_commit_that_comes_reserves_again) {
  crash_at(
      "P2", [&] { prepare(g, g_asks); }, false);
  EXPECT_EQ(state(g), reservation_state::absent) << "the tail was not on disk";
  mirror_tells_all();
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(world.free_cpus("n1"), 2);
}

TEST_F(ShardCrash, P0_a_vote_is_out_and_the_commit_that_comes_too_late_is_refused) {
  crash_at(
      "P2", [&] { prepare(g, g_asks); }, false);
  mirror_tells_all();
  EXPECT_TRUE(promised(h, slice({{"x", "n2", 3}})));
  commit(g, g_asks);
  EXPECT_FALSE(acked());
  EXPECT_EQ(last_ack.why.primary, base::reason_code::reservation_conflict);
  EXPECT_EQ(world.free_cpus("n1"), 4) << "nothing of it is held";
  abort(h);
  commit(g, g_asks);
  EXPECT_TRUE(acked()) << "a refusal is not final";
}

TEST_F(ShardCrash, P1_the_promise_is_kept_and_the_repeated_prepare_answered_the_same) {
  crash_at("P1", [&] { prepare(g, g_asks); });
  EXPECT_EQ(state(g), reservation_state::prepared);
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  prepare(g, g_asks);
  EXPECT_TRUE(voted_yes());
  EXPECT_EQ(last.incarnation, base::incarnation_no{2});
  mirror_tells_all();
  EXPECT_EQ(world.free_cpus("n1"), 2) << "held before anything is served";
}

TEST_F(ShardCrash, P2_in_doubt_it_holds_and_asks) {
  crash_at("P2", [&] { prepare(g, g_asks); });
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  mirror_tells_all();
  EXPECT_FALSE(promised(h, slice({{"x", "n1", 3}})));
  owner_says(g, false);
  EXPECT_TRUE(promised(words::attempt("h", 2), slice({{"x", "n1", 3}})));
}

TEST_F(ShardCrash, P3_the_commit_is_resent_and_acked) {
  EXPECT_TRUE(promised(g, g_asks));
  crash_at("P3", [&] { commit(g, g_asks); });
  EXPECT_EQ(state(g), reservation_state::prepared);
  commit(g, g_asks);
  EXPECT_EQ(world.count<protocol::ack>(), 0u) << "whether its nodes are there is not known yet";
  mirror_tells_all();
  commit(g, g_asks);
  EXPECT_TRUE(acked());
}

TEST_F(ShardCrash, P4_the_ack_is_given_again) {
  EXPECT_TRUE(promised(g, g_asks));
  crash_at(
      "P4", [&] { commit(g, g_asks); }, false);
  EXPECT_EQ(state(g), reservation_state::committed);
  mirror_tells_all();
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(world.records<protocol::committed_record>().size(), 1u);
}

TEST_F(ShardCrash, P5_the_relist_shows_the_pod_bound) {
  EXPECT_TRUE(committed(g, g_asks));
  crash_at("P5", [&] { runs("a", "n1", 2); });
  EXPECT_EQ(state(g), reservation_state::committed);
  fresh(false, true);
  runs("a", "n1", 2);
  node("n1", 4);
  node("n2", 4);
  runs("b", "n2", 2);
  fresh(true);
  EXPECT_EQ(state(g), reservation_state::consumed);
  EXPECT_EQ(world.free_cpus("n1"), 2);
}

TEST_F(ShardCrash, P6_the_owner_is_asked_again_and_knows_nothing_of_it) {
  EXPECT_TRUE(promised(g, g_asks));
  crash_at("P6", [&] { abort(g); });
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  owner_says(g, false);
  EXPECT_EQ(state(g), reservation_state::absent);
  mirror_tells_all();
  EXPECT_EQ(world.free_cpus("n1"), 4);
}

TEST_F(ShardCrash, P7_after_a_lost_disk_the_decided_are_reserved_before_the_first_vote) {
  EXPECT_TRUE(committed(g, g_asks));
  EXPECT_TRUE(promised(h, slice({{"x", "n1"}})));
  world.lose_disk();
  world.restart({decided(g, *g_asks)});
  mirror_tells_all();
  EXPECT_EQ(state(h), reservation_state::absent) << "undecided: its coordinator aborts it";
  EXPECT_EQ(world.free_cpus("n1"), 2);
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(last_ack.shard_epoch, base::epoch_no{2});
}

TEST_F(ShardCrash, P8_a_half_written_snapshot_is_not_used) {
  EXPECT_TRUE(committed(g, g_asks));
  const auto whole = world.shard().snapshot();
  for (const auto size : {whole.size() - 1, whole.size() / 2, std::size_t{20}, std::size_t{3}}) {
    shard_role other{{.shard = {0}}};
    const auto read = other.restore(std::string_view{whole}.substr(0, size));
    ASSERT_FALSE(read.has_value()) << size;
    EXPECT_EQ(read.error().what(), base::code::corrupt);
  }
  world.crash(); // the old one, which was none, and the whole journal
  world.restart();
  EXPECT_EQ(state(g), reservation_state::committed);
}

TEST_F(ShardCrash, P9_a_paused_owner_commits_what_a_lost_disk_forgot) {
  EXPECT_TRUE(promised(g, g_asks));
  world.lose_disk();
  world.restart();
  mirror_tells_all();
  runs("stranger", "n2", 3);
  commit(g, g_asks);
  EXPECT_FALSE(acked());
  EXPECT_EQ(last_ack.why.primary, base::reason_code::insufficient_resources);
  leaves("stranger", "n2");
  commit(g, g_asks);
  EXPECT_TRUE(acked());
}

TEST_F(ShardCrash, P10_pending_prepares_that_touch_a_dead_node_actor_are_refused) {
  world.cut_off("n2");
  prepare(g, g_asks);
  world.node_dies("n1"); // has said held; n2 has not answered
  world.connect("n2");
  EXPECT_FALSE(voted_yes());
  EXPECT_EQ(last.why_not.primary, base::reason_code::shard_unavailable);
  EXPECT_EQ(world.free_cpus("n1"), 4);
  EXPECT_EQ(world.free_cpus("n2"), 4);
}

TEST_F(ShardCrash, P10_the_successor_is_rebuilt_from_its_node_its_pods_and_live_reservations) {
  runs("r", "n1", 1);
  EXPECT_TRUE(committed(g, g_asks));
  world.node_dies("n1");
  EXPECT_EQ(world.free_cpus("n1"), 1);
  EXPECT_FALSE(promised(h, slice({{"x", "n1", 2}})));
  runs("a", "n1", 2);
  EXPECT_EQ(world.free_cpus("n1"), 1);
}

TEST_F(ShardCrash, P11_colliding_decisions_are_all_held_and_none_is_acked_until_one_is_gone) {
  const auto g_wants = slice({{"a", "n1", 3}});
  const auto h_wants = slice({{"x", "n1", 3}});
  world.lose_disk();
  world.restart({decided(g, *g_wants), decided(h, *h_wants)});
  mirror_tells_all();
  EXPECT_EQ(world.free_cpus("n1"), -2);
  commit(g, g_wants);
  EXPECT_FALSE(acked());
  EXPECT_EQ(last_ack.why.primary, base::reason_code::insufficient_resources);
  commit(h, h_wants);
  EXPECT_FALSE(acked());
  EXPECT_FALSE(promised(words::attempt("i"), slice({{"y", "n1", 1}}))) << "nothing more there";
  release(h, {pod("x")});
  commit(g, g_wants);
  EXPECT_TRUE(acked());
}

TEST_F(ShardCrash, P11_colliding_decisions_survive_the_new_owners_own_restart) {
  world.lose_disk();
  world.restart({decided(g, *slice({{"a", "n1", 3}})), decided(h, *slice({{"x", "n1", 3}}))});
  world.crash();
  world.restart();
  mirror_tells_all();
  EXPECT_EQ(world.free_cpus("n1"), -2);
}

// ------------------------------------------------------------------------------- S11

TEST_F(ShardCrash, replaying_twice_gives_the_same_state) {
  EXPECT_TRUE(committed(g, g_asks));
  EXPECT_TRUE(promised(h, slice({{"x", "n2", 1}})));
  release(g, {pod("a")});
  world.tell(protocol::new_epoch{{5}, {7}, 3});
  EXPECT_EQ(world.replay()->state_hash(), world.replay()->state_hash());
  EXPECT_EQ(world.replay()->snapshot(), world.shard().snapshot());
}

TEST_F(ShardCrash, a_snapshot_and_the_records_after_it_are_worth_the_whole_journal) {
  EXPECT_TRUE(committed(g, g_asks));
  const auto by_journal = world.replay()->snapshot();
  world.take_checkpoint();
  EXPECT_EQ(world.replay()->snapshot(), by_journal);
  EXPECT_TRUE(promised(h, slice({{"x", "n2", 1}})));
  EXPECT_EQ(world.replay()->snapshot(), world.shard().snapshot());
  world.crash();
  world.restart();
  mirror_tells_all();
  EXPECT_EQ(world.free_cpus("n2"), 1);
}

TEST_F(ShardCrash, a_snapshot_of_a_later_version_is_refused_as_such) {
  auto bytes = world.shard().snapshot();
  bytes[8 + std::string_view{"tutti-shard"}.size()] = 9;
  shard_role other{{.shard = {0}}};
  EXPECT_EQ(other.restore(bytes).error().what(), base::code::newer_format);
}

TEST_F(ShardCrash, a_fast_yes_of_an_earlier_life_is_in_doubt_like_any_other) {
  prepare(g, g_asks, 0, true);
  EXPECT_TRUE(voted_yes());
  world.journal.push_back(
      {protocol::prepared_record{g, coordinator(g), g_asks}, true}); // its rider
  world.crash();
  world.restart();
  EXPECT_EQ(world.take<protocol::inquiry>()->attempt, g);
  mirror_tells_all();
  commit(g, g_asks);
  EXPECT_TRUE(acked());
  EXPECT_EQ(world.records<protocol::committed_record>().size(), 1u) << "this time it writes";
}

TEST_F(ShardCrash, the_highest_epoch_heard_of_survives) {
  world.tell(protocol::new_epoch{coordinator(g), {3}, 1});
  world.crash(false);
  world.restart();
  mirror_tells_all();
  EXPECT_FALSE(promised(words::attempt("g", 9, 2), g_asks));
}

TEST_F(ShardCrash, nodes_that_are_not_told_again_are_gone_and_their_holders_hear_of_it) {
  EXPECT_TRUE(committed(g, g_asks));
  fresh(false, true);
  node("n1", 4);
  fresh(true);
  EXPECT_FALSE(world.has_node("n2"));
  EXPECT_EQ(world.take<protocol::pressure>()->node, words::node("n2"));
  commit(g, g_asks);
  EXPECT_FALSE(acked()) << "its room on n2 is not there";
}

TEST_F(ShardCrash, P6_on_the_fast_path_there_is_nothing_to_take_back) {
  const auto before = world.journal.size();
  prepare(g, g_asks, 0, true);
  EXPECT_TRUE(voted_yes());
  crash_at("P6", [&] { abort(g); });
  EXPECT_TRUE(world.records<protocol::prepared_record>().empty());
  EXPECT_TRUE(world.records<protocol::released_record>().empty());
  EXPECT_GE(world.journal.size(), before) << "its epoch may have been written, no promise";
  EXPECT_EQ(state(g), reservation_state::absent) << "as after P0";
}

// ------------------------------------------------------------------------------- COMMIT of what
// was forgotten, interrupted

TEST_F(ShardCrash, P10_a_node_actor_that_dies_while_a_commit_reserves_again_is_no_refusal) {
  world.cut_off("n2");
  commit(g, g_asks);
  world.node_dies("n2");
  EXPECT_EQ(world.count<protocol::ack>(), 0u) << "a refusal would take the whole gang back";
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 4) << "nothing of it is held";
  world.connect("n2");
  commit(g, g_asks);
  EXPECT_TRUE(acked());
}

TEST_F(ShardCrash, P10_a_node_that_vanishes_while_a_commit_reserves_again_is_refused_next_time) {
  world.cut_off("n2");
  commit(g, g_asks);
  node_gone("n2");
  EXPECT_EQ(world.count<protocol::ack>(), 0u);
  commit(g, g_asks);
  EXPECT_FALSE(acked());
}

TEST_F(ShardCrash, an_end_that_is_heard_while_a_commit_reserves_again_is_not_forgotten) {
  world.cut_off("n2");
  commit(g, g_asks);
  finish(g);
  world.connect("n2");
  ASSERT_NE(world.shard().reservations().find(g), nullptr) << "held until its pods are seen";
  EXPECT_TRUE(world.shard().reservations().find(g)->is_finished);
  runs("a", "n1", 2);
  runs("b", "n2", 2);
  EXPECT_EQ(state(g), reservation_state::absent);
}

TEST_F(ShardCrash, an_end_that_is_heard_while_a_commit_finds_no_room_leaves_nothing) {
  runs("stranger", "n2", 4);
  world.cut_off("n2");
  commit(g, g_asks);
  finish(g);
  world.connect("n2");
  EXPECT_EQ(state(g), reservation_state::absent);
  EXPECT_EQ(world.free_cpus("n1"), 4);
  EXPECT_EQ(world.count<protocol::ack>(), 0u) << "nobody waits for it";
}

} // namespace
} // namespace tutti::shards
