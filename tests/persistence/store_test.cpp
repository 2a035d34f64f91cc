// What both stores promise: the same script is run against RocksDB and against the memory twin.
#include "persistence/store.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "protocol/sharding.hpp"

#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {
namespace {

using protocol::verdict;

struct Store : ::testing::TestWithParam<const char*> {
  std::unique_ptr<bench> it;

  void SetUp() override {
    if (std::string_view{GetParam()} == "memory")
      it = std::make_unique<memory_bench>();
    else
      it = std::make_unique<rocks_bench>();
    ASSERT_TRUE(it->open());
  }

  /// Flips one byte in the middle of a value of the closed store.
  void damage(family where, const std::string& key) {
    auto value = it->raw(where, key);
    ASSERT_TRUE(value) << describe_key(where, key);
    (*value)[value->size() / 2] ^= 0x40;
    it->set_raw(where, key, value);
  }
  code opening_fails() {
    auto ok = it->open();
    return ok ? code::ok : ok.error().what();
  }
  std::string opening_says() {
    auto ok = it->open();
    return ok ? "" : ok.error().message();
  }
};

INSTANTIATE_TEST_SUITE_P(Both, Store, ::testing::Values("memory", "rocks"),
                         [](const auto& which) { return std::string{which.param}; });

// ---------------------------------------------------------------- journal

TEST_P(Store, numbers_records_of_all_writers_without_gaps) {
  EXPECT_EQ(it->append_one(append(shard(1), prepared(attempt("a", 1)))), 1u);
  EXPECT_EQ(it->append_one(append(shard(2), prepared(attempt("a", 1)))), 2u);
  EXPECT_EQ(it->append_one(append(shard(1), protocol::epoch_record{{3}, {4}, 5})), 3u);
}

TEST_P(Store, gives_back_what_each_role_wrote_in_order) {
  const record first = prepared(attempt("a", 1));
  const record second = protocol::released_record{attempt("a", 1), {{"p"}}};
  it->append_one(append(shard(1), first));
  it->append_one(append(shard(2), first));
  it->append_one(append(shard(1), second));
  auto left = it->reopen();
  ASSERT_EQ(left.roles.size(), 2u);
  const auto& records = left.roles[shard(1)].records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0], (std::pair<journal_index, record>{1, first}));
  EXPECT_EQ(records[1], (std::pair<journal_index, record>{3, second}));
  EXPECT_TRUE(left.roles[shard(1)].checkpoint.empty());
}

TEST_P(Store, refuses_a_record_of_a_retired_incarnation) {
  it->append_one(append(shard(1), prepared(attempt("a", 1)), true, 4));
  ASSERT_TRUE(it->ask(retire_request{shard(1), {5}}));
  auto late = it->ask(append(shard(1), prepared(attempt("b", 1)), true, 4));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().what(), code::conflict);
  EXPECT_NE(late.error().message().find("retired"), std::string::npos);
  EXPECT_TRUE(it->ask(append(shard(1), prepared(attempt("b", 1)), true, 5)));
  EXPECT_TRUE(it->ask(append(shard(2), prepared(attempt("b", 1)), true, 4)));
  EXPECT_EQ(it->reopen().roles[shard(1)].records.size(), 2u);
}

TEST_P(Store, a_life_record_retires_all_lives_before_it) {
  it->append_one(append(shard(1), protocol::life_record{{1}, {6}}, true, 6));
  EXPECT_FALSE(it->ask(append(shard(1), prepared(attempt("a", 1)), false, 5)));
  EXPECT_TRUE(it->ask(append(shard(1), prepared(attempt("a", 1)), false, 6)));
}

TEST_P(Store, every_life_of_the_process_has_a_higher_incarnation) {
  EXPECT_EQ(it->use().take_remains().last_incarnation.value, 0u);
  EXPECT_EQ(it->reopen().last_incarnation.value, 1u);
  EXPECT_EQ(it->reopen().last_incarnation.value, 2u);
  it->append_one(append(shard(1), prepared(attempt("a", 1)), true, 9));
  EXPECT_EQ(it->reopen().last_incarnation.value, 9u) << "a role was reborn within that life";
}

// ---------------------------------------------------------------- roles that are made anew

