// Which answers of the decision log belong to which questions.
#include "actors/log_words.hpp"

#include <gtest/gtest.h>

namespace tutti::actors {
namespace {

using namespace std::chrono_literals;
using protocol::amendment;
using protocol::slot_amended;
using protocol::slot_decided;

const base::attempt_id attempt{{"g"}, 2, {3}, 7};

protocol::decision_ptr stands(amendment change = {}) {
  auto x = std::make_shared<protocol::decision>();
  x->by = attempt;
  x->what = protocol::verdict::committed;
  x->cancelled = std::move(change.cancel);
  x->is_done = change.finish;
  x->adopted_by = change.adopt ? change.by : base::epoch_no{};
  return x;
}

struct LogWords : testing::Test {
  log_words words;
  void decide() {
    auto what = *stands();
    words.ask(protocol::decide{base::slot_of(attempt), std::move(what), {}}, base::time_point{1s});
  }
  void amend(amendment what) {
    words.ask(protocol::amend{base::slot_of(attempt), std::move(what)});
  }
  std::optional<protocol::event> hear(protocol::decision_ptr winner, std::string refusal = {}) {
    return words.take(slot_decided{{"g"}, 2, std::move(winner), std::move(refusal)});
  }
  std::optional<protocol::event> hear_amended(bool is_refused, protocol::decision_ptr now) {
    return words.take(slot_amended{{"g"}, 2, is_refused, std::move(now)});
  }
};

TEST_F(LogWords, a_winner_is_decided_whoever_it_is) {
  decide();
  const auto meant = hear(stands());
  ASSERT_TRUE(meant);
  EXPECT_EQ(std::get<protocol::decided>(*meant).winner->by, attempt);
  EXPECT_EQ(words.took(base::time_point{3s}), 2s);
  EXPECT_TRUE(words.empty());
}

TEST_F(LogWords, a_refusal_says_why_and_silence_that_nobody_knows) {
  decide();
  const auto refused = hear(nullptr, "not its turn");
  ASSERT_TRUE(refused);
  EXPECT_EQ(std::get<protocol::decide_refused>(*refused).why.message(), "not its turn");
  decide();
  const auto unknown = hear(nullptr);
  ASSERT_TRUE(unknown);
  EXPECT_TRUE(std::holds_alternative<protocol::decide_unknown>(*unknown));
}

TEST_F(LogWords, what_was_not_asked_is_not_heard) {
  EXPECT_FALSE(hear(stands()));
  EXPECT_FALSE(hear_amended(false, stands()));
  decide();
  EXPECT_TRUE(hear(stands()));
  EXPECT_FALSE(hear(stands())) << "a second copy";
}

TEST_F(LogWords, an_answer_to_a_former_lifes_cancel_is_none_to_a_finish) {
  amend({.by = {3}, .cancel = {}, .finish = true});
  EXPECT_FALSE(hear_amended(false, stands({.by = {3}, .cancel = {{"p"}}})));
  const auto meant = hear_amended(false, stands({.by = {3}, .cancel = {{"p"}}, .finish = true}));
  ASSERT_TRUE(meant);
  EXPECT_TRUE(std::holds_alternative<protocol::amended>(*meant));
}

TEST_F(LogWords, a_refusal_of_a_former_lifes_older_epoch_is_none_of_ours) {
  amend({.by = {5}, .cancel = {{"p"}}});
  EXPECT_FALSE(hear_amended(true, stands({.by = {4}, .cancel = {}, .adopt = true})));
  const auto meant = hear_amended(true, stands({.by = {6}, .cancel = {}, .adopt = true}));
  ASSERT_TRUE(meant);
  EXPECT_TRUE(std::holds_alternative<protocol::amend_refused>(*meant));
}

TEST_F(LogWords, an_empty_slot_refuses_every_amendment) {
  amend({.by = {3}, .cancel = {{"p"}}});
  const auto meant = hear_amended(true, nullptr);
  ASSERT_TRUE(meant);
  EXPECT_EQ(std::get<protocol::amend_refused>(*meant).now, nullptr);
}

TEST_F(LogWords, open_questions_are_asked_again_word_by_word) {
  decide();
  amend({.by = {3}, .cancel = {}, .finish = true});
  const auto again = words.open();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(*std::get<protocol::slot_decide>(again[0]).what, *stands());
  EXPECT_TRUE(std::get<protocol::slot_amend>(again[1]).what.finish);
}

} // namespace
} // namespace tutti::actors
