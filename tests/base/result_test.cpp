// Failures as values: context is added on the way up, and nobody reads past one.
#include "base/result.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Result, an_error_keeps_code_and_hint_when_context_is_put_in_front) {
  const error inner{code::bad_input, "field spec.minCount: 0", "allowed: 1 or more"};
  const auto outer = inner.in("document 3").in("file a.yaml");
  EXPECT_EQ(outer.what(), code::bad_input);
  EXPECT_EQ(outer.message(), "file a.yaml: document 3: field spec.minCount: 0");
  EXPECT_EQ(outer.hint(), "allowed: 1 or more");
  EXPECT_EQ(inner.message(), "field spec.minCount: 0") << "the inner one is as it was";
}

TEST(Result, errors_are_equal_in_all_parts_or_not) {
  const error one{code::io, "disk full", "make room"};
  EXPECT_EQ(one, (error{code::io, "disk full", "make room"}));
  EXPECT_NE(one, (error{code::locked, "disk full", "make room"}));
  EXPECT_NE(one, (error{code::io, "fsync failed", "make room"}));
  EXPECT_NE(one, (error{code::io, "disk full"}));
  EXPECT_EQ(error{}.what(), code::ok);
}

TEST(Result, every_code_has_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (int n = 0; n <= static_cast<int>(code::internal); ++n) {
    const auto name = name_of(static_cast<code>(n));
    EXPECT_NE(name, "?") << n;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(name_of(static_cast<code>(names.size())), "?") << "the last code is not `internal`";
}

TEST(Result, holds_a_value_or_why_there_is_none) {
  const result<int> good = 7;
  ASSERT_TRUE(good.has_value());
  EXPECT_EQ(*good, 7);
  const result<int> bad = error{code::not_found, "no such gang"};
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message(), "no such gang");
}

TEST(ResultDeathTest, whoever_asks_a_failure_for_its_value_dies_with_the_reason) {
  const result<int> bad = error{code::locked, "the store is open elsewhere"};
  EXPECT_DEATH((void)bad.value(), "failed result \\[locked\\] \\[the store is open elsewhere\\]");
}

} // namespace
} // namespace tutti::base
