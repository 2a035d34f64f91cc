// How fast worlds are tried: deliveries per second of one core, and how long a virtual minute
// takes, with every promise checked and without.
//
//   tutti_bench_chaos            W0: 3 replicas, 8 shards, 64 nodes, 40 gangs, all faults; 40 seeds
//   tutti_bench_chaos --quick    6 seeds
//
// A delivery is one event taken by one role: a message, a timer, an answer of the disk or of the
// API server. Faults last the whole minute. Nothing is audited at the end: in a world that is never
// quiet much is still under way.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/hash.hpp"
#include "base/random.hpp"
#include "bench/arguments.hpp"
#include "bench/json_line.hpp"
#include "chaos/run.hpp"
#include "chaos/swarm.hpp"

namespace {

using namespace tutti;
using namespace std::chrono_literals;
using bench::bar_kind;

constexpr std::uint64_t nodes = 64;
constexpr std::uint64_t gangs = 40;
constexpr std::uint32_t replicas = 3;
constexpr std::uint32_t shards = 8;
constexpr base::duration minute = 60s;

/// The faults that the swarm draws for this seed, some of every kind, on a world of fixed size.
chaos::schedule world_w0(std::uint64_t seed) {
  auto out = chaos::draw_schedule(seed, {.nodes_most = nodes,
                                         .gangs_most = gangs,
                                         .replicas = replicas,
                                         .faults_for = minute,
                                         .quiet_for = 0s,
                                         .takes_every_kind = true,
                                         .aimed_percent = 0});
  out.shards = shards;
  std::erase_if(out.actions, [](const auto& a) {
    return (a.what == "node" && a.at == base::duration{}) || a.what == "gang";
  });
  base::random_stream chance{seed, "w0"};
  for (std::uint64_t n = 0; n < nodes; ++n)
    out.actions.push_back(
        {0s,
         "node",
         fmt::format("n{}", n),
         {{"cpu", std::to_string(chance.between(2, 8))}, {"rack", fmt::format("r{}", n / 8)}}});
  for (std::uint64_t g = 0; g < gangs; ++g) {
    const auto members = chance.between(1, 8);
    out.actions.push_back({1ms * static_cast<std::int64_t>(chance.between(1, 40'000)),
                           "gang",
                           fmt::format("g{}", g),
                           {{"members", std::to_string(members)},
                            {"min", std::to_string(chance.between(1, members))},
                            {"cpu", std::to_string(chance.between(1, 3))}}});
  }
  std::stable_sort(out.actions.begin(), out.actions.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return out;
}

using seconds = std::chrono::duration<double>;

/// A world has one thread: what the core has worked for it, whoever else uses the machine.
double core_seconds() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct pace {
  double deliveries_per_s = 0;
  double ms_per_minute = 0; ///< the median of all worlds
  std::uint64_t deliveries = 0;
  std::uint64_t steps_hash = 0; ///< of the traces of all worlds
};

pace measure(std::uint64_t seeds, bool is_judged) {
  pace out;
  double all = 0;
  std::vector<double> each;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto what = world_w0(seed);
    const auto since = core_seconds();
    const auto done = chaos::run(what, {.is_judged = is_judged, .is_audited = false, .lines = 0});
    const auto took = core_seconds() - since;
    all += took;
    out.deliveries += done.deliveries;
    out.steps_hash = base::hash_combine(out.steps_hash, done.trace_hash);
    each.push_back(1e3 * took * (seconds{minute} / seconds{done.virtual_time}));
  }
  std::sort(each.begin(), each.end());
  out.ms_per_minute = each[each.size() / 2];
  out.deliveries_per_s = static_cast<double>(out.deliveries) / all;
  return out;
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = bench::read_arguments(argc, argv, bench::takes::nothing_more);
  const std::uint64_t seeds = asked.is_quick ? 6 : 40;
  const auto checked = measure(seeds, true);
  const auto bare = measure(seeds, false);
  print(bench::measured{"chaos", "deliveries per second and core, all checks",
                        checked.deliveries_per_s, "1/s", 100'000, bar_kind::at_least});
  print(bench::measured{"chaos", "deliveries per second and core, no checks", bare.deliveries_per_s,
                        "1/s", 300'000, bar_kind::at_least});
  print(bench::measured{"chaos", "60 virtual seconds, all checks, median", checked.ms_per_minute,
                        "ms", 250, bar_kind::at_most});
  print(bench::fact{"chaos", "60 virtual seconds, no checks, median", bare.ms_per_minute, "ms"});
  // Before and after a change for speed this must be the same number: 32 bits of the hash.
  print(bench::fact{"chaos", "hash of all steps",
                    static_cast<double>(bare.steps_hash & 0xffff'ffff), ""});
  print(bench::fact{"chaos", "deliveries per world",
                    static_cast<double>(bare.deliveries) / static_cast<double>(seeds), "events"});
  return 0;
}