recovered_role recovered_of(const base::result<outcome>& x) {
  return x ? std::get<recovered_role>(*x) : recovered_role{};
}

TEST_P(Store, a_role_made_anew_finds_all_that_its_dead_life_had_queued_and_nothing_later) {
  const record first = prepared(attempt("a", 1));
  const record second = protocol::released_record{attempt("a", 1), {{"p"}}};
  const auto out =
      it->ask_all({append(shard(1), first), append(shard(2), first), append(shard(1), second),
                   recover_request{shard(1)}, append(shard(1), first)});
  ASSERT_EQ(out.size(), 5u);
  ASSERT_TRUE(out[3]);
  const auto found = recovered_of(out[3]).left;
  EXPECT_TRUE(found.checkpoint.empty());
  ASSERT_EQ(found.records.size(), 2u);
  EXPECT_EQ(found.records[0], (std::pair<journal_index, record>{1, first}));
  EXPECT_EQ(found.records[1], (std::pair<journal_index, record>{3, second}));
  EXPECT_EQ(std::get<appended>(*out[4]).index, 4u);
}

TEST_P(Store, a_role_made_anew_finds_its_checkpoint_and_the_records_above_it) {
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  it->append_one(append(shard(1), prepared(attempt("b", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 1, "state")));
  const auto found = recovered_of(it->ask(recover_request{shard(1)})).left;
  EXPECT_EQ(found.checkpoint, "state");
  EXPECT_EQ(found.applied, 1u);
  ASSERT_EQ(found.records.size(), 1u);
  EXPECT_EQ(found.records[0].first, 2u);
}

TEST_P(Store, a_role_made_anew_finds_the_same_as_after_a_restart_of_the_process) {
  const auto a = attempt("a", 1);
  it->append_one(append(shard(0), prepared(attempt("b", 1))));
  it->decided(decide(committed(a), {rider(a, 0)}));
  it->append_one(append(shard(0), protocol::released_record{attempt("b", 1), {}}));
  const auto now = recovered_of(it->ask(recover_request{shard(0)})).left;
  const auto later = it->reopen().roles[shard(0)];
  EXPECT_EQ(now.records, later.records);
  EXPECT_EQ(now.records.size(), 4u) << "PREPARED and COMMITTED came with the decision";
}

TEST_P(Store, a_role_that_never_wrote_finds_nothing) {
  const auto found = it->ask(recover_request{shard(5)});
  ASSERT_TRUE(found);
  EXPECT_TRUE(recovered_of(found).left.records.empty());
  EXPECT_TRUE(recovered_of(found).decisions.empty());
}

TEST_P(Store, a_partition_made_anew_finds_its_own_decisions_and_its_epoch) {
  const auto mine = protocol::partition_of({"a"});
  std::string foreign = "b";
  while (protocol::partition_of({foreign}) == mine)
    foreign += "b";
  it->append_one(append(protocol::to_partition(mine), protocol::life_record{{7}, {3}}, true, 3));
  it->decided(decide(committed(attempt("a", 1, 7))));
  it->decided(decide(committed(attempt(foreign, 1))));
  const auto found = recovered_of(it->ask(recover_request{protocol::to_partition(mine)}));
  EXPECT_EQ(found.epoch, base::epoch_no{7});
  ASSERT_EQ(found.decisions.size(), 1u);
  EXPECT_EQ(found.decisions.front()->by, attempt("a", 1, 7));
}

TEST_P(Store, refuses_a_decision_of_an_owner_whose_successor_has_begun) {
  const auto owner = protocol::to_partition(protocol::partition_of({"a"}));
  const auto out = it->ask_all({append(owner, protocol::life_record{{2}, {6}}, true, 6),
                                recover_request{owner}, decide(committed(attempt("a", 1, 1)))});
  EXPECT_TRUE(recovered_of(out[1]).decisions.empty());
  ASSERT_FALSE(out[2]) << "the successor has read an empty slot";
  EXPECT_EQ(out[2].error().what(), code::conflict);
  EXPECT_EQ(it->decided(decide(committed(attempt("a", 1, 2)))).winner->by, attempt("a", 1, 2));
}

// ---------------------------------------------------------------- decisions

TEST_P(Store, the_first_decision_of_a_slot_wins_and_the_second_is_told_so) {
  const auto mine = committed(attempt("g", 1, 1, 1));
  auto won = it->decided(decide(mine));
  EXPECT_EQ(*won.winner, mine);
  auto lost = it->decided(decide(aborted(attempt("g", 1, 2, 1))));
  EXPECT_EQ(*lost.winner, mine) << "S2";
  auto left = it->reopen();
  ASSERT_EQ(left.decisions.size(), 1u);
  EXPECT_EQ(*left.decisions[0], mine);
}

TEST_P(Store, rivals_queued_together_have_one_winner) {
  const auto answers =
      it->ask_all({decide(committed(attempt("g", 1, 1, 1))), decide(aborted(attempt("g", 1, 2, 1))),
                   decide(committed(attempt("g", 1, 1, 2)))});
  for (const auto& a : answers)
    EXPECT_EQ(*std::get<decide_outcome>(a.value()).winner, committed(attempt("g", 1, 1, 1)));
}

TEST_P(Store, deciding_again_after_an_unknown_answer_changes_nothing) {
  const auto mine = committed(attempt("g", 1));
  it->decided(decide(mine, {rider(mine.by, 0)}));
  auto again = it->decided(decide(mine, {rider(mine.by, 0)}));
  EXPECT_EQ(*again.winner, mine);
  EXPECT_TRUE(again.rider_indices.empty()) << "the riders are in the journal already";
  EXPECT_EQ(it->reopen().roles[shard(0)].records.size(), 2u);
}

TEST_P(Store, the_next_ordinal_waits_until_the_last_is_done) {
  it->decided(decide(committed(attempt("g", 1))));
  auto early = it->ask(decide(committed(attempt("g", 2))));
  ASSERT_FALSE(early) << "S7";
  EXPECT_EQ(early.error().what(), code::conflict);
  it->amended(amend("g", 1, finish(1)));
  EXPECT_EQ(it->decided(decide(committed(attempt("g", 2)))).winner->by.ordinal, 2u);
  auto past = it->ask(decide(committed(attempt("g", 0))));
  ASSERT_FALSE(past) << "an empty slot long past stays empty";
  EXPECT_EQ(past.error().what(), code::conflict);
}

TEST_P(Store, the_next_ordinal_may_follow_an_aborted_one) {
  it->decided(decide(aborted(attempt("g", 1))));
  EXPECT_EQ(it->decided(decide(committed(attempt("g", 2)))).winner->by.ordinal, 2u);
}

TEST_P(Store, gangs_do_not_wait_for_each_other) {
  it->decided(decide(committed(attempt("g", 1))));
  it->decided(decide(committed(attempt("g0", 7))));
  it->decided(decide(committed(attempt("f", 3))));
  EXPECT_EQ(it->reopen().decisions.size(), 3u);
}

TEST_P(Store, riders_stand_in_the_journal_as_prepared_and_committed) {
  const auto mine = committed(attempt("g", 1));
  it->append_one(append(shard(0), protocol::epoch_record{{3}, {1}, 1}));
  auto won = it->decided(decide(mine, {rider(mine.by, 0), rider(mine.by, 4)}));
  EXPECT_EQ(won.rider_indices, (std::vector<journal_index>{2, 3, 4, 5}));
  auto left = it->reopen();
  const auto& records = left.roles[shard(4)].records;
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].second, record{prepared(mine.by, 4)});
  const auto p = prepared(mine.by, 4);
  EXPECT_EQ(records[1].second,
            (record{protocol::committed_record{p.attempt, p.coordinator, p.asked}}));
}

