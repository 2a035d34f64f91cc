// How long one gang takes to plan on 1,000 to 100,000 nodes in 50 or 250 racks: JSON lines with the
// bar and the physical floor, and the same cases under Google Benchmark. What no rack can hold is
// refused, and that is timed, too; so are a change of a node, and the memory of the view.
//
//   tutti_bench_placement                  JSON lines, 2,000 plans a case
//   tutti_bench_placement --quick          JSON lines, 200 plans a case
//   tutti_bench_placement --floors FILE    with the floors of a table, not with computed ones
//   tutti_bench_placement --benchmark_filter=…   Google Benchmark
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bench/arguments.hpp"
#include "placement/engine/capacity_view.hpp"
#include "placement/engine/plan.hpp"

namespace {

using namespace tutti;
using namespace tutti::placement::engine;

constexpr int gpus_per_node = 32;
constexpr double bar_us = 1000; // p99 of one plan that has no bar of its own
const base::symbol gpu_name{"nvidia.com/gpu"};

/// floor(M, N) = 10·M/BW + 3·M/BW + 2 ns · min(N, M): read the narrowest columns (10 bytes a node),
/// write a slot count a node and read it twice, update the chosen nodes. BW of one 3 GHz core by
/// the size of the columns: 192 GB/s from L1, 96 from L2, 30 from L3. In microseconds.
double floor_us(double nodes, double members) {
  const double column_bytes = 10 * nodes;
  const double gb_per_s = column_bytes <= 48e3 ? 192 : column_bytes <= 1e6 ? 96 : 30;
  const double ns = 13 * nodes / gb_per_s + 2 * std::min(members, nodes);
  return ns / 1000;
}

/// Floors by (nodes, members) from a table of limits, or computed where there is none.
class floors {
public:
  /// An empty name: all are computed. A table that cannot be read ends the process with 2.
  explicit floors(const std::string& file) {
    if (file.empty()) {
      fmt::print(stderr, "bench: there is no table of floors; they are computed\n");
      return;
    }
    std::ifstream in{file};
    std::string line;
    std::getline(in, line);
    const auto names = cells(line);
    const auto nodes = column(names, "nodes_M"), members = column(names, "pods_N"),
               us = column(names, "floor_us");
    while (std::getline(in, line)) {
      const auto row = cells(line);
      if (row.size() == names.size())
        table_[{std::stoi(row[nodes]), std::stoi(row[members])}] = std::stod(row[us]);
    }
    if (table_.empty())
      refuse(file + " has no floors");
  }

  double us(int nodes, int members) const {
    const auto pos = table_.find({nodes, members});
    return pos == table_.end() ? floor_us(nodes, members) : pos->second;
  }

private:
  [[noreturn]] static void refuse(const std::string& what) {
    fmt::print(stderr, "bench: error: {}\n", what);
    std::exit(2);
  }
  static std::vector<std::string> cells(const std::string& line) {
    std::istringstream in{line};
    std::vector<std::string> out;
    for (std::string cell; std::getline(in, cell, ',');)
      out.push_back(cell);
    return out;
  }
  static std::size_t column(const std::vector<std::string>& names, const std::string& name) {
    const auto pos = std::find(names.begin(), names.end(), name);
    if (pos == names.end())
      refuse("the table of floors has no column " + name);
    return static_cast<std::size_t>(pos - names.begin());
  }

  std::map<std::pair<int, int>, double> table_;
};

/// The p99 that a plan is to keep, by members and nodes.
double limit_us(int nodes, int members) {
  const double of_50k = members <= 8 ? 100 : members <= 256 ? 150 : 1'000;
  return nodes > 50'000 ? 2 * of_50k : nodes == 50'000 ? of_50k : bar_us;
}

/// Even an empty rack has not so much room: the plan says so, and that is what is measured.
bool never_fits(int nodes, int members, bool in_rack, int racks) {
  return in_rack && members > nodes / racks * gpus_per_node;
}

/// Nodes of 32 GPUs, most of them partly used, as on a busy cluster; every rack has some room.
struct bench_cluster {
  int nodes;
  int racks;
  capacity_view view{{"rack"}};
  workspace memory;

  explicit bench_cluster(int how_many, int of_racks = 250) : nodes(how_many), racks(of_racks) {
    api::class_terms plain;
    plain.labels = {{"pool", "gpu"}};
    const auto kind = api::make_class(plain);
    for (int i = 0; i < nodes; ++i)
      view.upsert(state(i, kind));
    static_cast<void>(view.now());
  }

