// How long it takes to find whom a gang evicts, on full clusters of 100 to 5,000 nodes, and how
// many pods the own policy spares beside kube-scheduler's.
//
//   tutti_bench_preemption            JSON lines, 200 searches a case and 1,000 clusters
//   tutti_bench_preemption --quick    JSON lines, 20 searches a case and 100 clusters
#include <algorithm>
#include <ctime>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/random.hpp"
#include "bench/arguments.hpp"
#include "bench/json_line.hpp"
#include "placement/engine/capacity_view.hpp"
#include "placement/engine/victims.hpp"

namespace {

using namespace tutti;
using namespace tutti::placement::engine;

constexpr auto area = "preemption";
constexpr int high = 1000;
const base::symbol gpu_name{"nvidia.com/gpu"};

/// Processor time of this thread: on a shared machine the wall clock measures the neighbours.
double now_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

base::footprint takes_of(int gpus) {
  base::footprint x;
  x.amounts.cpu_milli = gpus * 4'000;
  x.amounts.memory_bytes = std::int64_t{gpus} << 35;
  x.amounts.pods = 1;
  x.amounts.set(gpu_name, gpus);
  return x;
}

/// A cluster of equal nodes in racks, and the units that run on it.
struct full_cluster {
  int gpus;
  std::vector<node_state> states;
  capacity_view view{{"rack"}};
  workspace memory;
  eviction_spec how;

  full_cluster(int nodes, int gpus_per_node, int nodes_per_rack) : gpus(gpus_per_node) {
    how.priority = high;
    api::class_terms plain;
    plain.labels = {{"pool", "gpu"}};
    const auto kind = api::make_class(plain);
    for (int i = 0; i < nodes; ++i) {
      node_state x;
      const auto name = fmt::format("n{:05}", i);
      x.info = std::make_shared<const node_info>(
          node_info{{"u" + name}, {name}, name, {fmt::format("r{:03}", i / nodes_per_rack)}, 1});
      x.kind = kind;
      x.allocatable = takes_of(gpus).amounts;
      x.allocatable.pods = 110;
      x.allocatable.ephemeral_bytes = std::int64_t{1} << 41;
      x.free = x.allocatable;
      states.push_back(x);
      view.upsert(x);
    }
  }

