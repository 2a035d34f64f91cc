// One coordinator partition: numbering of attempts, inquiries, recovery of decisions.
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/partition_role.hpp"

namespace tutti::protocol {
namespace {

struct partition : testing::Test {
  partition_role role{{.partition = {3}, .shards = 2}};
  effects out;

  void starts(std::vector<decision_ptr> open = {}, std::uint64_t epoch = 5) {
    out = role.on(started{.epoch = {epoch}, .incarnation = {2}, .open = std::move(open)}, {});
  }
  void hear(message m) { out = role.on(received{{}, std::move(m)}, {}); }
  template <class M>
  std::vector<std::pair<address, M>> sent() const {
    std::vector<std::pair<address, M>> found;
    for (const auto& e : out.list())
      if (const auto* s = std::get_if<send>(&e))
        if (const auto* m = std::get_if<M>(&s->what))
          found.emplace_back(s->to, *m);
    return found;
  }
  static gang_ptr gang_named(const char* uid) {
    auto g = std::make_shared<gang>();
    g->uid = {uid};
    return g;
  }
  struct shown {
    const char* pod;
    const char* node; ///< "" = pending
  };
  /// The gang "g" as the queue shows it.
  static gang_ptr gang_of(std::initializer_list<shown> members) {
    auto g = std::make_shared<gang>();
    g->uid = {"g"};
    for (const auto& m : members)
      g->members.push_back({.uid = {m.pod}, .name = m.pod, .node = {m.node}});
    return g;
  }
  const arm* armed() const {
    for (const auto& e : out.list())
      if (const auto* a = std::get_if<arm>(&e))
        return a;
    return nullptr;
  }
  base::attempt_id tries(const char* uid) { return begins(gang_named(uid)); }
  base::attempt_id begins(gang_ptr who) {
    hear(try_gang{std::move(who), 0});
    auto begun = sent<begin_attempt>();
    EXPECT_EQ(begun.size(), 1u);
    return begun.empty() ? base::attempt_id{} : begun.front().second.attempt;
  }
  using names = std::vector<std::string>;
  names forgotten() const {
    names found;
    for (const auto& e : out.list())
      if (const auto* f = std::get_if<forget>(&e))
        found.push_back(f->gang.value);
    return found;
  }
  void ends(const base::attempt_id& attempt, attempt_outcome how) {
    hear(attempt_over{.attempt = attempt, .outcome = how});
  }
  static decision_ptr record(const char* uid, std::uint64_t ordinal, bool done,
                             verdict what = verdict::committed) {
    auto d = std::make_shared<decision>();
    d->by = {{uid}, ordinal, {4}, 11};
    d->what = what;
    d->is_done = done;
    return d;
  }
};

TEST_F(partition, makes_its_epoch_durable_before_it_says_a_word) {
  starts();
  ASSERT_FALSE(out.empty());
  const auto* first = std::get_if<append>(&out.list().front());
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->how, append::durability::synced);
  EXPECT_EQ(std::get<life_record>(first->what).epoch, base::epoch_no{5});
  EXPECT_EQ(sent<new_epoch>().size(), 3u) << "both shards, and the queue: it asks again";
  EXPECT_EQ(sent<new_epoch>().back().first, to(role_kind::queue));
}

TEST_F(partition, F6_a_gang_actor_that_dies_with_an_attempt_takes_its_partition_with_it) {
  starts();
  auto a = tries("a");
  out = role.on(child_died{to_gang({"b"})}, {});
  EXPECT_TRUE(out.empty()) << "nothing of it is under way";
  out = role.on(child_died{to_gang({"a"})}, {});
  ASSERT_EQ(out.list().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<rebuild>(out.list().front()));
  ends(a, attempt_outcome::refused);
  out = role.on(child_died{to_gang({"a"})}, {});
  EXPECT_TRUE(out.empty()) << "it had said its last word";
}

TEST_F(partition, F6_a_gang_actor_that_dies_while_it_resumes_takes_its_partition_with_it) {
  starts({record("g", 4, false)});
  out = role.on(child_died{to_gang({"g"})}, {});
  ASSERT_EQ(out.list().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<rebuild>(out.list().front()));
}

TEST_F(partition, F6_a_quarantined_gang_is_refused_in_words_and_others_are_tried) {
  out = role.on(started{.epoch = {5}, .incarnation = {2}, .quarantined = {{"bad"}}}, {});
  hear(try_gang{gang_named("bad"), 0});
  EXPECT_TRUE(sent<begin_attempt>().empty());
  ASSERT_EQ(sent<attempt_over>().size(), 1u);
  const auto [to_whom, over] = sent<attempt_over>().front();
  EXPECT_EQ(to_whom, to(role_kind::queue));
  EXPECT_EQ(over.outcome, attempt_outcome::refused);
  EXPECT_EQ(over.why.primary, base::reason_code::scheduler_error);
  const auto first = over.attempt;
  hear(try_gang{gang_named("bad"), 1});
  EXPECT_NE(sent<attempt_over>().front().second.attempt, first) << "an attempt is over once";
  tries("good");
}

TEST_F(partition, F6_a_quarantined_decision_is_neither_resumed_nor_called_over) {
  out = role.on(started{.epoch = {5},
                        .incarnation = {2},
                        .open = {record("bad", 4, false)},
                        .quarantined = {{"bad"}}},
                {});
  EXPECT_TRUE(sent<resume_decision>().empty());
  hear(inquiry{record("bad", 4, false)->by, {1}});
  EXPECT_TRUE(out.empty()) << "its shards go on holding";
  hear(gang_deleted{{"bad"}});
  EXPECT_TRUE(forgotten().empty());
}

TEST_F(partition, F6_a_quarantined_gang_is_tried_and_its_decision_resumed_after_a_rest) {
  out = role.on(started{.epoch = {5},
                        .incarnation = {2},
                        .open = {record("decided", 4, false)},
                        .quarantined = {{"bad"}, {"decided"}}},
                {});
  const auto* rest = armed();
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->after, base::limits::quarantine_rest);
  out = role.on(timer_fired{rest->timer}, {});
  ASSERT_EQ(sent<resume_decision>().size(), 1u);
  EXPECT_EQ(sent<resume_decision>().front().second.what->by.gang.value, "decided");
  tries("bad");
  out = role.on(child_died{to_gang({"decided"})}, {});
  EXPECT_TRUE(std::holds_alternative<rebuild>(out.list().front()))
      << "and its next life is told that it is quarantined";
}

