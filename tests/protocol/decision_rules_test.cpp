// What an amendment makes of a decision, whichever log keeps it.
#include "protocol/decision_rules.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"

namespace tutti::protocol {
namespace {

decision of_two() {
  decision x;
  x.by = {{"g"}, 1, {7}, 1};
  x.what = verdict::committed;
  x.chosen.slices.push_back({.shard = {0}, .seats = {{.pod = {"a"}}, {.pod = {"b"}}}});
  return x;
}

decision amend_with(const decision& was, const amendment& change) {
  auto became = amend_decision(was, change);
  EXPECT_FALSE(became.is_refused);
  return std::move(became.now);
}

TEST(DecisionRules, done_tells_of_members_given_up_whether_they_are_bound_all_the_same) {
  const auto cancelled = amend_with(of_two(), {.by = {7}, .cancel = {{"a"}, {"b"}}});
  const auto done = amend_with(cancelled, {.by = {7}, .finish = true, .bound = {{"b"}}});
  EXPECT_EQ(bound_by(done), std::vector{base::hash_of("b")});
  EXPECT_EQ(bound_by(tombstone_of(done)), bound_by(done));
}

TEST(DecisionRules, done_counts_nobody_twice_and_nobody_who_has_no_seat) {
  const auto done =
      amend_with(of_two(), {.by = {7}, .finish = true, .bound = {{"a"}, {"a"}, {"c"}}});
  EXPECT_EQ(bound_by(done).size(), 2u) << "none was given up: the plan says it already";
}

TEST(DecisionRules, done_again_changes_nothing) {
  const amendment change{.by = {7}, .finish = true, .bound = {{"b"}}};
  const auto done = amend_with(amend_with(of_two(), {.by = {7}, .cancel = {{"b"}}}), change);
  EXPECT_FALSE(amend_decision(done, change).is_changed);
  EXPECT_FALSE(amend_decision(tombstone_of(done), change).is_changed);
  EXPECT_FALSE(amend_decision(tombstone_of(done), {.by = {7}, .finish = true}).is_changed);
}

TEST(DecisionRules, members_of_one_that_is_done_cannot_be_given_up) {
  const auto done = amend_with(of_two(), {.by = {7}, .finish = true});
  EXPECT_TRUE(amend_decision(done, {.by = {7}, .cancel = {{"a"}}}).is_refused);
}

TEST(DecisionRules, an_epoch_below_its_owner_is_refused) {
  const auto adopted = amend_with(of_two(), {.by = {9}, .adopt = true});
  EXPECT_TRUE(amend_decision(adopted, {.by = {8}, .finish = true}).is_refused);
}

TEST(DecisionRules, Q3_an_older_owner_changes_nothing_once_a_later_one_has_adopted_the_record) {
  const auto adopted = amend_with(of_two(), {.by = {9}, .adopt = true});
  ASSERT_EQ(owner_of(adopted), base::epoch_no{9});
  for (const amendment& late :
       {amendment{.by = {7}, .cancel = {{"a"}}}, amendment{.by = {7}, .finish = true},
        amendment{.by = {8}, .adopt = true}}) {
    const auto r = amend_decision(adopted, late);
    EXPECT_TRUE(r.is_refused);
    EXPECT_FALSE(r.is_changed);
    EXPECT_EQ(r.now, adopted);
  }
}

TEST(DecisionRules, S2_cancels_add_up_and_a_second_copy_changes_nothing) {
  const auto first = amend_with(of_two(), {.by = {7}, .cancel = {{"a"}}});
  const auto both = amend_with(first, {.by = {7}, .cancel = {{"b"}}});
  EXPECT_EQ(both.cancelled, (std::vector<base::pod_uid>{{"a"}, {"b"}}));
  EXPECT_FALSE(amend_decision(both, {.by = {7}, .cancel = {{"a"}}}).is_changed);
}

} // namespace
} // namespace tutti::protocol
