// What is read of a PodDisruptionBudget.
#include "api/disruption_budget.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace tutti::api {
namespace {

base::result<disruption_budget> decode(std::string_view text) {
  return decode_disruption_budget(boost::json::parse(text).as_object());
}

TEST(DisruptionBudget, says_whom_it_means_and_how_many_may_be_disturbed) {
  const auto x = decode(R"({"metadata":{"namespace":"ns","name":"b"},
    "spec":{"selector":{"matchLabels":{"app":"x"}},"minAvailable":2},
    "status":{"disruptionsAllowed":3,"disruptedPods":{"p":"2026-01-01T00:00:00Z"}}})");
  ASSERT_TRUE(x) << x.error().message();
  EXPECT_EQ(x->meta.space, "ns");
  EXPECT_EQ(x->meta.name, "b");
  EXPECT_EQ(x->allowed, 3);
  EXPECT_EQ(x->disrupted, (std::set<std::string>{"p"}));
  EXPECT_TRUE(matches(x->pods, {{"app", "x"}, {"more", "y"}}));
  EXPECT_FALSE(matches(x->pods, {{"app", "y"}}));
}

TEST(DisruptionBudget, an_empty_selector_means_everybody_and_none_means_nobody) {
  EXPECT_TRUE(matches(decode(R"({"spec":{"selector":{}}})")->pods, {}));
  EXPECT_FALSE(matches(decode(R"({"spec":{}})")->pods, {{"app", "x"}}));
  EXPECT_FALSE(matches(decode(R"({})")->pods, {}));
}

TEST(DisruptionBudget, that_cannot_be_read_is_named_with_its_place) {
  const auto x = decode(R"({"status":{"disruptionsAllowed":"many"}})");
  ASSERT_FALSE(x);
  EXPECT_NE(x.error().message().find("status.disruptionsAllowed"), std::string::npos);
  EXPECT_FALSE(
      decode(R"({"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}}})"));
}

} // namespace
} // namespace tutti::api