TEST_F(partition, nobody_rests_where_nobody_is_quarantined) {
  starts({record("g", 4, false)});
  EXPECT_EQ(armed(), nullptr);
}

// ---------------------------------------------------------------- facts that are late

TEST_F(partition, P2_a_gang_is_not_tried_by_facts_that_show_a_bound_member_pending) {
  starts();
  const auto first = begins(gang_of({{"a", ""}, {"b", ""}, {"c", ""}}));
  hear(attempt_over{
      .attempt = first, .outcome = attempt_outcome::bound, .members_bound = {{"a"}, {"b"}}});
  hear(try_gang{gang_of({{"a", "n1"}, {"b", ""}, {"c", ""}}), 0});
  EXPECT_TRUE(sent<begin_attempt>().empty()) << "c might be planned far from b";
  ASSERT_EQ(sent<attempt_over>().size(), 1u);
  const auto [whom, over] = sent<attempt_over>().front();
  EXPECT_EQ(whom, to(role_kind::queue));
  EXPECT_EQ(over.outcome, attempt_outcome::conflict);
  EXPECT_EQ(over.why.primary, base::reason_code::view_stale);
  EXPECT_EQ(over.members_bound, std::vector<base::pod_uid>{{"b"}});
  EXPECT_EQ(over.bound, 2u);
  begins(gang_of({{"a", "n1"}, {"b", "n1"}, {"c", ""}}));
}