TEST_P(Store, a_decision_with_a_rider_of_a_retired_incarnation_is_refused_whole) {
  const auto mine = committed(attempt("g", 1));
  ASSERT_TRUE(it->ask(retire_request{shard(4), {2}}));
  auto refused = it->ask(decide(mine, {rider(mine.by, 0, 1), rider(mine.by, 4, 1)}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what(), code::conflict);
  EXPECT_EQ(*it->decided(decide(mine)).winner, mine) << "the slot is still empty";
  auto left = it->reopen();
  EXPECT_FALSE(left.roles.contains(shard(0))) << "nothing was written for the others";
  EXPECT_FALSE(left.roles.contains(shard(4)));
}

// ---------------------------------------------------------------- amendments

TEST_P(Store, an_empty_slot_has_nothing_to_amend) {
  auto no = it->amended(amend("g", 1, finish(1)));
  EXPECT_TRUE(no.refused);
  EXPECT_EQ(no.now, nullptr);
}

TEST_P(Store, cancels_only_grow) {
  it->decided(decide(committed(attempt("g", 1))));
  it->amended(amend("g", 1, cancel(1, "p")));
  auto now = it->amended(amend("g", 1, cancel(1, "q")));
  EXPECT_EQ(now.now->cancelled, (std::vector<base::pod_uid>{{"p"}, {"q"}}));
  EXPECT_EQ(it->amended(amend("g", 1, cancel(1, "p"))).now->cancelled.size(), 2u);
  EXPECT_EQ(it->reopen().decisions.at(0)->cancelled.size(), 2u);
}

TEST_P(Store, an_adopted_decision_takes_nothing_from_an_earlier_epoch) {
  it->decided(decide(committed(attempt("g", 1, 1))));
  EXPECT_FALSE(it->amended(amend("g", 1, adopt(2))).refused);
  auto late = it->amended(amend("g", 1, cancel(1, "p")));
  EXPECT_TRUE(late.refused) << "Q3";
  EXPECT_EQ(late.now->adopted_by.value, 2u);
  EXPECT_TRUE(late.now->cancelled.empty());
  EXPECT_TRUE(it->amended(amend("g", 1, finish(1))).refused);
  EXPECT_FALSE(it->amended(amend("g", 1, cancel(2, "p"))).refused);
  EXPECT_TRUE(it->amended(amend("g", 1, adopt(1))).refused);
  EXPECT_EQ(it->reopen().decisions.at(0)->adopted_by.value, 2u);
}

TEST_P(Store, an_epoch_older_than_the_decision_has_no_say) {
  it->decided(decide(committed(attempt("g", 1, 5))));
  EXPECT_TRUE(it->amended(amend("g", 1, finish(4))).refused);
}

TEST_P(Store, a_done_decision_keeps_who_won_but_not_the_plan) {
  it->decided(decide(committed(attempt("g", 1))));
  auto done = it->amended(amend("g", 1, finish(1)));
  EXPECT_TRUE(done.now->is_done);
  EXPECT_FALSE(done.now->chosen.slices.empty()) << "the answer has it for the last time";
  auto late = it->decided(decide(aborted(attempt("g", 1, 2))));
  EXPECT_EQ(late.winner->by, attempt("g", 1, 1));
  EXPECT_TRUE(late.winner->chosen.slices.empty());
  auto left = it->reopen();
  ASSERT_EQ(left.decisions.size(), 1u);
  EXPECT_TRUE(left.decisions[0]->is_done);
  EXPECT_EQ(left.decisions[0]->what, verdict::committed);
  EXPECT_TRUE(left.decisions[0]->chosen.slices.empty());
}

TEST_P(Store, finishing_twice_is_as_good_as_once) {
  it->decided(decide(committed(attempt("g", 1))));
  it->amended(amend("g", 1, finish(1)));
  EXPECT_FALSE(it->amended(amend("g", 1, finish(1))).refused);
  EXPECT_TRUE(it->amended(amend("g", 1, cancel(1, "p"))).refused) << "nothing left to give up";
}

TEST_P(Store, a_forgotten_gang_leaves_nothing_once_it_is_finished) {
  it->decided(decide(committed(attempt("g", 1))));
  it->amended(amend("g", 1, finish(1)));
  it->decided(decide(committed(attempt("g", 2))));
  ASSERT_TRUE(it->ask(forget_request{{"g"}}));
  auto left = it->reopen();
  ASSERT_EQ(left.decisions.size(), 1u) << "unfinished: somebody still rolls it forward";
  EXPECT_EQ(left.decisions[0]->by.ordinal, 2u);
  EXPECT_FALSE(it->amended(amend("g", 2, finish(1))).refused);
  EXPECT_TRUE(it->reopen().decisions.empty());
}

TEST_P(Store, a_gang_decided_and_forgotten_and_decided_in_one_breath_is_there) {
  it->ask_all({decide(aborted(attempt("g", 1))), forget_request{{"g"}},
               decide(committed(attempt("g", 2)))});
  auto left = it->reopen();
  ASSERT_EQ(left.decisions.size(), 1u);
  EXPECT_EQ(left.decisions[0]->by.ordinal, 2u);
  it->ask_all({amend("g", 2, finish(1)), forget_request{{"g"}}, decide(aborted(attempt("g", 2)))});
  EXPECT_EQ(it->reopen().decisions.size(), 1u);
}

TEST_P(Store, a_gang_tried_for_ever_does_not_fill_the_disk) {
  for (std::uint64_t n = 1; n <= 2 * book::finished_kept_per_gang; ++n)
    it->decided(decide(aborted(attempt("g", n))));
  auto left = it->reopen();
  EXPECT_EQ(left.decisions.size(), book::finished_kept_per_gang + 1);
  EXPECT_EQ(left.decisions.back()->by.ordinal, 2 * book::finished_kept_per_gang);
}

TEST_P(Store, knows_the_highest_epoch_of_every_partition) {
  it->append_one(append(partition(9), protocol::life_record{{4}, {1}}, true));
  it->append_one(append(partition(9), protocol::life_record{{3}, {1}}, true));
  const auto mine = committed(attempt("g", 1, 6));
  it->decided(decide(mine));
  auto left = it->reopen();
  EXPECT_EQ(left.partition_epochs[9].value, 4u);
  EXPECT_EQ(left.partition_epochs[protocol::partition_of(mine.by.gang).value].value, 6u);
}

// ---------------------------------------------------------------- checkpoints

TEST_P(Store, a_role_replays_only_what_its_checkpoint_does_not_have) {
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  it->append_one(append(shard(2), prepared(attempt("b", 1))));
  it->append_one(append(shard(1), prepared(attempt("c", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 1, "one")));
  auto left = it->reopen();
  EXPECT_EQ(left.roles[shard(1)].checkpoint, "one");
  EXPECT_EQ(left.roles[shard(1)].applied, 1u);
  ASSERT_EQ(left.roles[shard(1)].records.size(), 1u);
  EXPECT_EQ(left.roles[shard(1)].records[0].first, 3u);
  EXPECT_EQ(left.roles[shard(2)].records.size(), 1u) << "a role without checkpoint loses nothing";
}

TEST_P(Store, recovers_from_checkpoints_of_mixed_age) {
  for (int i = 0; i < 5; ++i)
    for (unsigned s = 1; s <= 3; ++s)
      it->append_one(append(shard(s), prepared(attempt(std::to_string(i), 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 13, "new")));
  ASSERT_TRUE(it->ask(snapshot(shard(2), 2, "old")));
  ASSERT_TRUE(it->ask(snapshot(shard(3), 9, "middle")));
  auto left = it->reopen();
  EXPECT_EQ(left.roles[shard(1)].records.size(), 0u);
  EXPECT_EQ(left.roles[shard(2)].records.size(), 4u);
  EXPECT_EQ(left.roles[shard(3)].records.size(), 2u);
}

TEST_P(Store, cuts_the_journal_below_what_recovery_needs) {
  for (int i = 0; i < 4; ++i) {
    it->append_one(append(shard(1), prepared(attempt("a", 1))));
    it->append_one(append(shard(2), prepared(attempt("b", 1))));
  }
  ASSERT_TRUE(it->ask(snapshot(shard(1), 7, "x")));
  it->close();
  EXPECT_TRUE(it->raw(family::journal, journal_key(2))) << "shard(2) has no checkpoint yet";
  ASSERT_TRUE(it->open());
  ASSERT_TRUE(it->ask(snapshot(shard(2), 4, "y")));
  it->close();
  EXPECT_FALSE(it->raw(family::journal, journal_key(5)));
  EXPECT_TRUE(it->raw(family::journal, journal_key(6)));
  ASSERT_TRUE(it->open());
  EXPECT_EQ(it->use().take_remains().roles[shard(2)].records.size(), 2u);
}

TEST_P(Store, an_empty_journal_goes_on_counting) {
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 1, "x")));
  auto left = it->reopen();
  EXPECT_TRUE(left.roles[shard(1)].records.empty());
  EXPECT_EQ(it->append_one(append(shard(1), prepared(attempt("b", 1)))), 2u);
  EXPECT_EQ(it->reopen().roles[shard(1)].records.size(), 1u);
}