  node_state state(int i, const base::node_class_ptr& kind) const {
    node_state x;
    const auto rack = fmt::format("r{:04}", i / (nodes / racks));
    const auto name = fmt::format("n{:06}", i);
    x.info = std::make_shared<const node_info>(node_info{{"u" + name}, {name}, name, {rack}, 1});
    x.kind = kind;
    x.allocatable.cpu_milli = 128'000;
    x.allocatable.memory_bytes = std::int64_t{1} << 40;
    x.allocatable.ephemeral_bytes = std::int64_t{1} << 41;
    x.allocatable.pods = 110;
    x.allocatable.set(gpu_name, gpus_per_node);
    x.free = x.allocatable;
    const auto used = static_cast<std::int64_t>(base::hash_of(static_cast<std::uint64_t>(i)) % 17);
    x.free.cpu_milli -= used * 3'000;
    x.free.memory_bytes -= used << 34;
    x.free.set(gpu_name, gpus_per_node - used);
    return x;
  }
};

/// `n` equal pods, all or none. `salt` makes shapes that no cache has seen.
gang_spec gang_of(int n, bool in_rack, std::int64_t salt) {
  base::footprint takes;
  takes.amounts.cpu_milli = 2'000;
  takes.amounts.memory_bytes = (std::int64_t{16} << 30) - salt;
  takes.amounts.pods = 1;
  takes.amounts.set(gpu_name, 1);
  const auto kind = api::make_shape({}, takes);
  gang_spec out;
  out.groups.push_back({"g", static_cast<std::uint32_t>(n), in_rack ? "rack" : ""});
  for (int i = 0; i < n; ++i)
    out.members.push_back({"", 0, kind, member_spec::state::pending, {}});
  return out;
}

/// What a plan finds in its cache.
enum class cache { fresh_shape, known_shape, one_rack_changed };

struct bench_case {
  int members;
  bool in_rack;
  cache before;
  int racks = 250;
  double limit = 0; ///< us; 0 = by members and nodes
};

std::string name_of(const bench_case& c, int nodes) {
  const auto* before = c.before == cache::fresh_shape   ? ", new shape"
                       : c.before == cache::known_shape ? ", known shape"
                                                        : "";
  return fmt::format("plan {} on {} nodes{}{}{}{}", c.members, nodes,
                     c.racks != 250 ? fmt::format(" in {} racks", c.racks) : "",
                     c.in_rack ? ", rack" : "", before,
                     never_fits(nodes, c.members, c.in_rack, c.racks) ? ", never fits" : "");
}

/// Processor time of this thread: on a shared machine the wall clock measures the neighbours.
double now_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

/// One plan, timed; between plans the cluster changes as it does when gangs are really placed.
double once_us(bench_cluster& cluster, const bench_case& c, std::uint64_t round) {
  const base::attempt_id attempt{{"g"}, 1, {1}, round};
  const auto salt = c.before == cache::fresh_shape ? static_cast<std::int64_t>(round + 1) : 0;
  const auto gang = gang_of(c.members, c.in_rack, salt);
  const auto start = now_us();
  const auto found = plan(cluster.view.now(), gang, {}, cluster.memory);
  const auto end = now_us();
  const auto* p = std::get_if<placement::engine::placement>(&found);
  if (never_fits(cluster.nodes, c.members, c.in_rack, c.racks)) {
    ensure(p == nullptr, c.members, round);
    return end - start;
  }
  ensure(p != nullptr && p->seats.size() == gang.members.size(), c.members, round);
  if (c.before == cache::one_rack_changed) {
    std::vector<marked_seat> seats;
    for (const auto& s : p->seats)
      seats.push_back({cluster.view.now().node(s.node).uid, gang.members[s.member].kind->takes});
    cluster.view.mark(attempt, seats);
    if (round > 8)
      cluster.view.unmark({{"g"}, 1, {1}, round - 8});
  }
  return end - start;
}

void print_case(const bench_case& c, int nodes, int rounds, const floors& least) {
  bench_cluster cluster{nodes, c.racks};
  const auto limit = c.limit > 0 ? c.limit : limit_us(nodes, c.members);
  for (std::uint64_t i = 0; i < 10; ++i)
    once_us(cluster, c, i + 1);
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i)
    us.push_back(once_us(cluster, c, static_cast<std::uint64_t>(i) + 11));
  std::sort(us.begin(), us.end());
  const auto at = [&](double q) {
    return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))];
  };
  fmt::print("{{\"area\":\"placement\",\"bar\":\"{}\",\"value\":{:.1f},\"unit\":\"us p99\","
             "\"limit\":{:.0f},\"holds\":{},\"p50\":{:.1f},\"floor\":{:.1f}}}\n",
             name_of(c, nodes), at(0.99), limit, at(0.99) <= limit, at(0.5),
             least.us(nodes, c.members));
}

void print_row(const std::string& bar, double value, const char* unit, double limit, bool holds) {
  fmt::print(
      "{{\"area\":\"placement\",\"bar\":\"{}\",\"value\":{:.2f},\"unit\":\"{}\",\"limit\":{:.0f},"
      "\"holds\":{}}}\n",
      bar, value, unit, limit, holds);
}

