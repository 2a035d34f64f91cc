// A partition whose decision log others write into: adopt before speaking, close before presuming.
#include <gtest/gtest.h>

#include "protocol/partition_role.hpp"

namespace tutti::protocol {
namespace {

struct shared_partition : testing::Test {
  partition_role role{{.partition = {3}, .shards = 2, .shares_log = true}};
  effects out;

  void give(const event& e) { out = role.on(e, {}); }
  void hear(message m) { give(received{{}, std::move(m)}); }
  void starts(std::vector<decision_ptr> open = {}) {
    give(started{.epoch = {5}, .incarnation = {5}, .open = std::move(open), .is_takeover = true});
  }
  template <class M>
  std::vector<std::pair<address, M>> sent() const {
    std::vector<std::pair<address, M>> found;
    for (const auto& e : out.list())
      if (const auto* s = std::get_if<send>(&e))
        if (const auto* m = std::get_if<M>(&s->what))
          found.emplace_back(s->to, *m);
    return found;
  }
  template <class E>
  std::vector<E> asked() const {
    std::vector<E> found;
    for (const auto& e : out.list())
      if (const auto* x = std::get_if<E>(&e))
        found.push_back(*x);
    return found;
  }
  static gang_ptr facts(const char* uid) {
    auto g = std::make_shared<gang>();
    g->uid = {uid};
    g->name = {"ns", uid};
    return g;
  }
  static std::shared_ptr<decision> record(const char* uid, std::uint64_t ordinal) {
    auto d = std::make_shared<decision>();
    d->by = {{uid}, ordinal, {4}, 11};
    d->what = verdict::committed;
    d->gang_name = {"ns", uid};
    return d;
  }
  /// An attempt of the older owner, which nobody here has heard of.
  static base::attempt_id older(const char* uid, std::uint64_t ordinal = 1) {
    return {{uid}, ordinal, {4}, 7};
  }
  void asks(const base::attempt_id& about, std::uint32_t shard = 1) {
    hear(inquiry{about, {shard}});
  }
  void name_is_known(const char* uid) {
    hear(try_gang{facts(uid), 0});
    const auto begun = sent<begin_attempt>();
    ASSERT_EQ(begun.size(), 1u);
    hear(
        attempt_over{.attempt = begun.front().second.attempt, .outcome = attempt_outcome::refused});
  }
};

TEST_F(shared_partition, Q3_a_decision_is_adopted_before_a_word_is_said_about_it) {
  const auto d = record("g", 2);
  starts({d});
  EXPECT_TRUE(sent<resume_decision>().empty());
  EXPECT_TRUE(asked<host>().empty());
  const auto amends = asked<amend>();
  ASSERT_EQ(amends.size(), 1u);
  EXPECT_EQ(amends[0].slot, slot_of(d->by));
  EXPECT_EQ(amends[0].what.by.value, 5u);
  EXPECT_TRUE(amends[0].what.adopt);
  EXPECT_FALSE(amends[0].what.finish);
  asks(d->by);
  EXPECT_TRUE(out.empty()) << "and no answer meanwhile";
  hear(try_gang{facts("g"), 0});
  EXPECT_TRUE(out.empty());
  auto ours = record("g", 2);
  ours->adopted_by = {5};
  ours->cancelled.push_back({"p"}); // by the older owner, just before
  give(amended{slot_of(d->by), ours});
  const auto resumed = sent<resume_decision>();
  ASSERT_EQ(resumed.size(), 1u);
  EXPECT_EQ(resumed[0].second.what->cancelled.size(), 1u)
      << "as it stands now, not as it was listed";
}

TEST_F(shared_partition, Q3_what_a_later_owner_has_adopted_is_left_to_it) {
  const auto d = record("g", 2);
  starts({d});
  auto theirs = record("g", 2);
  theirs->adopted_by = {9};
  give(amend_refused{slot_of(d->by), theirs});
  EXPECT_TRUE(sent<resume_decision>().empty());
  ASSERT_EQ(sent<new_epoch>().size(), 1u) << "the keeper looks whose the partition is";
  EXPECT_EQ(sent<new_epoch>()[0].second.epoch.value, 10u);
  asks(d->by);
  hear(try_gang{facts("g"), 0});
  EXPECT_TRUE(out.empty());
}

TEST_F(shared_partition, a_decision_that_its_owner_finished_meanwhile_is_not_resumed) {
  const auto d = record("g", 2);
  starts({d});
  auto finished = record("g", 2);
  finished->is_done = true;
  give(amended{slot_of(d->by), finished});
  EXPECT_TRUE(sent<resume_decision>().empty());
  asks(d->by);
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_TRUE(sent<inquiry_answer>()[0].second.done);
  hear(try_gang{facts("g"), 0});
  ASSERT_EQ(sent<begin_attempt>().size(), 1u);
  EXPECT_EQ(sent<begin_attempt>()[0].second.attempt.ordinal, 3u);
}

TEST_F(shared_partition, Q0_an_empty_slot_of_an_older_epoch_is_closed_before_anybody_is_told) {
  starts();
  name_is_known("g");
  asks(older("g"));
  EXPECT_TRUE(sent<inquiry_answer>().empty());
  const auto closes = asked<decide>();
  ASSERT_EQ(closes.size(), 1u);
  EXPECT_EQ(closes[0].slot, (base::slot_id{{"g"}, 1}));
  EXPECT_EQ(closes[0].what.what, verdict::aborted);
  EXPECT_EQ(closes[0].what.by.epoch.value, 5u);
  EXPECT_EQ(closes[0].what.gang_name.space, "ns");
  hear(try_gang{facts("g"), 0});
  EXPECT_TRUE(out.empty()) << "no attempt competes for the slot that is being closed";
  asks(older("g"), 0);
  EXPECT_TRUE(asked<decide>().empty()) << "once";
  give(decided{closes[0].slot, std::make_shared<const decision>(closes[0].what)});
  ASSERT_EQ(sent<inquiry_answer>().size(), 2u) << "both shards";
  EXPECT_FALSE(sent<inquiry_answer>()[0].second.done);
  hear(try_gang{facts("g"), 0});
  ASSERT_EQ(sent<begin_attempt>().size(), 1u);
  EXPECT_EQ(sent<begin_attempt>()[0].second.attempt.ordinal, 2u);
}

TEST_F(shared_partition, Q2_an_older_owner_that_came_first_is_obeyed_and_its_decision_adopted) {
  starts();
  name_is_known("g");
  asks(older("g"));
  auto theirs = record("g", 1);
  theirs->by = older("g");
  give(decided{{{"g"}, 1}, theirs});
  EXPECT_TRUE(sent<inquiry_answer>().empty()) << "COMMIT comes";
  ASSERT_EQ(asked<amend>().size(), 1u);
  EXPECT_TRUE(asked<amend>()[0].what.adopt);
  give(amended{{{"g"}, 1}, theirs});
  EXPECT_EQ(sent<resume_decision>().size(), 1u);
}

TEST_F(shared_partition, Q2_an_attempt_that_lost_its_slot_leaves_the_winner_to_be_adopted) {
  starts();
  hear(try_gang{facts("g"), 0});
  const auto mine = sent<begin_attempt>()[0].second.attempt;
  auto theirs = record("g", 1);
  hear(resume_decision{theirs, {5}, {3}, 1});
  EXPECT_TRUE(out.empty()) << "whoever lost still has to say its end";
  hear(attempt_over{.attempt = mine, .outcome = attempt_outcome::conflict});
  EXPECT_EQ(sent<attempt_over>().size(), 1u);
  ASSERT_EQ(asked<amend>().size(), 1u);
  give(amended{slot_of(theirs->by), theirs});
  EXPECT_EQ(sent<resume_decision>().size(), 1u);
}

/// Its write was under way for longer than the takeover took.
TEST_F(shared_partition, S5_what_an_older_owner_decides_after_the_takeover_is_adopted) {
  starts();
  const auto theirs = record("g", 1);
  hear(resume_decision{theirs, {5}, {3}, 0});
  ASSERT_EQ(asked<amend>().size(), 1u);
  EXPECT_TRUE(asked<amend>()[0].what.adopt);
  ASSERT_EQ(sent<gangs_kept>().size(), 1u) << "the gang may be gone";
  hear(resume_decision{theirs, {5}, {3}, 0});
  EXPECT_TRUE(out.empty()) << "the log is looked through again meanwhile";
  auto ours = record("g", 1);
  ours->adopted_by = {5};
  give(amended{slot_of(theirs->by), ours});
  EXPECT_EQ(sent<resume_decision>().size(), 1u);
}

/// It took the gang for gone, and knows nothing of its slots any more.
TEST_F(shared_partition, a_partition_that_knows_less_than_the_log_goes_on_where_the_log_stands) {
  starts();
  hear(try_gang{facts("g"), 0});
  const auto mine = sent<begin_attempt>()[0].second.attempt;
  ASSERT_EQ(mine.ordinal, 1u);
  auto last = record("g", 3);
  last->is_done = true;
  hear(resume_decision{last, {}, {3}, 0});
  hear(attempt_over{.attempt = mine, .outcome = attempt_outcome::conflict});
  hear(try_gang{facts("g"), 1});
  ASSERT_EQ(sent<begin_attempt>().size(), 1u);
  EXPECT_EQ(sent<begin_attempt>()[0].second.attempt.ordinal, 4u);
}

TEST_F(shared_partition, what_the_log_has_shown_of_a_slot_that_is_over_by_now_changes_nothing) {
  auto done = record("g", 2);
  done->is_done = true;
  starts({done});
  hear(resume_decision{record("g", 2), {5}, {3}, 0});
  EXPECT_TRUE(out.empty());
  hear(try_gang{facts("g"), 0});
  const auto mine = sent<begin_attempt>()[0].second.attempt;
  auto decided_by_us = record("g", 3);
  decided_by_us->by = mine;
  hear(resume_decision{decided_by_us, {5}, {3}, 0});
  hear(resume_decision{record("g", 2), {5}, {3}, 0});
  hear(attempt_over{.attempt = mine, .outcome = attempt_outcome::bound});
  EXPECT_TRUE(asked<amend>().empty());
}

TEST_F(shared_partition, what_a_later_owner_has_adopted_is_not_taken_from_it) {
  starts();
  auto theirs = record("g", 1);
  theirs->adopted_by = {9};
  hear(resume_decision{theirs, {5}, {3}, 0});
  EXPECT_TRUE(out.empty());
}

TEST_F(shared_partition, closing_waits_for_an_attempt_of_ours_in_the_same_slot) {
  starts();
  hear(try_gang{facts("g"), 0});
  const auto mine = sent<begin_attempt>()[0].second.attempt;
  asks(older("g"));
  EXPECT_TRUE(out.empty());
  hear(attempt_over{.attempt = mine, .outcome = attempt_outcome::refused});
  EXPECT_EQ(asked<decide>().size(), 1u) << "it left the slot empty";
}

TEST_F(shared_partition, an_attempt_of_ours_that_decides_the_slot_has_closed_it) {
  starts();
  hear(try_gang{facts("g"), 0});
  const auto mine = sent<begin_attempt>()[0].second.attempt;
  asks(older("g"));
  hear(attempt_over{.attempt = mine, .outcome = attempt_outcome::bound});
  EXPECT_TRUE(asked<decide>().empty());
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_FALSE(sent<inquiry_answer>()[0].second.done);
}

TEST_F(shared_partition, a_queue_that_is_made_anew_hears_that_the_partition_is_here) {
  hear(view_wanted{});
  EXPECT_TRUE(sent<new_epoch>().empty()) << "it is said at the start";
  starts();
  hear(view_wanted{});
  ASSERT_EQ(sent<new_epoch>().size(), 1u);
  EXPECT_EQ(sent<new_epoch>()[0].second.epoch, base::epoch_no{5});
}

TEST_F(shared_partition, a_gang_whose_name_nobody_has_told_is_asked_for) {
  starts();
  asks(older("g"));
  EXPECT_TRUE(asked<decide>().empty());
  ASSERT_EQ(sent<last_look>().size(), 1u);
  hear(last_look_answer{sent<last_look>()[0].second.attempt, facts("g")});
  ASSERT_EQ(asked<decide>().size(), 1u);
  EXPECT_EQ(asked<decide>()[0].what.gang_name, (object_name{"ns", "g"}));
}

TEST_F(shared_partition, a_gang_that_is_gone_needs_no_closing) {
  starts();
  asks(older("g"));
  ASSERT_EQ(sent<gangs_kept>().size(), 1u) << "the queue is asked whether it is gone";
  hear(last_look_answer{older("g"), nullptr});
  EXPECT_TRUE(out.empty());
  hear(gang_deleted{{"g"}});
  ASSERT_EQ(sent<slots_wanted>().size(), 1u) << "the queue may only not have heard of it yet";
  EXPECT_TRUE(sent<inquiry_answer>().empty());
  hear(slots_told{sent<slots_wanted>()[0].second.id, {}});
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_FALSE(sent<inquiry_answer>()[0].second.done);
}

TEST_F(shared_partition, a_decision_of_a_gang_that_the_queue_does_not_know_is_taken_up) {
  starts();
  asks(older("g"));
  hear(gang_deleted{{"g"}});
  const auto list = sent<slots_wanted>().at(0).second.id;
  decision there;
  there.by = older("g");
  there.what = verdict::committed;
  there.gang_name = {"ns", "g"};
  hear(slots_told{list - 1, {}});
  EXPECT_TRUE(out.empty()) << "that list was asked for before";
  hear(slots_told{list, {there}});
  EXPECT_TRUE(sent<inquiry_answer>().empty()) << "COMMIT comes";
  ASSERT_EQ(asked<amend>().size(), 1u);
  EXPECT_TRUE(asked<amend>()[0].what.adopt);
}

TEST_F(shared_partition, a_closing_without_an_answer_is_written_again) {
  starts();
  name_is_known("g");
  asks(older("g"));
  give(decide_unknown{{{"g"}, 1}});
  EXPECT_EQ(asked<decide>().size(), 1u);
  give(decide_refused{{{"g"}, 1}, {}});
  EXPECT_TRUE(out.empty());
  asks(older("g"));
  EXPECT_EQ(asked<decide>().size(), 1u) << "as if it were asked for the first time";
}

TEST_F(shared_partition, tries_of_its_own_epoch_are_presumed_aborted) {
  starts();
  asks({{"g"}, 1, {5}, 3});
  EXPECT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_TRUE(asked<decide>().empty());
}

TEST_F(shared_partition, about_a_later_owners_attempt_it_says_nothing) {
  starts();
  asks({{"g"}, 1, {6}, 3});
  EXPECT_TRUE(out.empty());
}

TEST_F(shared_partition, a_fence_above_its_epoch_is_a_matter_of_the_map) {
  starts();
  hear(fence_found{{8}});
  EXPECT_TRUE(asked<append>().empty());
  ASSERT_EQ(sent<new_epoch>().size(), 1u);
  EXPECT_EQ(sent<new_epoch>()[0].first, to(role_kind::keeper));
  EXPECT_EQ(sent<new_epoch>()[0].second.epoch.value, 9u);
}

} // namespace
} // namespace tutti::protocol
