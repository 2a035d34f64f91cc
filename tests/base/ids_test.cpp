// Ids and hashes: what must never change between versions, because stores and replicas agree by it.
#include "base/ids.hpp"

#include <array>
#include <concepts>
#include <unordered_set>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

static_assert(!std::equality_comparable_with<pod_uid, node_uid>, "ids of two kinds never meet");
static_assert(!std::convertible_to<pod_uid, node_uid>);
static_assert(!std::convertible_to<epoch_no, incarnation_no>);

// They decide which shard has a node and which partition has a gang: a store written by an earlier
// version, and a replica of one, must come to the same answer.
TEST(Hash, gives_today_what_it_gave_when_it_was_written) {
  EXPECT_EQ(hash_of(""), mix(0xcbf29ce484222325ULL)) << "FNV-1a's offset basis";
  EXPECT_EQ(hash_of("a"), mix(0xaf63dc4c8601ec8cULL)) << "published: FNV-1a 64 of \"a\"";
  EXPECT_EQ(hash_of("foobar"), mix(0x85944171f73967e8ULL)) << "published: FNV-1a 64 of \"foobar\"";
  EXPECT_EQ(mix(0), 0u);
  EXPECT_EQ(mix(1), 0xb456bcfc34c2cb2cULL) << "MurmurHash3's final mixer";
}

TEST(Hash, spreads_names_that_differ_in_a_digit) {
  std::array<int, 8> met{};
  constexpr int names = 8000;
  for (int n = 0; n < names; ++n)
    ++met.at(hash_of("rack-" + std::to_string(n)) % met.size());
  for (const auto count : met)
    EXPECT_NEAR(count, names / 8, 150); // five standard deviations
}

TEST(Hash, depends_on_the_order_of_what_is_combined) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(hash_combine(0, 0), hash_combine(0, 1));
}

TEST(Ids, attempts_are_ordered_by_age_within_a_gang) {
  const attempt_id first{{"g"}, 1, {1}, 5};
  EXPECT_LT(first, (attempt_id{{"g"}, 1, {1}, 6}));
  EXPECT_LT(first, (attempt_id{{"g"}, 1, {2}, 1})) << "a later owner's tries are younger";
  EXPECT_LT(first, (attempt_id{{"g"}, 2, {1}, 1}));
  EXPECT_EQ(slot_of(first), (slot_id{{"g"}, 1}));
}

TEST(Ids, attempts_that_differ_anywhere_have_different_hashes) {
  std::unordered_set<std::size_t> hashes;
  const std::hash<attempt_id> of;
  for (const auto* gang : {"g", "h"})
    for (std::uint64_t n = 1; n < 5; ++n)
      for (std::uint64_t epoch = 1; epoch < 5; ++epoch)
        for (std::uint64_t t = 1; t < 5; ++t)
          EXPECT_TRUE(hashes.insert(of({{gang}, n, {epoch}, t})).second);
}

} // namespace
} // namespace tutti::base