/// Gangs of four, each in one rack, one after the other: plans and marks on one core.
void print_rate(int rounds) {
  bench_cluster cluster{5'000, 50};
  const bench_case c{4, true, cache::one_rack_changed, 50, 0};
  const auto start = now_us();
  for (int i = 0; i < rounds; ++i)
    once_us(cluster, c, static_cast<std::uint64_t>(i) + 1);
  const auto rate = 4.0 * rounds / (now_us() - start) * 1e6;
  print_row("gangs of 4 in one of 50 racks, 5000 nodes, plans and marks", rate, "pods/s", 50'000,
            rate >= 50'000);
}

double p99(std::vector<double>& us) {
  std::sort(us.begin(), us.end());
  return us[static_cast<std::size_t>(0.99 * static_cast<double>(us.size() - 1))];
}

/// Three shapes of 64 members each.
void print_mixed(int rounds) {
  constexpr double limit = 5'000;
  bench_cluster cluster{5'000, 50};
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i) {
    auto gang = gang_of(64, false, 3 * i);
    for (int more : {1, 2}) {
      const auto other = gang_of(64, false, 3 * i + more);
      gang.members.insert(gang.members.end(), other.members.begin(), other.members.end());
    }
    gang.groups[0].min_count = 192;
    const auto start = now_us();
    const auto found = plan(cluster.view.now(), gang, {}, cluster.memory);
    us.push_back(now_us() - start);
    ensure(std::holds_alternative<placement::engine::placement>(found), i);
  }
  const auto value = p99(us);
  print_row("plan 3 new shapes of 64 on 5000 nodes", value, "us p99", limit, value <= limit);
}

/// A node's free room changes, as when a pod ends; all indexes included.
void print_event(int rounds) {
  constexpr double limit = 2;
  bench_cluster cluster{50'000};
  std::vector<base::node_uid> nodes;
  std::vector<base::resources> free;
  for (int i = 0; i < rounds; ++i) {
    const auto x = cluster.state(i * 7'919 % 50'000, nullptr);
    nodes.push_back(x.info->uid);
    free.push_back(x.allocatable);
  }
  const auto start = now_us();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    cluster.view.set_free(nodes[i], free[i], {}, {});
  static_cast<void>(cluster.view.now());
  const auto value = (now_us() - start) / static_cast<double>(nodes.size());
  print_row("a node's room changes, 50000 nodes", value, "us", limit, value <= limit);
}

/// What the view takes for a node, labels and names included.
void print_memory() {
  constexpr double limit = 500;
  constexpr int nodes = 50'000;
  const auto before = mallinfo2().uordblks;
  bench_cluster cluster{nodes};
  const auto value = static_cast<double>(mallinfo2().uordblks - before) / nodes;
  print_row("memory of the view for a node, 50000 nodes", value, "bytes", limit, value <= limit);
}

// ---- members that are tied to other pods ----

constexpr double tied_bar_us = 5'000; // p99 of one plan
constexpr int apps = 40;
constexpr auto host_key = "kubernetes.io/hostname";

api::label_selector app_is(const std::string& app) {
  return {{{"app", api::label_requirement::operation::in, {app}}}, false};
}

/// Every fourth app keeps its pods apart by host.
base::ties_ptr ties_of_app(int app) {
  api::pod_ties x;
  x.space = "shop";
  x.labels = {{"app", fmt::format("app{}", app)}};
  if (app % 4 == 0)
    x.anti_affinity = {{host_key, app_is(x.labels[0].second), {"shop"}, std::nullopt}};
  return api::make_ties(x);
}

base::ties_ptr ties_of_gang(bool has_terms) {
  api::pod_ties x;
  x.space = "shop";
  x.labels = {{"app", "train"}};
  if (has_terms) {
    x.anti_affinity = {{host_key, app_is("train"), {"shop"}, std::nullopt}};
    x.spread = {{1, "zone", app_is("train"), 1, true, true, false}};
  }
  return api::make_ties(x);
}

/// The cluster from above in three zones, with eight kinds of pods on every node.
struct tied_cluster : bench_cluster {
  explicit tied_cluster(int how_many) : bench_cluster(how_many) {
    std::vector<base::ties_ptr> kinds;
    for (int a = 0; a < apps; ++a)
      kinds.push_back(ties_of_app(a));
    std::sort(kinds.begin(), kinds.end(), [](auto& a, auto& b) { return a->id < b->id; });
    for (int i = 0; i < nodes; ++i) {
      api::class_terms labels;
      labels.labels = {{"pool", "gpu"}, {"zone", fmt::format("z{}", i % 3)}};
      auto x = state(i, api::make_class(labels));
      for (int k = i % 5; k < apps; k += 5)
        x.pods.push_back({kinds[static_cast<std::size_t>(k)], 2});
      view.upsert(x);
    }
    static_cast<void>(view.now());
  }
};

double once_tied_us(tied_cluster& cluster, const base::ties_ptr& ties, std::uint64_t round) {
  auto gang = gang_of(64, false, 0);
  for (auto& m : gang.members)
    m.ties = ties;
  const auto start = now_us();
  const auto found = plan(cluster.view.now(), gang, {}, cluster.memory);
  const auto end = now_us();
  const auto* p = std::get_if<placement::engine::placement>(&found);
  ensure(p != nullptr && p->seats.size() == gang.members.size(), round);
  std::vector<marked_seat> seats;
  for (const auto& s : p->seats)
    seats.push_back(
        {cluster.view.now().node(s.node).uid, gang.members[s.member].kind->takes, ties});
  cluster.view.mark({{"g"}, 1, {1}, round}, seats);
  if (round > 8)
    cluster.view.unmark({{"g"}, 1, {1}, round - 8});
  return end - start;
}

void print_tied(bool has_terms, int nodes, int rounds) {
  tied_cluster cluster{nodes};
  const auto ties = ties_of_gang(has_terms);
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i)
    if (const auto x = once_tied_us(cluster, ties, static_cast<std::uint64_t>(i) + 1); i >= 10)
      us.push_back(x);
  std::sort(us.begin(), us.end());
  const auto at = [&](double q) {
    return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))];
  };
  const auto limit = has_terms ? tied_bar_us : bar_us;
  fmt::print("{{\"area\":\"placement\",\"bar\":\"plan 64 on {} nodes, {}\",\"value\":{:.1f},"
             "\"unit\":\"us p99\",\"limit\":{:.0f},\"holds\":{},\"p50\":{:.1f}}}\n",
             nodes,
             has_terms ? "anti-affinity by host and spread over zones" : "beside pods with terms",
             at(0.99), limit, at(0.99) <= limit, at(0.5));
}

