// How long a day of a generated workload takes in the simulator, and how much memory: 5,000 and
// 50,000 nodes of 8 GPUs, gangs as often per GPU as in Microsoft's Philly cluster.
//
//   tutti_bench_sim            a day on each
//   tutti_bench_sim --quick    two hours on each
//
// The clock runs from before the first node is created until the last virtual minute is over;
// samples are taken as `tutti sim run` takes them, files are not written.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "bench/json_line.hpp"
#include "bench/proc.hpp"
#include "sim/report/series.hpp"
#include "sim/workload/generator.hpp"
#include "sim/workload/simulation.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;
using namespace std::chrono_literals;

constexpr double wall_bar_s = 600;
constexpr std::uint64_t seed = 1;

double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

void measure(std::uint32_t nodes, base::duration until, bool has_bar) {
  const auto name = [&](const char* what) { return fmt::format("{} nodes: {}", nodes, what); };
  const auto start = std::chrono::steady_clock::now();
  sim::workload::simulation::options how;
  how.seed = seed;
  how.shape.nodes = nodes;
  how.until = until;
  auto all = sim::workload::generate_philly({.seed = seed, .until = until}, how.shape);
  const auto gangs = all.arrivals.size();
  sim::workload::simulation run{how, std::move(all.arrivals)};
  run.begin({});
  const auto nodes_s = seconds_since(start);
  sim::report::series over_time{how.shape, static_cast<std::uint64_t>(until / how.sample_every)};
  auto resident = resident_bytes(::getpid());
  while (run.advance()) {
    over_time.take(run);
    resident = std::max(resident, resident_bytes(::getpid()));
  }
  const auto whole_s = seconds_since(start);
  if (has_bar)
    print(measured{"sim", "a day of a Philly-like workload on 50,000 nodes", whole_s, "s",
                   wall_bar_s, bar_kind::at_most});
  else
    print(fact{"sim", name("wall time"), whole_s, "s"});
  print(fact{"sim", name("nodes created and known"), nodes_s, "s"});
  print(fact{"sim", name("virtual time per wall time"),
             std::chrono::duration<double>(until).count() / (whole_s - nodes_s), "times"});
  print(fact{"sim", name("gangs"), static_cast<double>(gangs), "gangs"});
  print(fact{"sim", name("steps of the world per second"),
             static_cast<double>(run.steps()) / whole_s, "steps/s"});
  print(
      fact{"sim", name("resident memory, most"), static_cast<double>(resident) / (1 << 20), "MiB"});
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = read_arguments(argc, argv, takes::nothing_more);
  const auto until = asked.is_quick ? base::duration{2h} : base::duration{24h};
  measure(5'000, until, false);
  measure(50'000, until, !asked.is_quick);
  return 0;
}