TEST_F(partition, P2_members_that_are_gone_do_not_make_facts_late) {
  starts();
  const auto first = begins(gang_of({{"a", ""}, {"b", ""}}));
  hear(attempt_over{
      .attempt = first, .outcome = attempt_outcome::bound, .members_bound = {{"a"}, {"b"}}});
  begins(gang_of({{"a", "n1"}, {"b-made-anew", ""}}));
}

TEST_F(partition, P2_a_new_owner_knows_from_the_log_who_is_bound) {
  auto done = *record("g", 4, true);
  done.chosen.slices.push_back({.shard = {0}, .seats = {{.pod = {"a"}}, {.pod = {"b"}}}});
  done.cancelled = {{"b"}};
  const auto kept = std::make_shared<const decision>(tombstone_of(done));
  starts({kept, record("g", 5, false, verdict::aborted)});
  hear(try_gang{gang_of({{"a", ""}, {"b", ""}}), 0});
  EXPECT_TRUE(sent<begin_attempt>().empty());
  EXPECT_EQ(sent<attempt_over>().front().second.members_bound, std::vector<base::pod_uid>{{"a"}});
  begins(gang_of({{"a", "n1"}, {"b", ""}}));
}

TEST_F(partition, asks_for_the_fence_that_a_former_life_may_have_been_told) {
  starts();
  ASSERT_EQ(sent<view_wanted>().size(), 1u);
  EXPECT_EQ(sent<view_wanted>().front().first, to(role_kind::mirror));
}

TEST_F(partition, begins_one_attempt_of_a_gang_at_a_time) {
  starts();
  tries("g");
  hear(try_gang{gang_named("g"), 0});
  EXPECT_TRUE(out.empty());
}

TEST_F(partition, keeps_the_ordinal_until_something_is_decided) {
  starts();
  auto first = tries("g");
  EXPECT_EQ(first.ordinal, 1u);
  ends(first, attempt_outcome::conflict);
  auto second = tries("g");
  EXPECT_EQ(second.ordinal, 1u);
  EXPECT_GT(second.try_no, first.try_no);
  ends(second, attempt_outcome::bound);
  EXPECT_EQ(tries("g").ordinal, 2u);
}

TEST_F(partition, low_water_is_the_oldest_live_try) {
  starts();
  auto a = tries("a");
  tries("b");
  hear(try_gang{gang_named("c"), 0});
  EXPECT_EQ(sent<begin_attempt>().front().second.low_water, a.try_no);
  ends(a, attempt_outcome::refused);
  hear(try_gang{gang_named("d"), 0});
  EXPECT_EQ(sent<begin_attempt>().front().second.low_water, a.try_no + 1);
}

TEST_F(partition, tells_the_queue_once_that_an_attempt_is_over) {
  starts();
  auto a = tries("a");
  ends(a, attempt_outcome::refused);
  EXPECT_EQ(sent<attempt_over>().size(), 1u);
  ends(a, attempt_outcome::refused);
  EXPECT_TRUE(out.empty());
}

TEST_F(partition, says_nothing_about_an_attempt_that_is_live) {
  starts();
  auto a = tries("a");
  hear(inquiry{a, {0}});
  EXPECT_TRUE(out.empty());
}

TEST_F(partition, presumes_an_attempt_aborted_that_is_neither_live_nor_decided) {
  starts();
  auto a = tries("a");
  ends(a, attempt_outcome::conflict);
  hear(inquiry{a, {1}});
  auto said = sent<inquiry_answer>();
  ASSERT_EQ(said.size(), 1u);
  EXPECT_FALSE(said.front().second.done);
  EXPECT_EQ(said.front().first, to_shard({1}));
}

TEST_F(partition, knows_what_was_decided_and_done) {
  starts({record("g", 4, true)});
  hear(inquiry{{{"g"}, 4, {4}, 11}, {1}});
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_TRUE(sent<inquiry_answer>().front().second.done);
  EXPECT_EQ(tries("g").ordinal, 5u);
}