void print_lines(const bench::arguments& asked) {
  const floors least{asked.floors};
  const int rounds = asked.is_quick ? 200 : 2'000;
  for (int nodes : {1'000, 10'000})
    for (bool in_rack : {true, false})
      for (int members : {8, 256, 4096})
        // A thousand nodes are full after a few large gangs: there, nothing stays marked.
        print_case(
            {members, in_rack, nodes < 10'000 ? cache::known_shape : cache::one_rack_changed},
            nodes, rounds, least);

  for (auto before : {cache::one_rack_changed, cache::fresh_shape, cache::known_shape})
    for (bool in_rack : {true, false})
      for (int members : {8, 256, 4096})
        print_case({members, in_rack, before}, 50'000, rounds, least);

  for (bool in_rack : {true, false})
    for (int members : {8, 256, 4096})
      print_case({members, in_rack, cache::one_rack_changed}, 100'000, rounds, least);

  // What kube-scheduler's own benchmark does: 8 to 10 ms, 90 ms and 21 s there.
  print_case({3, false, cache::one_rack_changed, 50, 20}, 5'000, rounds, least);
  print_case({4, true, cache::one_rack_changed, 50, 30}, 5'000, rounds, least);
  print_case({1'000, true, cache::one_rack_changed, 50, 1'000}, 5'000, rounds, least);
  print_rate(10 * rounds);
  print_mixed(rounds);
  print_case({4'096, true, cache::known_shape, 250, 10}, 10'000, rounds, least); // refused
  print_event(10 * rounds);
  print_memory();

  for (bool has_terms : {true, false})
    print_tied(has_terms, 5'000, rounds);
}

void plan_gang(benchmark::State& state) {
  bench_cluster cluster{static_cast<int>(state.range(0))};
  const bench_case c{static_cast<int>(state.range(1)), state.range(2) != 0, cache::fresh_shape};
  std::uint64_t round = 0;
  for (auto _ : state)
    state.SetIterationTime(once_us(cluster, c, ++round) / 1e6);
  state.counters["floor_us"] = floor_us(static_cast<double>(state.range(0)), c.members);
}
BENCHMARK(plan_gang)
    ->ArgNames({"nodes", "members", "rack"})
    ->ArgsProduct({{1'000, 10'000, 50'000, 100'000}, {8, 256, 4096}, {0, 1}})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

} // namespace

int main(int argc, char** argv) {
  const bool wants_benchmark = std::any_of(
      argv + 1, argv + argc, [](const char* x) { return std::strncmp(x, "--benchmark", 11) == 0; });
  if (!wants_benchmark) {
    print_lines(bench::read_arguments(argc, argv, bench::takes::floors));
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
