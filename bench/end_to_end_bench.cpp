// How fast a whole cluster of gangs is bound, HTTP bytes and both stores included: 5,000 nodes,
// 3,000 gangs of 3 and 6 of 1,000, all applied before the scheduler starts.
//
//   tutti_bench_end_to_end            the whole
//   tutti_bench_end_to_end --quick    600 gangs of 3 and 1 of 1,000
//
// The clock runs from the start of the scheduler (it has to list everything first), and once more
// from its first attempt, until the last gang has ended as bound: every Binding is durable in the
// API server and answered, and the end of every gang is durable in the scheduler's store.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include "bench/arguments.hpp"
#include "bench/embedded.hpp"
#include "bench/json_line.hpp"
#include "bench/proc.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;
using namespace std::chrono_literals;

constexpr int nodes = 5'000;
constexpr double pods_per_second_bar = 5'000;
constexpr double syncs_per_gang_bar = 2;
constexpr auto patience = 120s;
constexpr std::size_t all_notes = 1'000'000;

struct wave {
  int small = 3'000; ///< gangs of 3
  int large = 6;     ///< gangs of 1,000

  int gangs() const { return small + large; }
  int pods() const { return 3 * small + 1'000 * large; }
};

double seconds(base::duration d) {
  return std::chrono::duration<double>(d).count();
}

objects gangs_of(const wave& w) {
  objects out;
  for (int i = 0; i < w.large; ++i)
    add_gang(out, {fmt::format("large-{}", i), 1'000});
  for (int i = 0; i < w.small; ++i)
    add_gang(out, {fmt::format("small-{:04}", i), 3});
  return out;
}

std::uint64_t ended(embedded& all) {
  const auto counts = all.scheduler().notes().counts();
  const auto pos = counts.find("gang.over");
  return pos == counts.end() ? 0 : pos->second;
}

void wait_for_ended(embedded& all, std::uint64_t gangs, std::chrono::microseconds pause) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (ended(all) < gangs) {
    if (std::chrono::steady_clock::now() > until)
      fail(fmt::format("only {} of {} gangs have ended", ended(all), gangs));
    std::this_thread::sleep_for(pause);
  }
}

/// When what happened, from the flight recorder.
struct story {
  base::time_point first_try = base::time_point::max();
  base::time_point last_end = base::time_point::min();
  std::vector<double> ms_per_gang; ///< from an attempt to its end

  explicit story(embedded& all) {
    std::map<std::string, base::time_point> tried;
    for (const auto& r : all.scheduler().notes().last(all_notes)) {
      const auto& gang = r.fields.empty() ? std::string{} : text_of(r.fields.front().second);
      if (r.what == "queue.tried") {
        first_try = std::min(first_try, r.at);
        tried.emplace(gang, r.at);
      } else if (r.what == "gang.over") {
        last_end = std::max(last_end, r.at);
        ms_per_gang.push_back(1'000 * seconds(r.at - tried.at(gang)));
      }
    }
  }

private:
  static const std::string& text_of(const protocol::note::value& x) {
    static const std::string none;
    const auto* text = std::get_if<std::string>(&x);
    return text == nullptr ? none : *text;
  }
};

/// Every pod is bound, once, and no node has more than it may: read from the API server.
void check_bound(embedded& all, int pods) {
  std::map<std::string, std::int64_t, std::less<>> used;
  int bound = 0;
  for (const auto& x : all.list("/api/v1/pods")) {
    const auto* node = x.as_object().at("spec").as_object().if_contains("nodeName");
    if (node == nullptr)
      continue;
    ++bound;
    ++used[std::string{node->as_string()}]; // each asks for one CPU
  }
  if (bound != pods)
    fail(fmt::format("{} of {} pods are bound, although all fit", bound, pods));
  for (const auto& [node, cpus] : used)
    if (cpus > cpus_per_node)
      fail(fmt::format("node {} has {} CPUs and pods for {}", node, cpus_per_node, cpus));
  if (const auto got = all.list("/api/v1/nodes").size(); got != nodes)
    fail(fmt::format("{} of {} nodes are there", got, nodes));
}

void print_costs(embedded& all, const wave& w, const std::map<std::string, double>& before,
                 const std::map<std::string, std::uint64_t, std::less<>>& asked_before) {
  for (auto [name, used] : processor_seconds()) {
    if (const auto pos = before.find(name); pos != before.end())
      used -= pos->second;
    if (used >= 0.01)
      print(fact{"end_to_end", "processor time of " + name, used, "s"});
  }
  for (auto [what, n] : all.api().requests()) {
    if (const auto pos = asked_before.find(what); pos != asked_before.end())
      n -= pos->second;
    if (n > 0)
      print(fact{"end_to_end", "requests: " + what, static_cast<double>(n), "requests"});
  }
  const auto counted = all.store().counted();
  print(fact{"end_to_end", "store records per gang",
             static_cast<double>(counted.records) / w.gangs(), "records"});
  print(fact{"end_to_end", "store bytes per pod", static_cast<double>(counted.bytes) / w.pods(),
             "bytes"});
}

/// All gangs wait when the scheduler starts.
bool run_wave(embedded& all, const wave& w) {
  all.apply(make_nodes(0, nodes));
  all.apply(gangs_of(w));
  const auto before = processor_seconds();
  const auto asked_before = all.api().requests();
  const auto start = all.clock().now();
  all.start_scheduler();
  wait_for_ended(all, static_cast<std::uint64_t>(w.gangs()), 5ms);
  const auto syncs = static_cast<double>(all.store().counted().syncs);
  const story told{all};
  const auto whole = seconds(told.last_end - start);
  const auto binding = seconds(told.last_end - told.first_try);
  bool holds =
      print(measured{"end_to_end", "pods bound per second, from the start of the scheduler",
                     w.pods() / whole, "pods/s", pods_per_second_bar, bar_kind::at_least});
  holds &= print(measured{"end_to_end", "pods bound per second, from the first attempt",
                          w.pods() / binding, "pods/s", pods_per_second_bar, bar_kind::at_least});
  holds &= print(measured{"end_to_end", "syncs of the scheduler's store per gang",
                          syncs / w.gangs(), "syncs", syncs_per_gang_bar});
  print(fact{"end_to_end", "start to first attempt", whole - binding, "s"});
  print(fact{"end_to_end", "first attempt to last end", binding, "s"});
  print(fact{"end_to_end", "attempt to end, p50", quantile(told.ms_per_gang, 0.5), "ms"});
  print(fact{"end_to_end", "attempt to end, p99", quantile(told.ms_per_gang, 0.99), "ms"});
  print_costs(all, w, before, asked_before);
  check_bound(all, w.pods());
  return holds;
}

/// One gang of 3 at a time on the same cluster: from before it is applied until it has ended.
void run_one_by_one(embedded& all, int gangs) {
  std::vector<double> ms;
  for (int i = 0; i < gangs; ++i) {
    const auto before = ended(all);
    objects one;
    add_gang(one, {fmt::format("single-{:03}", i), 3});
    const auto start = all.clock().now();
    all.apply(std::move(one));
    wait_for_ended(all, before + 1, 200us);
    ms.push_back(1'000 * seconds(all.clock().now() - start));
  }
  print(fact{"end_to_end", "one gang of 3 alone, applied to ended, p50", quantile(ms, 0.5), "ms"});
  print(fact{"end_to_end", "one gang of 3 alone, applied to ended, p99", quantile(ms, 0.99), "ms"});
}

} // namespace

int main(int argc, char** argv) {
  const auto asked = read_arguments(argc, argv, takes::nothing_more);
  const auto w = asked.is_quick ? wave{600, 1} : wave{};
  constexpr int singles = 100;
  embedded all{{}};
  run_wave(all, w);
  run_one_by_one(all, singles);
  check_bound(all, w.pods() + 3 * singles);
  all.stop_scheduler();
  return 0;
}
