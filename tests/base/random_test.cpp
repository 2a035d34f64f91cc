// Dice against published vectors, and what streams promise each other.
#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

template <class Source>
std::vector<std::uint64_t> draws(Source from, std::size_t n) {
  std::vector<std::uint64_t> out;
  while (out.size() < n)
    out.push_back(from.next());
  return out;
}

// What the authors' splitmix64.c answers for seed 1234567.
TEST(Random, split_mix64_gives_the_published_words) {
  const std::vector<std::uint64_t> published{6457827717110365317ULL, 3203168211198807973ULL,
                                             9817491932198370423ULL, 4593380528125082431ULL,
                                             16408922859458223821ULL};
  EXPECT_EQ(draws(split_mix64{1234567}, 5), published);
}

// What the authors' xoshiro256starstar.c answers for the state 1, 2, 3, 4.
TEST(Random, xoshiro256_gives_the_published_words) {
  const std::vector<std::uint64_t> published{11520,
                                             0,
                                             1509978240,
                                             1215971899390074240ULL,
                                             1216172134540287360ULL,
                                             607988272756665600ULL,
                                             16172922978634559625ULL,
                                             8476171486693032832ULL,
                                             10595114339597558777ULL,
                                             2904607092377533576ULL};
  EXPECT_EQ(draws(xoshiro256{{1, 2, 3, 4}}, 10), published);
}

// A seed in a bug report plays the same run with every later version.
TEST(Random, a_stream_draws_today_what_it_drew_when_it_was_written) {
  const std::vector<std::uint64_t> named{13435053985991474311ULL, 2006106378647711313ULL,
                                         16875393327315414232ULL};
  EXPECT_EQ(draws(random_stream{1, "network"}, 3), named);
  const std::vector<std::uint64_t> nameless{18162404948869193731ULL, 14364473159575729322ULL,
                                            9185447656345620853ULL};
  EXPECT_EQ(draws(random_stream{0}, 3), nameless);
}

TEST(Random, streams_differ_by_seed_and_by_name) {
  const random_stream one{1, "network"};
  EXPECT_EQ(draws(one, 8), draws(random_stream{1, "network"}, 8));
  EXPECT_NE(draws(one, 8), draws(random_stream{2, "network"}, 8));
  EXPECT_NE(draws(one, 8), draws(random_stream{1, "disk"}, 8));
  EXPECT_NE(draws(one, 8), draws(random_stream{1}, 8));
}

TEST(Random, a_fork_does_not_depend_on_what_was_drawn) {
  random_stream one{7, "world"};
  const auto before = draws(one.fork("node 3"), 8);
  for (int i = 0; i < 100; ++i)
    one.next();
  EXPECT_EQ(draws(one.fork("node 3"), 8), before);
  EXPECT_NE(draws(one.fork("node 4"), 8), before);
  EXPECT_NE(draws(one.fork("node 3").fork("node 3"), 8), before);
}

TEST(Random, a_copy_goes_on_where_the_original_stood) {
  random_stream one{3};
  one.next();
  auto other = one;
  EXPECT_EQ(draws(one, 8), draws(other, 8));
}

TEST(Random, below_meets_every_value_equally_often) {
  for (const std::uint64_t n : {1, 2, 3, 7, 10}) {
    random_stream dice{n, "below"};
    std::vector<int> met(n, 0);
    constexpr int times = 10'000;
    for (std::uint64_t i = 0; i < n * times; ++i)
      ++met.at(dice.below(n));
    for (const int count : met)
      EXPECT_NEAR(count, times, 500) << n; // five standard deviations
  }
}

// Three quarters of all words: taken modulo n, the lowest third would come twice as often as the
// rest, and the lower half in 5 of 8 cases.
TEST(Random, below_is_not_uneven_where_the_range_does_not_divide) {
  random_stream dice{11, "uneven"};
  constexpr auto n = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int lower = 0;
  constexpr int times = 20'000;
  for (int i = 0; i < times; ++i)
    lower += dice.below(n) < n / 2;
  EXPECT_NEAR(lower, times / 2, 400);
}

TEST(Random, between_includes_both_ends) {
  random_stream dice{5};
  std::array<int, 3> met{};
  for (int i = 0; i < 300; ++i)
    ++met.at(dice.between(4, 6) - 4);
  EXPECT_EQ(std::ranges::count(met, 0), 0);
  EXPECT_EQ(dice.between(9, 9), 9u);
  EXPECT_EQ(random_stream{6}.between(0, ~std::uint64_t{0}), random_stream{6}.next());
}

TEST(Random, chance_is_as_often_as_it_says) {
  random_stream dice{5, "chance"};
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    hits += dice.chance(1, 4);
    EXPECT_FALSE(dice.chance(0, 4));
    EXPECT_TRUE(dice.chance(4, 4));
  }
  EXPECT_NEAR(hits, 2'500, 220);
}

TEST(Random, uniform_lies_between_0_and_1_and_fills_the_room) {
  random_stream dice{5, "uniform"};
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto x = dice.uniform();
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(least, 0.01);
  EXPECT_LT(most, 1);
  EXPECT_GT(most, 0.99);
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, shuffle_meets_every_order) {
  random_stream dice{5, "shuffle"};
  std::array<int, 6> met{};
  for (int i = 0; i < 6'000; ++i) {
    std::array<int, 3> x{0, 1, 2};
    dice.shuffle(x);
    ++met.at(static_cast<std::size_t>(x[0] * 2 + (x[1] > x[2])));
  }
  for (const int count : met)
    EXPECT_NEAR(count, 1'000, 150);
}

TEST(RandomDeathTest, below_nothing_is_a_bug) {
  random_stream dice{5};
  EXPECT_DEATH(dice.below(0), "nothing to choose from");
}

} // namespace
} // namespace tutti::base
