// The world as a whole: gangs are scheduled in it, and it is a function of its seed.
#include "sim/world/world.hpp"

#include <gtest/gtest.h>

#include "tests/sim/world/small_world.hpp"

namespace tutti::sim::testing {
namespace {

world::options with_seed(std::uint64_t seed) {
  world::options how;
  how.seed = seed;
  how.scheduler.shards = 2;
  return how;
}

TEST(World, binds_whole_gangs_in_virtual_time) {
  small_world on{with_seed(1)};
  for (int n = 0; n < 4; ++n)
    on.node(fmt::format("n{}", n), 4, n < 2 ? "r0" : "r1");
  on.gang("a", 6, 2);
  on.gang("b", 3, 2);
  on.it.run_for(20s);
  EXPECT_TRUE((on.bound("a") == 6 && on.bound("b") == 0)
              || (on.bound("a") == 0 && on.bound("b") == 3))
      << on.bound("a") << " " << on.bound("b");
}

std::uint64_t hash_of_run(std::uint64_t seed) {
  small_world on{with_seed(seed)};
  for (int n = 0; n < 4; ++n)
    on.node(fmt::format("n{}", n), 4, n < 2 ? "r0" : "r1");
  on.gang("a", 4, 2);
  on.it.run_for(3s);
  on.it.at(0).crash();
  on.it.start_again(on.it.at(0), 1s);
  on.gang("b", 4, 2);
  on.it.run_for(20s);
  EXPECT_EQ(on.bound("a"), 4u);
  EXPECT_EQ(on.bound("b"), 4u);
  return on.it.trace_hash();
}

TEST(World, is_a_function_of_its_seed) {
  const auto once = hash_of_run(7);
  EXPECT_EQ(once, hash_of_run(7));
  EXPECT_NE(once, hash_of_run(8));
}

TEST(World, F9_a_full_disk_is_waited_out_without_a_restart) {
  small_world on{with_seed(3)};
  for (int n = 0; n < 4; ++n)
    on.node(fmt::format("n{}", n), 4, "r0");
  on.gang("a", 4, 2);
  on.it.run_for(5s);
  ASSERT_EQ(on.bound("a"), 4u);
  auto& scheduler = on.it.at(0);
  scheduler.leave_free(0);
  on.it.run_for(3s);
  on.gang("b", 4, 2);
  on.it.run_for(30s);
  EXPECT_EQ(on.bound("b"), 0u) << "nothing new is promised";
  scheduler.leave_free(UINT64_MAX);
  on.it.run_for(30s);
  EXPECT_EQ(on.bound("b"), 4u);
  EXPECT_EQ(scheduler.lives(), 1u);
}

TEST(World, F9_a_full_disk_of_one_among_several_holds_nobody_up) {
  auto how = with_seed(5);
  how.replicas = 3;
  small_world on{how};
  for (int n = 0; n < 6; ++n)
    on.node(fmt::format("n{}", n), 4, fmt::format("r{}", n));
  on.it.run_for(30s);
  for (std::size_t n = 0; n < 3; ++n)
    on.it.at(n).leave_free(0);
  on.it.run_for(3s);
  on.gang("a", 6, 4);
  on.it.run_for(30s);
  EXPECT_EQ(on.bound("a"), 6u) << "their shards keep nothing on it";
}

TEST(World, F9_a_process_that_dies_on_a_full_disk_lives_again_when_there_is_space) {
  small_world on{with_seed(4)};
  on.node("n0", 4, "r0");
  on.it.run_for(2s);
  auto& scheduler = on.it.at(0);
  scheduler.leave_free(0);
  scheduler.crash();
  on.it.start_again(scheduler, 1s);
  on.it.run_for(20s);
  EXPECT_FALSE(scheduler.is_up()) << "there is no space for a new life";
  scheduler.leave_free(UINT64_MAX);
  on.gang("a", 2, 2);
  on.it.run_for(20s);
  EXPECT_EQ(on.bound("a"), 2u);
}

} // namespace
} // namespace tutti::sim::testing
