// What a GangDecision keeps of a decision that is done.
#include "bridge/decision_objects.hpp"

#include <gtest/gtest.h>

#include "base/hash.hpp"
#include "bridge/limits.hpp"

namespace tutti::bridge {
namespace {

/// What an object says that was given this decision first as it is written, then as it is done, and
/// is read again.
protocol::decision as_kept(const protocol::decision& what) {
  decision_object x;
  x.metadata["name"] = decision_name(what.by.gang);
  auto written = what;
  written.cancelled.clear();
  written.is_done = false;
  put_decision(x, written, {});
  put_decision(x, what, {});
  return decision_of(x, x.record).value();
}

protocol::decision done() {
  protocol::decision x;
  x.by = {{"g"}, 1, {7}, 1};
  x.what = protocol::verdict::committed;
  x.is_done = true;
  return x;
}

TEST(DecisionObjects, keep_of_a_done_plan_whom_it_has_bound) {
  auto what = done();
  what.chosen.slices.push_back({.shard = {0}, .seats = {{.pod = {"a"}}, {.pod = {"b"}}}});
  what.cancelled = {{"b"}};
  const auto kept = as_kept(what);
  EXPECT_TRUE(kept.is_done);
  EXPECT_TRUE(kept.chosen.slices.empty());
  EXPECT_EQ(kept.bound, std::vector{base::hash_of("a")});
}

TEST(DecisionObjects, of_a_gang_too_large_for_an_object_keep_nobody_and_can_be_written) {
  auto what = done();
  what.bound.assign(limits::decision_bound_most, 1);
  EXPECT_EQ(as_kept(what).bound.size(), limits::decision_bound_most);
  what.bound.push_back(2);
  EXPECT_TRUE(as_kept(what).bound.empty());
}

} // namespace
} // namespace tutti::bridge