TEST_P(Store, the_lives_of_partitions_do_not_hold_the_journal) {
  it->append_one(append(partition(1), protocol::life_record{{4}, {1}}, true));
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 2, "x")));
  it->close();
  EXPECT_FALSE(it->raw(family::journal, journal_key(1)));
  ASSERT_TRUE(it->open());
  EXPECT_EQ(it->use().take_remains().partition_epochs[1].value, 4u);
}

TEST_P(Store, an_older_checkpoint_does_not_replace_a_newer_one) {
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  it->append_one(append(shard(1), prepared(attempt("b", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 2, "new")));
  EXPECT_EQ(it->ask(snapshot(shard(1), 1, "old")).error().what(), code::conflict);
  EXPECT_EQ(it->reopen().roles[shard(1)].checkpoint, "new");
}

TEST_P(Store, a_record_and_its_checkpoint_in_one_group_leave_only_the_checkpoint) {
  it->ask_all({append(shard(1), prepared(attempt("a", 1))), snapshot(shard(1), 1, "x"),
               append(shard(1), prepared(attempt("b", 1)))});
  auto left = it->reopen();
  EXPECT_EQ(left.roles[shard(1)].checkpoint, "x");
  ASSERT_EQ(left.roles[shard(1)].records.size(), 1u);
  EXPECT_EQ(left.roles[shard(1)].records[0].first, 2u);
}

// ---------------------------------------------------------------- recovery

TEST_P(Store, recovering_twice_gives_the_same) {
  const auto mine = committed(attempt("g", 1));
  it->decided(decide(mine, {rider(mine.by, 0), rider(mine.by, 1)}));
  it->amended(amend("g", 1, cancel(1, "p")));
  it->append_one(append(shard(1), protocol::released_record{mine.by, {}}));
  ASSERT_TRUE(it->ask(snapshot(shard(0), 2, "x")));
  const auto once = it->reopen();
  auto twice = it->reopen();
  EXPECT_EQ(twice.last_incarnation.value, once.last_incarnation.value + 1);
  twice.last_incarnation = once.last_incarnation;
  EXPECT_EQ(story_of(once), story_of(twice)) << "S11";
}

TEST_P(Store, names_a_damaged_record_in_the_middle) {
  for (int i = 0; i < 5; ++i)
    it->append_one(append(shard(1), prepared(attempt("a", 1)), true));
  it->close();
  damage(family::journal, journal_key(3));
  const auto says = opening_says();
  EXPECT_NE(says.find("journal"), std::string::npos) << says;
  EXPECT_NE(says.find("record 3"), std::string::npos) << says;
  EXPECT_EQ(opening_fails(), code::corrupt);
}

TEST_P(Store, names_a_missing_record_in_the_middle) {
  for (int i = 0; i < 5; ++i)
    it->append_one(append(shard(1), prepared(attempt("a", 1)), true));
  it->close();
  it->set_raw(family::journal, journal_key(2), std::nullopt);
  EXPECT_NE(opening_says().find("record 2 is missing"), std::string::npos);
  EXPECT_EQ(opening_fails(), code::corrupt);
}

TEST_P(Store, notices_a_missing_first_and_a_missing_last_record) {
  for (int i = 0; i < 3; ++i)
    it->append_one(append(shard(1), prepared(attempt("a", 1)), true));
  it->close();
  const auto first = it->raw(family::journal, journal_key(1));
  it->set_raw(family::journal, journal_key(1), std::nullopt);
  EXPECT_EQ(opening_fails(), code::corrupt);
  it->set_raw(family::journal, journal_key(1), first);
  it->set_raw(family::journal, journal_key(3), std::nullopt);
  EXPECT_EQ(opening_fails(), code::corrupt);
}

TEST_P(Store, notices_a_damaged_swapped_or_missing_decision) {
  it->decided(decide(committed(attempt("g", 1))));
  it->decided(decide(committed(attempt("h", 1))));
  it->close();
  const auto key = decision_key({{"g"}, 1});
  const auto good = it->raw(family::decisions, key);
  damage(family::decisions, key);
  EXPECT_NE(opening_says().find("decision 1 of gang g"), std::string::npos);
  it->set_raw(family::decisions, key, it->raw(family::decisions, decision_key({{"h"}, 1})));
  EXPECT_EQ(opening_fails(), code::corrupt);
  it->set_raw(family::decisions, key, std::nullopt);
  EXPECT_EQ(opening_fails(), code::corrupt);
  it->set_raw(family::decisions, key, good);
  EXPECT_EQ(opening_fails(), code::ok);
}

TEST_P(Store, notices_a_damaged_or_missing_checkpoint) {
  it->append_one(append(shard(1), prepared(attempt("a", 1))));
  ASSERT_TRUE(it->ask(snapshot(shard(1), 1, "all that shard(1) knows")));
  it->close();
  const auto key = checkpoint_key(shard(1));
  damage(family::checkpoint, key);
  EXPECT_NE(opening_says().find("checkpoint of shard(1)"), std::string::npos);
  it->set_raw(family::checkpoint, key, std::nullopt);
  EXPECT_EQ(opening_fails(), code::corrupt);
}

TEST_P(Store, refuses_a_store_of_a_later_version) {
  it->close();
  it->set_raw(family::meta, std::string{meta_key::format}, "tutti store, format 2");
  EXPECT_EQ(opening_fails(), code::newer_format);
}

TEST_P(Store, refuses_a_record_of_a_later_version) {
  it->append_one(append({static_cast<protocol::role_kind>(99), 0, {}}, prepared(attempt("a", 1))));
  it->close();
  EXPECT_EQ(opening_fails(), code::newer_format);
}

// ---------------------------------------------------------------- identity

TEST_P(Store, remembers_whose_it_is) {
  EXPECT_EQ(it->use().who(), (identity{"", base::limits::default_shards}));
  ASSERT_TRUE(it->use().claim("cluster-1"));
  EXPECT_TRUE(it->use().claim("cluster-1"));
  EXPECT_EQ(it->use().claim("cluster-2").error().what(), code::foreign);
  it->close();
  EXPECT_EQ(it->open(0, "cluster-2").error().what(), code::foreign);
  EXPECT_EQ(it->open(16, "cluster-1").error().what(), code::bad_input);
  ASSERT_TRUE(it->open(0, "cluster-1"));
  EXPECT_EQ(it->use().who(), (identity{"cluster-1", base::limits::default_shards}));
}

// ---------------------------------------------------------------- queue

TEST_P(Store, a_hundred_queued_decisions_share_few_syncs) {
  std::vector<request> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(decide(committed(attempt("g" + std::to_string(i), 1))));
  const auto before = it->use().counted().syncs;
  const auto answers = it->ask_all(std::move(all));
  EXPECT_TRUE(std::all_of(answers.begin(), answers.end(), [](auto& a) { return a.has_value(); }));
  EXPECT_LE(it->use().counted().syncs - before, 2u);
  EXPECT_EQ(it->reopen().decisions.size(), 100u);
}

TEST_P(Store, lazy_records_cost_no_sync) {
  const auto before = it->use().counted().syncs;
  it->ask_all(
      {append(shard(1), prepared(attempt("a", 1))), append(shard(1), prepared(attempt("b", 1)))});
  EXPECT_EQ(it->use().counted().syncs, before);
  EXPECT_EQ(it->use().counted().records, 2u);
  it->append_one(append(shard(1), prepared(attempt("c", 1)), true));
  EXPECT_EQ(it->use().counted().syncs, before + 1);
}

TEST_P(Store, a_closed_store_refuses_everything) {
  it->use().close();
  code answer = code::ok;
  it->use().submit(append(shard(1), prepared(attempt("a", 1))),
                   [&](base::result<outcome> x) { answer = x ? code::ok : x.error().what(); });
  EXPECT_EQ(answer, code::unavailable);
  EXPECT_EQ(it->use().claim("x").error().what(), code::unavailable);
}

} // namespace
} // namespace tutti::persistence::testing