TEST_F(partition, C4_a_decision_without_done_is_rolled_forward_by_a_new_actor) {
  starts({record("g", 4, false)});
  auto resumed = sent<resume_decision>();
  ASSERT_EQ(resumed.size(), 1u);
  EXPECT_EQ(resumed.front().first, to_gang({"g"}));
  EXPECT_EQ(resumed.front().second.owner, base::epoch_no{5});
  hear(inquiry{{{"g"}, 4, {4}, 11}, {1}});
  EXPECT_TRUE(out.empty()) << "COMMIT comes";
  hear(try_gang{gang_named("g"), 0});
  EXPECT_TRUE(out.empty()) << "S7: the next ordinal starts when this one is done";
  ends({{"g"}, 4, {4}, 11}, attempt_outcome::bound);
  EXPECT_EQ(tries("g").ordinal, 5u);
}

TEST_F(partition, C1_an_attempt_of_an_earlier_life_that_was_not_decided_is_aborted) {
  starts();
  hear(inquiry{{{"g"}, 1, {4}, 3}, {0}});
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_FALSE(sent<inquiry_answer>().front().second.done);
}

TEST_F(partition, a_closed_slot_is_not_rolled_forward) {
  starts({record("g", 2, false, verdict::aborted)});
  EXPECT_TRUE(sent<resume_decision>().empty());
  EXPECT_EQ(tries("g").ordinal, 3u);
}

// ---------------------------------------------------------------- gangs that are gone

TEST_F(partition, forgets_a_deleted_gang_that_was_decided) {
  starts();
  ends(tries("g"), attempt_outcome::bound);
  hear(gang_deleted{{"g"}});
  EXPECT_EQ(forgotten(), (names{"g"}));
  hear(gang_deleted{{"g"}});
  EXPECT_EQ(forgotten(), names{}) << "once is enough";
}

TEST_F(partition, has_nothing_in_the_store_of_a_gang_that_was_never_decided) {
  starts();
  ends(tries("g"), attempt_outcome::refused);
  hear(gang_deleted{{"g"}});
  EXPECT_EQ(forgotten(), names{});
  hear(gang_deleted{{"stranger"}});
  EXPECT_EQ(forgotten(), names{});
}

TEST_F(partition, never_forgets_while_an_attempt_is_under_way) {
  starts();
  ends(tries("g"), attempt_outcome::bound);
  const auto second = tries("g");
  hear(gang_deleted{{"g"}});
  EXPECT_EQ(forgotten(), names{});
  ends(second, attempt_outcome::stopped);
  EXPECT_EQ(forgotten(), (names{"g"}));
}

TEST_F(partition, never_forgets_a_decision_that_is_not_finished) {
  starts({record("g", 3, false)});
  hear(gang_deleted{{"g"}});
  EXPECT_EQ(forgotten(), names{});
  ends({{"g"}, 3, {4}, 11}, attempt_outcome::withdrawn);
  EXPECT_EQ(forgotten(), (names{"g"}));
}

TEST_F(partition, a_question_on_its_way_does_not_bring_a_deleted_gang_back) {
  starts();
  ends(tries("g"), attempt_outcome::bound);
  const auto second = tries("g");
  hear(gang_deleted{{"g"}});
  hear(try_gang{gang_named("g"), 0}); // asked again before it was deleted
  ends(second, attempt_outcome::bound);
  EXPECT_EQ(forgotten(), (names{"g"}));
}

TEST_F(partition, a_gang_of_which_a_new_attempt_is_made_is_there) {
  starts();
  hear(gang_deleted{{"g"}});
  const auto first = tries("g");
  ends(first, attempt_outcome::bound);
  EXPECT_EQ(forgotten(), names{});
  EXPECT_EQ(tries("g").ordinal, 2u);
}

TEST_F(partition, a_namesake_has_another_uid_and_an_ordinal_of_its_own) {
  starts();
  ends(tries("g-1"), attempt_outcome::bound);
  ends(tries("g-2"), attempt_outcome::bound);
  hear(gang_deleted{{"g-1"}});
  EXPECT_EQ(forgotten(), (names{"g-1"}));
  EXPECT_EQ(tries("g-2").ordinal, 2u);
}

