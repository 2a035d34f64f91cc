// One coordinator partition: numbering of attempts, inquiries, recovery of decisions.
#include <gtest/gtest.h>

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
  base::attempt_id tries(const char* uid) {
    hear(try_gang{gang_named(uid), 0});
    auto begun = sent<begin_attempt>();
    EXPECT_EQ(begun.size(), 1u);
    return begun.empty() ? base::attempt_id{} : begun.front().second.attempt;
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
  EXPECT_EQ(sent<new_epoch>().size(), 2u);
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

} // namespace
} // namespace tutti::protocol
