// Tests of the tests: a log with a planted bug breaks its promises within so many stories.
#include <gtest/gtest.h>

#include "base/mutant.hpp"
#include "base/random.hpp"
#include "tests/sim/decisions/story.hpp"

namespace tutti::sim::decisions {
namespace {

#ifdef TUTTI_MUTANTS

using base::mutant;

constexpr std::uint64_t stories_most = 300;

/// What the story of this number breaks with the bug in place; empty = nothing.
std::string broken_by(mutant bug, std::uint64_t number) {
  base::random_stream dice{number, "story"};
  story s{bridge::limits::decision_bytes_inline,
          [&dice](std::size_t n) { return static_cast<std::size_t>(dice.below(n)); }};
  base::plant(bug);
  s.run();
  base::plant(mutant::none);
  return s.broken;
}

class LogMutant : public testing::TestWithParam<mutant> {};

TEST_P(LogMutant, breaks_a_story_that_holds_without_it) {
  for (std::uint64_t number = 1; number <= stories_most; ++number)
    if (!broken_by(GetParam(), number).empty()) {
      EXPECT_EQ(broken_by(mutant::none, number), "") << "story " << number;
      return;
    }
  FAIL() << "survived " << stories_most << " stories";
}

INSTANTIATE_TEST_SUITE_P(All, LogMutant,
                         testing::Values(mutant::write_over_a_winner, mutant::skip_the_turn,
                                         mutant::take_lost_decision_for_failed,
                                         mutant::forget_cancels));

#endif

} // namespace
} // namespace tutti::sim::decisions
