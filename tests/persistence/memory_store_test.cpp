// How the memory twin dies: what a power cut keeps, and that nobody hears of what was lost.
#include "persistence/memory_store.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {
namespace {

struct MemoryStore : ::testing::Test {
  std::unique_ptr<memory_store> it = memory_store::open({}).value();
  std::vector<std::string> heard; ///< answers in order: "ok" or the code

  void queue(request what) {
    it->submit(std::move(what), [this](base::result<outcome> x) {
      heard.push_back(x ? "ok" : std::string{name_of(x.error().what())});
    });
  }
  static remains left_on(disk image) {
    return memory_store::open(std::move(image)).value()->take_remains();
  }
  std::size_t records_after_crash(std::size_t kept) {
    return left_on(it->crash(kept)).roles[shard(1)].records.size();
  }
};

TEST_F(MemoryStore, does_nothing_until_it_is_told_to) {
  queue(append(shard(1), prepared(attempt("a", 1)), true));
  EXPECT_TRUE(heard.empty());
  EXPECT_EQ(it->queued(), 1u);
  EXPECT_TRUE(it->run_one());
  EXPECT_EQ(heard.size(), 1u);
  EXPECT_FALSE(it->run_one());
}

TEST_F(MemoryStore, answers_in_the_order_of_submission) {
  queue(append(shard(1), prepared(attempt("a", 1))));
  queue(retire_request{shard(1), {2}});
  queue(append(shard(1), prepared(attempt("a", 1))));
  queue(decide(committed(attempt("g", 1))));
  it->run_all();
  EXPECT_EQ(heard, (std::vector<std::string>{"ok", "ok", "conflict", "ok"}));
}

TEST_F(MemoryStore, forgets_what_was_not_synced) {
  queue(append(shard(1), prepared(attempt("a", 1)), true));
  queue(append(shard(1), prepared(attempt("b", 1))));
  while (it->run_one()) {
  }
  EXPECT_EQ(it->at_risk(), 1u);
  EXPECT_EQ(records_after_crash(0), 1u);
}

TEST_F(MemoryStore, may_keep_a_prefix_of_what_was_not_synced) {
  for (int i = 0; i < 4; ++i)
    queue(append(shard(1), prepared(attempt("a", 1))));
  while (it->run_one()) {
  }
  EXPECT_EQ(records_after_crash(3), 3u);
}

TEST_F(MemoryStore, a_sync_makes_everything_before_it_durable) {
  queue(append(shard(1), prepared(attempt("a", 1))));
  queue(append(shard(1), prepared(attempt("b", 1)), true));
  while (it->run_one()) {
  }
  EXPECT_EQ(records_after_crash(0), 2u);
}

TEST_F(MemoryStore, a_write_that_nobody_was_told_of_may_have_happened) {
  queue(append(shard(1), prepared(attempt("a", 1))));
  it->run_one();
  queue(decide(committed(attempt("g", 1))));
  EXPECT_EQ(it->at_risk(), 2u);
  const auto image = it->crash(2);
  EXPECT_EQ(left_on(image).decisions.size(), 1u) << "C3, present";
  EXPECT_EQ(heard.size(), 1u);
}

TEST_F(MemoryStore, a_write_that_nobody_was_told_of_may_be_absent) {
  queue(decide(committed(attempt("g", 1))));
  const auto image = it->crash(0);
  EXPECT_TRUE(left_on(image).decisions.empty()) << "C3, absent";
  EXPECT_TRUE(heard.empty());
}

TEST_F(MemoryStore, calls_nobody_after_a_crash) {
  queue(decide(committed(attempt("g", 1))));
  it->crash();
  it.reset();
  EXPECT_TRUE(heard.empty());
}

TEST_F(MemoryStore, that_is_full_takes_no_write_any_more) {
  it->fail(memory_store::failure::disk_full);
  queue(decide(committed(attempt("g", 1))));
  it->run_all();
  queue(append(shard(1), prepared(attempt("a", 1))));
  it->run_all();
  EXPECT_EQ(heard, (std::vector<std::string>{"io", "io"})) << "F9";
  EXPECT_TRUE(left_on(it->crash(9)).decisions.empty()) << "never half-written";
}

TEST_F(MemoryStore, whose_sync_fails_may_or_may_not_have_written) {
  it->fail(memory_store::failure::sync_fails);
  queue(decide(committed(attempt("g", 1))));
  it->run_all();
  EXPECT_EQ(heard, (std::vector<std::string>{"io"})) << "F10";
  EXPECT_TRUE(left_on(it->crash(0)).decisions.empty());
  EXPECT_EQ(left_on(it->crash(1)).decisions.size(), 1u);
}

TEST_F(MemoryStore, completions_may_submit) {
  it->submit(append(shard(1), prepared(attempt("a", 1))),
             [this](auto) { queue(append(shard(1), prepared(attempt("b", 1)))); });
  it->run_all();
  EXPECT_EQ(heard, (std::vector<std::string>{"ok"}));
}

// ---------------------------------------------------------------- random scripts

request random_append() {
  const auto writer = *rc::gen::inRange(0, 3);
  const auto incarnation = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
  const auto a = attempt(*rc::gen::element<std::string>("a", "b"), 1);
  switch (*rc::gen::inRange(0, 4)) {
  case 0:
    return append(partition(1), protocol::life_record{{incarnation}, {incarnation}}, true);
  case 1:
    return retire_request{shard(static_cast<unsigned>(writer)), {incarnation}};
  default:
    return append(shard(static_cast<unsigned>(writer)), prepared(a), *rc::gen::arbitrary<bool>(),
                  incarnation);
  }
}

request random_decide() {
  const auto n = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
  const auto epoch = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
  const auto a = attempt(*rc::gen::element<std::string>("a", "b"), n, epoch);
  if (*rc::gen::inRange(0, 3) == 0)
    return decide(aborted(a));
  if (*rc::gen::inRange(0, 2) == 0)
    return decide(committed(a));
  return decide(committed(a), {rider(a, 0, static_cast<std::uint64_t>(*rc::gen::inRange(1, 4)))});
}

request random_amend() {
  const auto gang = *rc::gen::element<std::string>("a", "b");
  const auto n = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
  const auto epoch = static_cast<std::uint64_t>(*rc::gen::inRange(1, 4));
  switch (*rc::gen::inRange(0, 4)) {
  case 0:
    return amend(gang, n, adopt(epoch));
  case 1:
    return amend(gang, n, cancel(epoch, *rc::gen::element<std::string>("p", "q")));
  case 2:
    return forget_request{{gang}};
  default:
    return amend(gang, n, finish(epoch));
  }
}

request random_request(journal_index last) {
  switch (*rc::gen::inRange(0, 4)) {
  case 0:
    return random_append();
  case 1:
    return random_decide();
  case 2:
    return random_amend();
  default:
    return snapshot(shard(static_cast<unsigned>(*rc::gen::inRange(0, 3))),
                    *rc::gen::inRange<journal_index>(0, last + 1), "snapshot");
  }
}

std::string text_of(const base::result<outcome>& x) {
  if (!x)
    return fmt::format("{} {}", name_of(x.error().what()), x.error().message());
  if (const auto* a = std::get_if<appended>(&*x))
    return fmt::format("appended {}", a->index);
  if (const auto* d = std::get_if<decide_outcome>(&*x))
    return fmt::format("decided {} {}", base::hash_of(protocol::encode(*d->winner)),
                       d->rider_indices.size());
  if (const auto* a = std::get_if<amend_outcome>(&*x))
    return fmt::format("amended {} {}", a->refused,
                       a->now ? base::hash_of(protocol::encode(*a->now)) : 0);
  return fmt::format("kind {}", x->index());
}

/// Journal indices handed out so far, so that checkpoints name records that are there.
journal_index last_of(const std::vector<base::result<outcome>>& answers, journal_index before) {
  for (const auto& x : answers) {
    if (!x)
      continue;
    if (const auto* a = std::get_if<appended>(&*x))
      before = a->index;
    if (const auto* d = std::get_if<decide_outcome>(&*x); d && !d->rider_indices.empty())
      before = d->rider_indices.back();
  }
  return before;
}

void run_both(int groups) {
  memory_bench memory_kind;
  rocks_bench rocks_kind;
  bench& memory = memory_kind;
  bench& rocks = rocks_kind;
  RC_ASSERT(memory.open().has_value());
  RC_ASSERT(rocks.open().has_value());
  journal_index last = 0;
  for (int group = 0; group < groups; ++group) {
    std::vector<request> script;
    for (int i = *rc::gen::inRange(1, 10); i > 0; --i)
      script.push_back(random_request(last));
    const auto one = memory.ask_all(script);
    const auto other = rocks.ask_all(script);
    for (std::size_t i = 0; i < one.size(); ++i)
      RC_ASSERT(text_of(one[i]) == text_of(other[i]));
    last = last_of(one, last);
    if (group % 10 == 9)
      RC_ASSERT(story_of(memory.reopen()) == story_of(rocks.reopen()));
  }
}

// One run opens four real stores: few runs, long scripts.
TEST(Twins, give_the_same_answers_and_leave_the_same_behind) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = 12;
  const auto result =
      rc::detail::checkTestable([] { run_both(20); }, rc::detail::TestMetadata{}, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
}

} // namespace
} // namespace tutti::persistence::testing