TEST_F(partition, asks_at_its_start_which_of_the_kept_gangs_are_still_there) {
  starts({record("a", 1, true), record("b", 2, false)});
  const auto asked = sent<gangs_kept>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().first, to(role_kind::queue));
  EXPECT_EQ(asked.front().second.gangs, (std::vector<base::gang_uid>{{"a"}, {"b"}}));
}

TEST_F(partition, names_the_kept_gangs_to_a_queue_that_began_anew) {
  hear(view_wanted{});
  EXPECT_TRUE(out.empty()) << "not started: it is said at the start";
  starts({record("a", 1, true)});
  ends(tries("b"), attempt_outcome::bound);
  hear(view_wanted{});
  const auto asked = sent<gangs_kept>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked.front().first, to(role_kind::queue));
  EXPECT_EQ(asked.front().second.gangs, (std::vector<base::gang_uid>{{"a"}, {"b"}}));
}

TEST_F(partition, says_of_a_forgotten_attempt_that_it_is_not_live) {
  starts();
  const auto attempt = tries("g");
  ends(attempt, attempt_outcome::bound);
  hear(gang_deleted{{"g"}});
  hear(inquiry{attempt, {1}});
  ASSERT_EQ(sent<inquiry_answer>().size(), 1u);
  EXPECT_FALSE(sent<inquiry_answer>().front().second.done);
}

// ---------------------------------------------------------------- fences of earlier owners

TEST_F(partition, begins_above_every_fence_that_the_first_list_shows) {
  starts({}, 1); // the store was lost: epochs begin at 1 again
  hear(fence_found{{7}});
  const auto* first = std::get_if<append>(&out.list().at(1)); // behind a note
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->how, append::durability::synced) << "durable before it is told (S8)";
  EXPECT_EQ(std::get<life_record>(first->what), (life_record{{8}, {2}}));
  ASSERT_EQ(sent<new_epoch>().size(), 2u);
  EXPECT_EQ(sent<new_epoch>().front().second.epoch, base::epoch_no{8});
  EXPECT_EQ(tries("g").epoch, base::epoch_no{8});
}

TEST_F(partition, does_not_share_its_epoch_with_an_earlier_owner) {
  starts({}, 1);
  hear(fence_found{{1}});
  EXPECT_EQ(tries("g").epoch, base::epoch_no{2});
}

TEST_F(partition, keeps_its_epoch_where_all_fences_are_below_it) {
  starts();
  hear(fence_found{{4}});
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(tries("g").epoch, base::epoch_no{5});
}

TEST_F(partition, takes_a_fence_that_appears_later_for_a_later_owners) {
  starts();
  hear(fence_found{});
  hear(fence_found{{9}});
  EXPECT_TRUE(out.empty()) << "it is meant to stop us";
}

TEST_F(partition, raises_the_fence_of_what_is_under_way_and_still_takes_its_end) {
  starts({record("old", 3, false)}, 5);
  const auto attempt = tries("g");
  hear(fence_found{{20}});
  std::vector<std::string> told;
  for (const auto& [whom, m] : sent<new_epoch>())
    if (whom.kind == role_kind::gang)
      told.push_back(whom.key + " " + std::to_string(m.epoch.value));
  EXPECT_EQ(told, (names{"g 21", "old 21"}));
  hear(inquiry{attempt, {0}});
  EXPECT_TRUE(sent<inquiry_answer>().empty()) << "it is live under its own epoch";
  ends(attempt, attempt_outcome::conflict);
  EXPECT_EQ(sent<attempt_over>().size(), 1u);
  const auto next = tries("g");
  EXPECT_EQ(next.epoch, base::epoch_no{21});
  EXPECT_GT(next.try_no, attempt.try_no);
}

} // namespace
} // namespace tutti::protocol
