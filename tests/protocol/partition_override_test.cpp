// A partition at an operator's word: silent gangs, quarantined gangs, degraded gangs.
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "protocol/partition_role.hpp"

namespace tutti::protocol {
namespace {

struct override_of : testing::Test {
  partition_role role{{.partition = {3}, .shards = 2}};
  effects out;

  void begins(std::vector<decision_ptr> open = {}, std::vector<base::gang_uid> quarantined = {}) {
    out = role.on(started{.epoch = {5},
                          .incarnation = {2},
                          .open = std::move(open),
                          .quarantined = std::move(quarantined)},
                  {});
  }
  void hear(message m) { out = role.on(received{{}, std::move(m)}, {}); }
  template <class E>
  std::vector<E> take() const {
    std::vector<E> found;
    for (const auto& e : out.list())
      if (const auto* x = std::get_if<E>(&e))
        found.push_back(*x);
    return found;
  }
  template <class M>
  std::vector<std::pair<address, M>> sent() const {
    std::vector<std::pair<address, M>> found;
    for (const auto& s : take<send>())
      if (const auto* m = std::get_if<M>(&s.what))
        found.emplace_back(s.to, *m);
    return found;
  }
  base::attempt_id is_tried() {
    auto g = std::make_shared<gang>();
    g->uid = {"g"};
    g->name = {"ns", "g"};
    hear(try_gang{g, 0});
    return sent<begin_attempt>().at(0).second.attempt;
  }
  static decision_ptr unfinished() {
    auto d = std::make_shared<decision>();
    d->by = {{"g"}, 4, {4}, 11};
    d->what = verdict::committed;
    return d;
  }
  void operator_says(std::uint64_t id = 7) {
    hear(cancel_gang{id, {"g"}, {"ns", "g"}, false, {}, "fire"});
  }
  void gang_stays_silent(std::uint64_t id = 7) {
    ASSERT_EQ(take<arm>().size(), 1u);
    EXPECT_EQ(take<arm>().front().after, base::duration{base::limits::prepare_timeout});
    out = role.on(timer_fired{{2, id}}, {});
  }
  void store_says(verdict what, const base::attempt_id& by) {
    auto d = std::make_shared<decision>();
    d->by = by;
    d->what = what;
    out = role.on(decided{slot_of(by), d}, {});
  }
  gang_cancelled answer() const {
    const auto said = sent<gang_cancelled>();
    EXPECT_EQ(said.size(), 1u);
    if (said.empty())
      return {};
    EXPECT_EQ(said.front().first, to(role_kind::admin));
    EXPECT_EQ(said.front().second.id, 7u);
    return said.front().second;
  }
};

TEST_F(override_of, a_gang_of_which_nothing_is_under_way_is_refused) {
  begins();
  operator_says();
  EXPECT_FALSE(answer().is_done);
  EXPECT_NE(answer().text.find("nothing of it is under way"), std::string::npos);
}

TEST_F(override_of, a_gang_that_answers_is_its_own_matter) {
  begins();
  is_tried();
  operator_says();
  ASSERT_EQ(sent<cancel_gang>().size(), 1u);
  EXPECT_EQ(sent<cancel_gang>().front().first, to_gang({"g"}));
  hear(gang_cancelled{7, {"g"}, true, "done"});
  EXPECT_TRUE(answer().is_done);
  out = role.on(timer_fired{{2, 7}}, {});
  EXPECT_TRUE(out.empty());
}

TEST_F(override_of, two_operators_do_not_speak_at_once) {
  begins();
  is_tried();
  operator_says(6);
  operator_says(7);
  EXPECT_FALSE(answer().is_done);
  EXPECT_TRUE(sent<cancel_gang>().empty());
}

TEST_F(override_of, the_slot_of_a_silent_undecided_attempt_is_closed_and_used_up) {
  begins();
  const auto attempt = is_tried();
  operator_says();
  gang_stays_silent();
  ASSERT_EQ(take<decide>().size(), 1u);
  const auto closing = take<decide>().front();
  EXPECT_EQ(closing.slot, slot_of(attempt));
  EXPECT_EQ(closing.what.what, verdict::aborted);
  EXPECT_TRUE(sent<abort_attempt>().empty()) << "not before the slot is closed";
  store_says(verdict::aborted, attempt);
  EXPECT_TRUE(answer().is_done);
  EXPECT_EQ(sent<abort_attempt>().size(), 2u) << "every shard";
  ASSERT_EQ(sent<attempt_over>().size(), 1u);
  EXPECT_EQ(sent<attempt_over>().front().first, to(role_kind::queue));
  EXPECT_EQ(sent<attempt_over>().front().second.outcome, attempt_outcome::stopped);
  ASSERT_EQ(sent<emit_event>().size(), 1u);
  EXPECT_EQ(sent<emit_event>().front().second.reason, "GangCancelled");

  hear(attempt_over{.attempt = attempt, .outcome = attempt_outcome::conflict});
  EXPECT_TRUE(out.empty()) << "the silent actor's late word is nobody's business";
  hear(inquiry{attempt, {1}});
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_FALSE(sent<inquiry_answer>().front().second.done) << "aborted, not done";
  EXPECT_EQ(is_tried().ordinal, attempt.ordinal + 1) << "the slot is taken for ever";
}

TEST_F(override_of, a_closed_slot_is_told_apart_from_a_done_one_after_a_restart) {
  auto closed = std::make_shared<decision>();
  closed->by = {{"g"}, 4, {4}, 11};
  closed->what = verdict::aborted;
  begins({closed});
  EXPECT_TRUE(sent<resume_decision>().empty());
  auto ended = closed->by;
  ended.try_no = 10;
  hear(inquiry{ended, {1}});
  EXPECT_FALSE(sent<inquiry_answer>().front().second.done);
  EXPECT_EQ(is_tried().ordinal, 5u);
}

TEST_F(override_of, a_silent_gang_that_has_decided_is_made_anew_and_nothing_is_given_up) {
  begins();
  const auto attempt = is_tried();
  operator_says();
  gang_stays_silent();
  store_says(verdict::committed, attempt);
  EXPECT_FALSE(answer().is_done);
  EXPECT_EQ(take<rebuild>().size(), 1u);
  EXPECT_TRUE(sent<attempt_over>().empty());
}

TEST_F(override_of, a_silent_gang_that_was_resumed_is_made_anew_without_a_write) {
  begins({unfinished()});
  operator_says();
  gang_stays_silent();
  EXPECT_TRUE(take<decide>().empty());
  EXPECT_FALSE(answer().is_done);
  EXPECT_EQ(take<rebuild>().size(), 1u);
}

TEST_F(override_of, an_attempt_that_ends_while_its_slot_is_being_closed_is_left_alone) {
  begins();
  const auto attempt = is_tried();
  operator_says();
  gang_stays_silent();
  hear(attempt_over{.attempt = attempt, .outcome = attempt_outcome::refused});
  store_says(verdict::aborted, attempt);
  EXPECT_TRUE(answer().is_done);
  EXPECT_TRUE(sent<attempt_over>().empty()) << "its end was told already";
  EXPECT_EQ(is_tried().ordinal, attempt.ordinal + 1) << "the slot is taken all the same";
}

TEST_F(override_of, a_late_answer_of_the_gang_does_not_bring_the_slot_back) {
  begins();
  const auto attempt = is_tried();
  operator_says();
  gang_stays_silent();
  hear(gang_cancelled{7, {"g"}, true, "the undecided attempt is given up"});
  EXPECT_TRUE(answer().is_done);
  hear(attempt_over{.attempt = attempt, .outcome = attempt_outcome::stopped});
  const auto next = is_tried();
  EXPECT_EQ(next.ordinal, attempt.ordinal);
  store_says(verdict::aborted, attempt);
  EXPECT_TRUE(sent<gang_cancelled>().empty());
  ASSERT_EQ(sent<attempt_over>().size(), 1u) << "it could never decide";
  EXPECT_EQ(sent<attempt_over>().front().second.attempt, next);
  EXPECT_EQ(is_tried().ordinal, attempt.ordinal + 1);
}

TEST_F(override_of, what_a_quarantined_decision_holds_is_given_up_and_it_is_hosted_again) {
  begins({unfinished()}, {{"g"}});
  EXPECT_TRUE(sent<resume_decision>().empty());
  operator_says();
  EXPECT_EQ(take<host>().size(), 1u);
  EXPECT_EQ(sent<resume_decision>().size(), 1u);
  EXPECT_EQ(sent<cancel_gang>().size(), 1u);
  hear(gang_cancelled{7, {"g"}, true, "2 of 2 members are given up"});
  EXPECT_TRUE(answer().is_done);
}

TEST_F(override_of, a_quarantined_gang_that_decided_nothing_is_tried_again) {
  begins({}, {{"g"}});
  operator_says();
  EXPECT_TRUE(answer().is_done);
  is_tried();
}

// ---------------------------------------------------------------- degraded gangs

TEST_F(override_of, members_of_a_degraded_gang_are_evicted_under_one_name) {
  begins();
  const auto attempt = is_tried();
  evict_degraded asked{{"g"}, {"ns", "g"}, {{.pod = {"p0"}}, {.pod = {"p1"}}}, "below"};
  hear(asked);
  EXPECT_TRUE(sent<evict>().empty()) << "an attempt counts on them";
  hear(attempt_over{.attempt = attempt, .outcome = attempt_outcome::refused});
  hear(asked);
  const auto first = sent<evict>();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].first, to(role_kind::evictor));
  EXPECT_EQ(first[0].second.fence, base::epoch_no{5});
  EXPECT_EQ(first[0].second.why, "below");
  hear(asked);
  ASSERT_EQ(sent<evict>().size(), 2u);
  EXPECT_EQ(sent<evict>()[1].second.attempt, first[1].second.attempt)
      << "the evictor knows it again";
}

TEST_F(override_of, nobody_is_evicted_beside_an_unfinished_decision) {
  begins({unfinished()}, {{"g"}});
  hear(evict_degraded{{"g"}, {"ns", "g"}, {{.pod = {"p0"}}}, "below"});
  EXPECT_TRUE(sent<evict>().empty());
}

} // namespace
} // namespace tutti::protocol