  int free_on(int node) const {
    return static_cast<int>(states[static_cast<std::size_t>(node)].free.of(gpu_name));
  }
  disruption_unit& unit(const std::string& name, int priority, const std::string& gang) {
    auto& u = how.units.emplace_back();
    u.name = name;
    u.gang = {gang};
    u.priority = priority;
    return u;
  }
  void put(disruption_unit& u, int node, int pod_gpus) {
    auto& x = states[static_cast<std::size_t>(node)];
    const auto takes = takes_of(pod_gpus);
    x.free -= takes.amounts;
    u.pods.push_back({{fmt::format("{}/{}", u.name, u.pods.size())},
                      *view.find(x.info->uid),
                      takes,
                      nullptr,
                      {}});
    u.is_group = u.pods.size() > 1;
  }
  void publish() {
    for (const auto& x : states)
      view.set_free(x.info->uid, x.free, x.ports, x.pods);
    static_cast<void>(view.now());
  }
};

gang_spec gang_of(int n, int gpus, bool in_rack) {
  const auto kind = api::make_shape({}, takes_of(gpus));
  gang_spec out;
  out.groups.push_back({"g", static_cast<std::uint32_t>(n), in_rack ? "rack" : ""});
  for (int i = 0; i < n; ++i)
    out.members.push_back({"", 0, kind, member_spec::state::pending, {}});
  return out;
}

struct timed {
  double ms = 0;
  eviction_answer found;
};
timed search(full_cluster& c, const gang_spec& what) {
  const auto& where = c.view.now();
  const auto start = now_ms();
  auto found = plan_with_victims(where, what, c.how, c.memory);
  return {now_ms() - start, std::move(found)};
}

std::size_t pods_of(const full_cluster& c, const std::vector<std::uint32_t>& units) {
  std::size_t out = 0;
  for (const auto u : units)
    out += c.how.units[u].pods.size();
  return out;
}

void print_ms(const std::string& what, std::vector<double> ms, double limit) {
  bench::print(bench::measured{area, what, bench::quantile(ms, 0.99), "ms p99", limit});
  bench::print(bench::fact{area, what + ", median", bench::quantile(std::move(ms), 0.5), "ms"});
}

/// Every node has ten lone pods; the gang wants every node whole.
void gang_of_100(int rounds) {
  std::vector<double> ms;
  for (int round = 0; round < rounds; ++round) {
    full_cluster c{100, 10, 25};
    base::random_stream dice{static_cast<std::uint64_t>(round), "lone pods"};
    for (int i = 0; i < 1000; ++i) {
      auto& u = c.unit(fmt::format("pod{}", i), static_cast<int>(dice.below(3)), {});
      u.work_lost = static_cast<std::int64_t>(dice.below(10'000));
      c.put(u, i / 10, 1);
    }
    c.publish();
    const auto got = search(c, gang_of(100, 10, false));
    const auto& e = std::get<eviction>(got.found);
    ensure(e.units.size() == 1000 && e.is_minimum, e.units.size(), e.is_minimum);
    ms.push_back(got.ms);
  }
  print_ms("100 nodes, a gang of 100 evicts 1,000 pods", std::move(ms), 10);
}

/// Gangs of ten are scattered over nodes of five; each of ten gangs takes ten nodes whole.
void ten_gangs(int rounds) {
  std::vector<double> ms;
  double proved = 0;
  double evicted = 0;
  for (int round = 0; round < rounds; ++round) {
    full_cluster c{100, 5, 25};
    base::random_stream dice{static_cast<std::uint64_t>(round), "gangs of ten"};
    std::vector<int> seats;
    for (int i = 0; i < 500; ++i)
      seats.push_back(i / 5);
    dice.shuffle(seats);
    for (int g = 0; g < 50; ++g) {
      auto& u = c.unit(fmt::format("low{}", g), 1, fmt::format("low{}", g));
      for (int k = 0; k < 10; ++k)
        c.put(u, seats[static_cast<std::size_t>(g * 10 + k)], 1);
    }
    c.publish();
    for (int g = 0; g < 10; ++g) {
      const auto got = search(c, gang_of(10, 5, false));
      ms.push_back(got.ms);
      const auto& e = std::get<eviction>(got.found);
      proved += e.is_minimum;
      evicted += static_cast<double>(pods_of(c, e.units));
      // The victims go, the gang comes; nobody may evict it.
      for (auto pos = e.units.rbegin(); pos != e.units.rend(); ++pos) {
        for (const auto& pod : c.how.units[*pos].pods)
          for (auto& x : c.states)
            if (x.info->uid == c.view.now().node(pod.node).uid)
              x.free += pod.takes.amounts;
        c.how.units.erase(c.how.units.begin() + *pos);
      }
      for (const auto& s : e.where.seats)
        for (auto& x : c.states)
          if (x.info->uid == c.view.now().node(s.node).uid)
            x.free -= takes_of(5).amounts;
      c.publish();
    }
  }
  print_ms("100 nodes, 10 gangs of 10 evict 50 gangs of 10, each", std::move(ms), 5);
  bench::print(
      bench::fact{area, "10 gangs of 10: proved to be the minimum", proved / rounds * 10, "%"});
  bench::print(bench::fact{area, "10 gangs of 10: pods evicted by all", evicted / rounds, "pods"});
}

/// Nodes of eight GPUs full of gangs of 8 to 64 pods, some of which go one by one, and of pods that
/// stand alone; one pod in twenty is of a higher priority.
full_cluster busy_cluster(int nodes, std::uint64_t seed, int gpus_of_higher) {
  full_cluster c{nodes, 8, 250};
  base::random_stream dice{seed, "busy"};
  int number = 0;
  for (int node = 0; node < nodes;) {
    const auto is_higher = static_cast<int>(dice.below(100)) < gpus_of_higher;
    const auto size = dice.chance(1, 4) ? 1 : 8 << dice.below(4);
    const auto priority = is_higher ? high + 1 : static_cast<int>(dice.below(3)) * 10;
    const bool is_single = dice.chance(1, 3);
    const auto name = fmt::format("gang{}", number++);
    for (int k = 0; k < size && node < nodes; ++k) {
      while (node < nodes && c.free_on(node) == 0)
        ++node;
      if (node == nodes)
        break;
      if (k == 0 || is_single)
        c.unit(fmt::format("{}-{}", name, k), priority, name).work_lost =
            static_cast<std::int64_t>(dice.below(100'000));
      c.put(c.how.units.back(), node, 1);
    }
  }
  std::erase_if(c.how.units, [](const auto& u) { return u.pods.empty(); });
  c.publish();
  return c;
}

void gang_of_1000(int nodes, bool in_rack, int rounds) {
  std::vector<double> ms;
  double proved = 0;
  const int clusters = std::max(rounds / 10, 2);
  for (int k = 0; k < clusters; ++k) {
    auto c = busy_cluster(nodes, static_cast<std::uint64_t>(k), 5);
    for (int i = 0; i < 10; ++i) {
      const auto got = search(c, gang_of(1000, 1, in_rack));
      proved += std::get<eviction>(got.found).is_minimum;
      ms.push_back(got.ms);
    }
  }
  const auto what = fmt::format("{} nodes full of gangs, a gang of 1,000{}", nodes,
                                in_rack ? " in a rack of 250" : "");
  bench::print(bench::fact{area, what + ", proved to be the minimum",
                           proved / static_cast<double>(ms.size()) * 100, "%"});
  print_ms(what, std::move(ms), nodes <= 1000 ? 30 : 100);
}

/// Members of two shapes, or tied to each other: sets of victims are tried by placing the gang.
void gang_that_is_not_counted(int nodes, bool is_tied, int rounds) {
  auto c = busy_cluster(nodes, 1, 5);
  auto gang = gang_of(64, 1, false);
  api::pod_ties ties;
  ties.space = "train";
  ties.labels = {{"app", "train"}};
  ties.anti_affinity = {{"rack",
                         {{{"app", api::label_requirement::operation::in, {"web"}}}, false},
                         {"shop"},
                         std::nullopt}};
  const auto small = api::make_shape({}, takes_of(1));
  const auto large = api::make_shape({}, takes_of(4));
  for (std::size_t i = 0; i < gang.members.size(); ++i) {
    gang.members[i].kind = is_tied || i % 2 == 0 ? small : large;
    if (is_tied)
      gang.members[i].ties = api::make_ties(ties);
  }
  std::vector<double> ms;
  for (int i = 0; i < rounds; ++i) {
    const auto got = search(c, gang);
    ensure(std::holds_alternative<eviction>(got.found), i);
    ms.push_back(got.ms);
  }
  bench::print(bench::fact{area,
                           fmt::format("{} nodes full of gangs, a gang of 64, {}, median", nodes,
                                       is_tied ? "with terms among pods" : "two shapes"),
                           bench::quantile(std::move(ms), 0.5), "ms"});
}

void hopeless(int rounds) {
  auto c = busy_cluster(5000, 1, 60);
  struct question {
    const char* what;
    gang_spec gang;
  };
  const question questions[] = {
      {"refused on 5,000 nodes: more than there is", gang_of(50'000, 1, false)},
      {"refused on 5,000 nodes: more than lower ones hold", gang_of(30'000, 1, false)},
      {"refused on 5,000 nodes: more than a rack has", gang_of(2'001, 1, true)},
  };
  for (const auto& q : questions) {
    std::vector<double> ms;
    for (int i = 0; i < rounds; ++i) {
      const auto got = search(c, q.gang);
      ensure(std::get<base::explanation>(got.found).primary
                 == base::reason_code::preemption_would_not_help,
             i);
      ms.push_back(got.ms);
    }
    print_ms(q.what, std::move(ms), 1);
  }
}

/// A random full cluster: nodes of 4 to 16 GPUs' worth of gangs and pods of all sizes.
full_cluster any_cluster(std::uint64_t seed, base::random_stream& dice) {
  const int nodes = 10 + static_cast<int>(dice.below(40));
  full_cluster c{nodes, 8, 10};
  for (int b = 0; b < 4; ++b)
    c.how.budgets.push_back({fmt::format("b{}", b), static_cast<std::int64_t>(dice.below(6))});
  for (int number = 0, misses = 0; misses < 50; ++number) {
    const auto size = dice.chance(1, 2) ? 1 : 2 + static_cast<int>(dice.below(7));
    const auto gpus = 1 << dice.below(3);
    const auto priority = dice.chance(1, 10) ? high + 1 : static_cast<int>(dice.below(3)) * 10;
    const bool is_single = dice.chance(1, 3);
    const bool has_budget = dice.chance(1, 4);
    const auto name = fmt::format("s{}-gang{}", seed, number);
    for (int k = 0; k < size; ++k) {
      const auto node = static_cast<int>(dice.below(static_cast<std::uint64_t>(nodes)));
      if (c.free_on(node) < gpus) {
        ++misses;
        continue;
      }
      if (k == 0 || is_single || c.how.units.empty() || c.how.units.back().gang.value != name)
        c.unit(fmt::format("{}-{}", name, k), priority, name).work_lost =
            static_cast<std::int64_t>(dice.below(100'000));
      c.put(c.how.units.back(), node, gpus);
      if (has_budget)
        c.how.units.back().pods.back().budgets.push_back(static_cast<std::uint32_t>(number % 4));
    }
  }
  c.publish();
  return c;
}

void beside_upstream(int clusters) {
  double own = 0, other = 0, proved = 0, answered = 0, more_violations = 0, bound = 0;
  std::vector<double> ms;
  base::random_stream dice{1, "beside upstream"};
  for (int i = 0; i < clusters; ++i) {
    auto c = any_cluster(static_cast<std::uint64_t>(i), dice);
    const auto gang =
        gang_of(1 + static_cast<int>(dice.below(12)), 1 << dice.below(4), dice.chance(1, 3));
    const auto mine = search(c, gang);
    c.how.policy = eviction_policy::upstream;
    const auto theirs = search(c, gang);
    const auto* a = std::get_if<eviction>(&mine.found);
    const auto* b = std::get_if<eviction>(&theirs.found);
    ensure((a == nullptr) == (b == nullptr), i);
    if (!a)
      continue;
    ++answered;
    ms.push_back(mine.ms);
    own += static_cast<double>(pods_of(c, a->units));
    other += static_cast<double>(pods_of(c, b->units));
    for (const auto& t : a->bound.terms)
      bound += t.name.starts_with("pods of priority") ? static_cast<double>(t.amount) : 0;
    proved += a->is_minimum;
    more_violations += a->cost.of("budget violations") > b->cost.of("budget violations");
    ensure(a->cost <= b->cost, i);
  }
  bench::print(bench::measured{area, "pods evicted on random full clusters, of upstream's",
                               own / other * 100, "%", 85});
  bench::print(bench::measured{area,
                               "random full clusters with more budget violations than upstream",
                               more_violations, "clusters", 0});
  bench::print(
      bench::fact{area, "random full clusters: answered with victims", answered, "clusters"});
  bench::print(bench::fact{area, "random full clusters: proved to be the minimum",
                           proved / answered * 100, "%"});
  bench::print(bench::fact{
      area, "random full clusters: pods that the bound proves to be needed, of those evicted",
      bound / own * 100, "%"});
  bench::print(bench::fact{area, "random full clusters: search, p99",
                           bench::quantile(std::move(ms), 0.99), "ms"});
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = bench::read_arguments(argc, argv, bench::takes::nothing_more);
  const int rounds = asked.is_quick ? 20 : 200;
  gang_of_100(rounds);
  ten_gangs(rounds / 10);
  for (const int nodes : {1'000, 5'000})
    for (const bool in_rack : {false, true})
      gang_of_1000(nodes, in_rack, rounds);
  for (const bool is_tied : {false, true})
    gang_that_is_not_counted(1'000, is_tied, 5);
  hopeless(rounds);
  beside_upstream(asked.is_quick ? 100 : 1'000);
  return 0;
}
