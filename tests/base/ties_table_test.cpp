// Equal ties are one object, and one that nobody has any more is not kept.
#include "base/ties_table.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(TiesTable, equal_ones_are_one_object) {
  const auto a = shared({{1}, "blob", true});
  EXPECT_EQ(shared({{1}, "blob", true}), a);
  EXPECT_NE(shared({{2}, "blob", true}), a);
}

TEST(TiesTable, unequal_ones_of_one_id_are_both_right) {
  const auto a = shared({{3}, "one", false});
  const auto b = shared({{3}, "other", false});
  EXPECT_EQ(a->blob, "one");
  EXPECT_EQ(b->blob, "other");
}

TEST(TiesTable, forgets_what_nobody_has) {
  const std::weak_ptr<const ties> gone = shared({{4}, "blob", false});
  EXPECT_TRUE(gone.expired());
  EXPECT_NE(shared({{4}, "another", false}), nullptr);
  for (std::uint64_t i = 0; i < 10'000; ++i)
    EXPECT_EQ(shared({{100 + i}, std::to_string(i), false})->id.value, 100 + i);
}

} // namespace
} // namespace tutti::base
