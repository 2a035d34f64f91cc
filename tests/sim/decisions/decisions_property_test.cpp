// Every slot has one winner, and nobody is told otherwise, whatever the network does.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/sim/decisions/story.hpp"

namespace tutti::sim::decisions {
namespace {

std::size_t any(std::size_t below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, below));
}

RC_GTEST_PROP(DecisionsProperty, S2_S7_every_slot_has_one_winner_and_begins_when_the_last_is_done,
              ()) {
  story s{bridge::limits::decision_bytes_inline, any};
  s.run();
  RC_ASSERT(s.broken == std::string{});
}

RC_GTEST_PROP(DecisionsProperty, S2_S7_hold_for_plans_in_chunks_as_well, ()) {
  story s{150, any};
  s.run();
  RC_ASSERT(s.broken == std::string{});
}

} // namespace
} // namespace tutti::sim::decisions
