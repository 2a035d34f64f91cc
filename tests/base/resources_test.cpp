// Exact amounts: sums that never wrap, shortages that are named, ports that collide.
#include "base/resources.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tutti::base {
namespace {

constexpr auto least = std::numeric_limits<std::int64_t>::min();
constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// Wide enough for every sum of two amounts.
__extension__ using wide = __int128;

std::int64_t saturated(wide x) {
  return static_cast<std::int64_t>(std::clamp<wide>(x, least, most));
}

/// Any int64, the bounds often.
rc::Gen<std::int64_t> any_amount() {
  return rc::gen::oneOf(
      rc::gen::arbitrary<std::int64_t>(),
      rc::gen::elementOf(std::vector<std::int64_t>{least, least + 1, -1, 0, 1, most - 1, most}));
}

resources with_gpus(std::int64_t n) {
  resources out;
  out.set(symbol{"nvidia.com/gpu"}, n);
  return out;
}

RC_GTEST_PROP(Resources, a_sum_is_exact_or_stops_at_the_bound, ()) {
  const auto a = *any_amount();
  const auto b = *any_amount();
  RC_ASSERT(checked_add(a, b) == saturated(wide{a} + b));
}

RC_GTEST_PROP(Resources, every_amount_is_added_and_subtracted_without_wrapping, ()) {
  resources a;
  resources b;
  for (auto* x : {&a, &b}) {
    x->cpu_milli = *any_amount();
    x->memory_bytes = *any_amount();
    x->ephemeral_bytes = *any_amount();
    x->pods = *any_amount();
    x->set(symbol{"nvidia.com/gpu"}, *any_amount());
  }
  const symbol gpu{"nvidia.com/gpu"};
  const auto sum = a + b;
  const auto rest = a - b;
  RC_ASSERT(sum.cpu_milli == saturated(wide{a.cpu_milli} + b.cpu_milli));
  RC_ASSERT(sum.memory_bytes == saturated(wide{a.memory_bytes} + b.memory_bytes));
  RC_ASSERT(sum.ephemeral_bytes == saturated(wide{a.ephemeral_bytes} + b.ephemeral_bytes));
  RC_ASSERT(sum.pods == saturated(wide{a.pods} + b.pods));
  RC_ASSERT(sum.of(gpu) == saturated(wide{a.of(gpu)} + b.of(gpu)));
  RC_ASSERT(rest.cpu_milli == saturated(wide{a.cpu_milli} - b.cpu_milli));
  RC_ASSERT(rest.memory_bytes == saturated(wide{a.memory_bytes} - b.memory_bytes));
  RC_ASSERT(rest.ephemeral_bytes == saturated(wide{a.ephemeral_bytes} - b.ephemeral_bytes));
  RC_ASSERT(rest.pods == saturated(wide{a.pods} - b.pods));
  RC_ASSERT(rest.of(gpu) == saturated(wide{a.of(gpu)} - b.of(gpu)));
}

RC_GTEST_PROP(Resources, what_was_put_and_taken_again_leaves_no_trace, ()) {
  resources room;
  const auto names = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6));
  for (const auto n : names)
    room += [n] {
      resources x;
      x.set(symbol{"example.com/" + std::to_string(n)}, n + 1);
      return x;
    }();
  RC_ASSERT(std::is_sorted(room.extended.begin(), room.extended.end(),
                           [](const auto& a, const auto& b) { return a.name < b.name; }));
  const auto full = room;
  room -= full;
  RC_ASSERT(room == resources{}); // no zero is kept
}

TEST(Resources, names_the_first_resource_that_is_short) {
  resources room{.cpu_milli = 4000, .memory_bytes = 1 << 20, .ephemeral_bytes = 10, .pods = 1};
  EXPECT_TRUE(fits(room, room));
  EXPECT_EQ(first_shortage({.pods = 2}, room), (shortage{"pods", 2, 1}));
  EXPECT_EQ(first_shortage({.cpu_milli = 4001}, room), (shortage{"cpu", 4001, 4000}));
  EXPECT_EQ(first_shortage({.memory_bytes = 2 << 20}, room),
            (shortage{"memory", 2 << 20, 1 << 20}));
  EXPECT_EQ(first_shortage({.ephemeral_bytes = 11}, room), (shortage{"ephemeral-storage", 11, 10}));
  EXPECT_EQ(first_shortage(with_gpus(8), room), (shortage{"nvidia.com/gpu", 8, 0}));
}

TEST(Resources, a_request_of_zero_fits_into_a_node_that_is_over_used) {
  const resources room{.cpu_milli = -500, .memory_bytes = 10, .pods = 5};
  EXPECT_TRUE(fits({.memory_bytes = 10, .pods = 1}, room));
  EXPECT_EQ(first_shortage({.cpu_milli = 1}, room), (shortage{"cpu", 1, -500}));
}

TEST(Resources, are_written_as_people_write_them) {
  resources x{.cpu_milli = 1500, .memory_bytes = std::int64_t{2} << 30, .pods = 1};
  x.set(symbol{"nvidia.com/gpu"}, 8);
  EXPECT_EQ(to_text(x), "cpu 1500m, memory 2Gi, pods 1, nvidia.com/gpu 8");
  EXPECT_EQ(to_text(resources{}), "nothing");
  EXPECT_EQ(amount_text("cpu", 3000), "3");
  EXPECT_EQ(amount_text("memory", 1025), "1025");
  EXPECT_EQ(amount_text("memory", 0), "0");
  EXPECT_EQ(amount_text("hugepages-2Mi", 4 << 20), "4Mi");
  EXPECT_EQ(amount_text("nvidia.com/gpu", 1024), "1024");
}

TEST(Ports, collide_on_the_same_number_and_protocol_where_addresses_meet) {
  const host_port any{symbol{"0.0.0.0"}, symbol{"TCP"}, 80};
  const host_port none{symbol{}, symbol{"TCP"}, 80};
  const host_port one{symbol{"10.0.0.1"}, symbol{"TCP"}, 80};
  const host_port two{symbol{"10.0.0.2"}, symbol{"TCP"}, 80};
  EXPECT_TRUE(collide(any, one));
  EXPECT_TRUE(collide(one, none));
  EXPECT_TRUE(collide(one, one));
  EXPECT_FALSE(collide(one, two));
  EXPECT_FALSE(collide(any, {symbol{"0.0.0.0"}, symbol{"UDP"}, 80}));
  EXPECT_FALSE(collide(any, {symbol{"0.0.0.0"}, symbol{"TCP"}, 81}));
}

} // namespace
} // namespace tutti::base
