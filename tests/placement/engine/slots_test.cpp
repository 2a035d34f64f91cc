// The column loops count exactly what one pod after another would count, however large the amounts.
#include "tests/placement/engine/cluster.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/limits.hpp"

namespace tutti::placement::engine::testing {
namespace {

/// Amounts that people use, and those at which arithmetic breaks.
std::int64_t any_amount() {
  using rc::gen::inRange;
  const auto bits = *inRange(0, 60);
  return *inRange<std::int64_t>(0, std::int64_t{1} << bits);
}

RC_GTEST_PROP(Slots, are_those_of_an_exact_division, ()) {
  capacity_view view{{}};
  const auto kind = api::make_class({});
  const auto n = *rc::gen::inRange(1, 12);
  for (int i = 0; i < n; ++i) {
    const auto name = "n" + std::to_string(i);
    node_state x;
    x.info = std::make_shared<const node_info>(node_info{{name}, {name}, name, {}, 0});
    x.kind = kind;
    x.allocatable.pods = *rc::gen::inRange(0, 200);
    x.allocatable.cpu_milli = any_amount();
    x.allocatable.memory_bytes = any_amount();
    x.free = x.allocatable;
    x.free.cpu_milli -= *rc::gen::inRange(0, 2) == 0 ? 0 : any_amount(); // may be over-used
    view.upsert(x);
  }
  if (*rc::gen::arbitrary<bool>())
    view.remove({"n0"});
  base::footprint takes;
  takes.amounts.pods = 1;
  takes.amounts.cpu_milli = any_amount();
  takes.amounts.memory_bytes = any_amount();
  workspace memory;
  const auto shape = memory.shape(api::make_shape({}, takes));
  const auto& where = view.now();
  const auto needs = shape->view.needs(where);
  const auto& counts = shape->slots(where, 0, needs, measure::free);
  std::uint64_t total = 0;
  for (auto slot : where.blocks[0]->by_name) {
    std::int64_t fit = most_slots;
    for (const auto& need : needs)
      fit = std::min(fit, std::max<std::int64_t>(where.blocks[0]->free[need.what][slot], 0)
                              / need.amount);
    const std::int64_t counted = counts.empty() ? 0 : counts.slots[slot];
    RC_ASSERT(counted == fit);
    total += static_cast<std::uint64_t>(fit);
  }
  RC_ASSERT(counts.total == total);
}

TEST(Slots, of_an_empty_place_are_none) {
  cluster c;
  c.nodes("n", 3, {});
  c.view.remove({"uid-n1"});
  EXPECT_EQ(c.placed(gang_of(16, {.gpus = 1})), 16u);
  EXPECT_EQ(c.placed(gang_of(17, {.gpus = 1})), 0u);
}

TEST(Slots, follow_what_a_trial_took_and_gave_back) {
  cluster c;
  c.node({.name = "a", .gpus = 8});
  const auto& where = c.view.now();
  const auto memory = c.memory.shape(shape_of({.gpus = 1}));
  const std::vector<shape_use> shapes{{memory, memory->view.needs(where), 1}};
  trial on{where, measure::free, shapes};
  EXPECT_EQ(on.fill(0, 0, 5, whole(where), node_order::tightest), 5u);
  EXPECT_EQ(on.slots_in(0, whole(where)), 3u);
  EXPECT_EQ(on.fill(0, 0, 5, whole(where), node_order::tightest), 3u);
  EXPECT_EQ(on.slots_in(0, whole(where)), 0u);
  on.undo(0);
  EXPECT_EQ(on.slots_in(0, whole(where)), 8u);
}

} // namespace
} // namespace tutti::placement::engine::testing
