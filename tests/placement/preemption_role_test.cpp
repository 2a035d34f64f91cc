// Nobody is evicted yet, and everybody who asks hears so.
#include "placement/preemption_role.hpp"

#include <gtest/gtest.h>

namespace tutti::placement {
namespace {

TEST(Preemption, answers_that_it_is_not_allowed) {
  preemption_role role;
  const base::attempt_id attempt{{"g"}, 1, {1}, 1};
  const auto from = protocol::to_gang({"g"});
  const auto said =
      role.on(protocol::received{from, protocol::victims_wanted{attempt, {}, {}}}, {});
  ASSERT_EQ(said.list().size(), 1u);
  const auto& sent = std::get<protocol::send>(said.list()[0]);
  EXPECT_EQ(sent.to, from);
  const auto& answer = std::get<protocol::victims_answer>(sent.what);
  EXPECT_EQ(answer.attempt, attempt);
  EXPECT_EQ(answer.placement, nullptr);
  EXPECT_EQ(answer.refusal, base::reason_code::preemption_not_allowed);
}

} // namespace
} // namespace tutti::placement
