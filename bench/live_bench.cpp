// Against a genuine control plane on this machine, with the cores shared among all of them: what
// the scheduler adds to the API server's own cost, the same gangs by kube-scheduler and by tutti,
// and a large cluster.
//
//   tutti_bench_live            500 and 5,000 nodes, 50,000 running pods
//   tutti_bench_live --quick    500 nodes, small gangs
//
// Where no control plane can be started it says so on standard error and measures nothing.
#include <csignal>

#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "bench/json_line.hpp"
#include "bench/live_beside.hpp"
#include "bench/live_cluster.hpp"
#include "bench/live_cost.hpp"
#include "bench/live_large.hpp"

namespace {

using namespace tutti::bench;

constexpr int small = 500;
constexpr int large = 5'000;
constexpr int running_pods = 50'000;
constexpr int to_a_rack = 100;

/// Upstream's own benchmark of racks has a hundred nodes to each.
void run_quick(live_cluster& on) {
  on.create(make_nodes(0, small, to_a_rack));
  measure_cost(on, {{150, 3}, {1, 100}});
  measure_beside(on, small,
                 {{.members = 3, .flood = 50, .alone = 10},
                  {.members = 3, .in_one_rack = true, .flood = 20, .alone = 5}});
}

std::vector<trial> trials(int floods) {
  return {{.members = 3, .flood = 4 * floods, .alone = 50},
          {.members = 3, .in_one_rack = true, .flood = floods, .alone = 20},
          {.members = 100, .flood = 10, .alone = 10},
          {.members = 100, .in_one_rack = true, .flood = 5, .alone = 3},
          {.members = 1'000, .flood = 2, .alone = 2},
          {.members = 1'000, .in_one_rack = true, .flood = 1, .alone = 1}};
}

void run_whole(live_cluster& on) {
  on.create(make_nodes(0, small, to_a_rack));
  measure_cost(on, {{1'000, 3}, {10, 100}, {1, 1'000}});
  measure_beside(on, small, trials(100));
  on.create(make_nodes(small, large, to_a_rack));
  measure_beside(on, large, trials(75));
  measure_large(on, large, running_pods);
}

} // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto asked = read_arguments(argc, argv, takes::nothing_more);
  if (const auto why = why_no_control_plane(); !why.empty()) {
    fmt::print(stderr, "bench: live: skipped: {}\n", why);
    print(fact{"live", "control planes that can be started here", 0, "control planes"});
    return 0;
  }
  live_cluster on;
  asked.is_quick ? run_quick(on) : run_whole(on);
  return 0;
}
