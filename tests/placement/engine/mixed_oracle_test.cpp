// Mixed gangs against an integer program: never a wrong "impossible", and few left undecided.
#include "tests/placement/engine/mixed_oracle.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>

#include "placement/engine/solve.hpp"

namespace tutti::placement::engine::testing {
namespace {

/// How many gangs of each kind; TUTTI_ORACLE_GANGS asks for more.
std::uint64_t gangs_wanted() {
  const char* asked = std::getenv("TUTTI_ORACLE_GANGS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 60;
}

struct tally {
  int placed = 0, impossible = 0, undecided = 0, undecided_but_possible = 0, not_known = 0;
};

void try_gang(const drawn_gang& in, tally& seen) {
  cluster c;
  gang_spec what;
  build(in, c, what);
  const auto got = c.ask(what);
  if (const auto* found = std::get_if<placement>(&got)) {
    ++seen.placed;
    const auto wrong = broken_rule(in, counts_of(in, c, *found));
    EXPECT_FALSE(wrong) << *wrong << "\n" << words_of(in);
    return;
  }
  const auto& why = std::get<base::explanation>(got);
  const auto possible = can_be_placed(in);
  seen.not_known += possible ? 0 : 1;
  if (why.primary == base::reason_code::undecided) {
    ++seen.undecided;
    seen.undecided_but_possible += possible.value_or(false) ? 1 : 0;
    return;
  }
  ++seen.impossible;
  EXPECT_FALSE(possible.value_or(false)) << why.detail << "\n" << words_of(in);
}

struct oracle_case {
  const char* name;
  drawn_size size;
  bool has_terms;
};

struct MixedOracle : ::testing::TestWithParam<oracle_case> {};

TEST_P(MixedOracle, agrees_with_an_integer_program) {
  if (!has_solver())
    GTEST_SKIP() << "no cbc (package coinor-cbc) in $PATH";
  tally seen;
  for (std::uint64_t seed = 1; seed <= gangs_wanted() && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    try_gang(draw_gang(seed, GetParam().size, GetParam().has_terms), seen);
  }
  std::printf("%s: %d placed, %d impossible, %d undecided (%d of them possible), %d not known\n",
              GetParam().name, seen.placed, seen.impossible, seen.undecided,
              seen.undecided_but_possible, seen.not_known);
  EXPECT_GT(seen.placed, 0);
  EXPECT_GT(seen.impossible, 0);
  // One in a hundred of those that can be placed; of a few dozen, one.
  EXPECT_LE(seen.undecided_but_possible,
            std::max(1, (seen.placed + seen.undecided_but_possible) / 100));
}

INSTANTIATE_TEST_SUITE_P(Of, MixedOracle,
                         ::testing::Values(oracle_case{"small", drawn_size::small, false},
                                           oracle_case{"medium", drawn_size::medium, false},
                                           oracle_case{"small_tied", drawn_size::small, true},
                                           oracle_case{"medium_tied", drawn_size::medium, true}),
                         [](const auto& x) { return std::string{x.param.name}; });

} // namespace
} // namespace tutti::placement::engine::testing
