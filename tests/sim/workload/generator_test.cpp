// A generated workload has the shape of what was published, and is a function of its seed.
#include "sim/workload/generator.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "sim/workload/philly.hpp"

namespace tutti::sim::workload {
namespace {

using namespace std::chrono_literals;

double seconds(base::duration d) {
  return std::chrono::duration<double>(d).count();
}

gangs many(double load, std::uint64_t seed = 1) {
  cluster_shape shape;
  shape.nodes = 20'000;
  return generate_philly({.seed = seed, .until = 48h, .load = load}, shape);
}

TEST(Generator, sizes_come_as_often_as_published) {
  const auto all = many(60).arrivals;
  ASSERT_GT(all.size(), 50'000u);
  std::map<std::int64_t, double> share;
  for (const auto& x : all)
    share[x.gpus()] += 100.0 / static_cast<double>(all.size());
  for (const auto& x : philly::sizes)
    EXPECT_NEAR(share[x.gpus], x.jobs, 0.05 + x.jobs / 50) << x.gpus;
}

TEST(Generator, gpu_time_is_shared_by_sizes_as_published) {
  std::map<std::int64_t, double> share;
  double sum = 0;
  for (const auto seed : {1, 2, 3, 4, 5})
    for (const auto& x : many(60, static_cast<std::uint64_t>(seed)).arrivals) {
      const auto takes = static_cast<double>(x.gpus()) * seconds(x.runs_for);
      share[x.gpus()] += takes;
      sum += takes;
    }
  for (const auto& x : philly::sizes)
    if (x.gpu_time > 0) {
      EXPECT_NEAR(100 * share[x.gpus] / sum, x.gpu_time, 0.5 + x.gpu_time / 5) << x.gpus;
    }
}

/// The tails are long: a mean converges slowly.
TEST(Generator, the_mean_gang_takes_as_many_gpu_seconds_as_published) {
  constexpr double published = 61'037; // all GPU time of the trace, divided by its jobs
  EXPECT_NEAR(philly_gpu_seconds(), published, published / 50);
  double sum = 0, n = 0;
  for (const auto seed : {1, 2, 3, 4, 5})
    for (const auto& x : many(60, static_cast<std::uint64_t>(seed)).arrivals) {
      sum += static_cast<double>(x.gpus()) * seconds(x.runs_for);
      ++n;
    }
  EXPECT_NEAR(sum / n, published, published / 10);
}

TEST(Generator, the_load_is_what_was_asked_for) {
  const auto at_30 = static_cast<double>(many(30).arrivals.size());
  const auto at_60 = static_cast<double>(many(60).arrivals.size());
  const double gpus = 160'000, day = 48 * 3'600;
  EXPECT_NEAR(at_30 * philly_gpu_seconds() / (gpus * day), 0.3, 0.01);
  EXPECT_NEAR(at_60 / at_30, 2, 0.05);
}

TEST(Generator, more_come_in_busy_hours) {
  std::map<int, double> by_hour;
  for (const auto& x : many(60).arrivals)
    by_hour[static_cast<int>(seconds(x.at) / 3'600) % 24]++;
  const auto ratio = philly::by_hour[21] / philly::by_hour[3];
  EXPECT_NEAR(by_hour[21] / by_hour[3], ratio, ratio / 10);
}

TEST(Generator, is_a_function_of_its_seed) {
  const auto a = many(5, 7).arrivals, b = many(5, 7).arrivals, c = many(5, 8).arrivals;
  ASSERT_EQ(a.size(), b.size());
  const auto same = [](const arrival& x, const arrival& y) {
    return x.at == y.at && x.members == y.members && x.each == y.each && x.runs_for == y.runs_for;
  };
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), same));
  EXPECT_FALSE(std::equal(a.begin(), a.begin() + 10, c.begin(), same));
  EXPECT_TRUE(
      std::is_sorted(a.begin(), a.end(), [](const auto& x, const auto& y) { return x.at < y.at; }));
}

TEST(Generator, gangs_too_large_for_the_cluster_are_rejected_and_kept) {
  cluster_shape shape;
  shape.nodes = 2;
  const auto all = generate_philly({.until = 24h, .load = 1'000'000}, shape);
  ASSERT_FALSE(all.rejected.empty());
  for (const auto& x : all.rejected)
    EXPECT_GT(x.what.members, 2u);
  for (const auto& x : all.arrivals)
    EXPECT_LE(x.members, 2u);
}

} // namespace
} // namespace tutti::sim::workload
