#include "chaos/outage.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/random.hpp"
#include "chaos/decision_reading.hpp"
#include "chaos/nemesis.hpp"
#include "chaos/run.hpp"
#include "sim/world/dice.hpp"

namespace tutti::chaos {

namespace {

using namespace std::chrono_literals;
using pairs = std::map<std::string, std::string>;

constexpr int nodes = 8;
constexpr int racks = 4;
constexpr auto first_gang = 2s;
constexpr auto gang_interval = 200ms;
constexpr auto last_gang = 60s;
/// By then every process, watch and lease is at rest, and gangs are decided as they come.
constexpr auto fault_at = 10s;
/// Spread over what comes round at regular times: gangs, ticks, renewals of leases.
constexpr auto fault_within = 5s;
/// Longer than what any fault here lasts.
constexpr auto until = 150s;

/// Hears every decision of a world the moment it is durable.
class decision_clock final : public sim::observer {
public:
  explicit decision_clock(sim::world& on) : on_(on) {}

  void gang_came(const std::string& name) { came_[name] = on_.time().now(); }
  /// Who was decided before it has not waited for it.
  void fault_comes() { longest_wait_ = {}; }
  const std::vector<base::time_point>& decisions() const { return decisions_; }
  base::duration longest_wait() const { return longest_wait_; }
  std::uint64_t undecided() const { return came_.size(); }

  void durable(sim::process&, const persistence::batch& written) override {
    for (const auto& p : written.puts)
      if (p.where == persistence::family::decisions)
        take(decision_in(p.key, p.value));
  }
  void api_turned() override {
    objects_.follow(on_.api().plane().objects(),
                    [this](const protocol::decision& x, bool) { take(x); });
  }
  void stepped(sim::process&, const protocol::address&, const protocol::event&,
               const protocol::effects&) override {}
  void arrives(std::string_view, const protocol::http_request&) override {}
  void began(sim::process&) override {}
  void ended(sim::process&, std::string_view) override {}

private:
  void take(const protocol::decision& x) {
    if (x.what != protocol::verdict::committed || !slots_.insert(base::slot_of(x.by)).second)
      return;
    const auto now = on_.time().now();
    decisions_.push_back(now);
    if (const auto pos = came_.find(x.gang_name.name); pos != came_.end()) {
      longest_wait_ = std::max(longest_wait_, now - pos->second);
      came_.erase(pos);
    }
  }

  sim::world& on_;
  decision_objects_reader objects_;
  std::set<base::slot_id> slots_;
  std::map<std::string, base::time_point> came_; ///< gangs that have no decision yet
  std::vector<base::time_point> decisions_;
  base::duration longest_wait_{};
};

/// The longest time in [from, to] in which nobody decided.
base::duration longest_silence(const std::vector<base::time_point>& decisions,
                               base::time_point from, base::time_point to) {
  base::duration longest{};
  auto last = from;
  for (const auto at : decisions) {
    if (at < from)
      continue;
    if (at > to)
      break;
    longest = std::max(longest, at - last);
    last = at;
  }
  return std::max(longest, to - last);
}

/// A burst that is far more than what is tried at once, if the window is 1.
constexpr int gangs_of_a_burst = 100;

/// What fails, and what a gang may have to wait at worst: where one process does all, and where
/// several share the shards. What a process that is gone held is taken over when its Lease has run
/// out and been seen to (15 s and a look); one that comes back waits for its own former Lease.
struct limits {
  base::duration alone;
  base::duration shared;
};
constexpr limits not_at_all{100ms, 100ms};
constexpr limits for_a_moment{500ms, 500ms};
constexpr limits until_up_again{1s, 12s};
constexpr limits until_taken_over{20s, 20s};

class listing {
public:
  explicit listing(std::uint32_t replicas) : has_several_(replicas > 1) {}

  void add(std::string name, limits limit, std::string what, std::string target, pairs with = {}) {
    const auto* kind = find_kind(what);
    ensure(kind != nullptr, what);
    // Some actions stand for several faults: the first is the usual one.
    add(std::move(name), limit, kind->fault.substr(0, kind->fault.find(' ')), std::move(what),
        std::move(target), std::move(with));
  }
  void add(std::string name, limits limit, std::string_view fault, std::string what,
           std::string target, pairs with) {
    add(std::move(name), limit, fault,
        {{0ms, std::move(what), std::move(target), std::move(with)}});
  }
  void add(std::string name, limits limit, std::string_view fault, std::vector<action> actions,
           std::uint32_t window = 0) {
    out_.push_back({std::move(name), std::string{fault}, has_several_ ? limit.shared : limit.alone,
                    std::move(actions), window});
  }
  std::vector<outage_case> take() { return std::move(out_); }

private:
  const bool has_several_;
  std::vector<outage_case> out_;
};

constexpr auto victim = "scheduler-0";

void add_of_process(listing& to) {
  to.add("process killed, up again after 0.5 s", until_up_again, "crash", victim,
         {{"kept", "0"}, {"down", "500ms"}});
  to.add("process killed when a decision is written", until_up_again, "crash_at", victim,
         {{"row", "C4"}, {"pass", "1"}, {"kept", "0"}});
  to.add("process killed, its disk lost", until_up_again, "F13", "crash", victim,
         {{"kept", "0"}, {"down", "500ms"}, {"disk", "lost"}});
  to.add("process ends in order, up again after 0.5 s", {1s, 8s}, "restart", victim,
         {{"down", "500ms"}});
  to.add("process stands still for 3 s", {3500ms, 3500ms}, "pause", victim, {{"for", "3s"}});
  to.add("process stands still for 20 s", {20500ms, 21s}, "pause", victim, {{"for", "20s"}});
  for (const auto* role :
       {"queue", "topology", "mirror", "binder", "status", "shard(0)", "partition(0)"})
    to.add(fmt::format("actor dies: {}", role), for_a_moment, "kill_actor", victim,
           {{"role", role}});
  to.add("wall clock jumps by 3 h", not_at_all, "clock", victim, {{"by", "3h"}});
  to.add("a sync fails", until_up_again, "sync_fails", victim);
  to.add("every sync takes 0.5 s, for 5 s", {1100ms, 1100ms}, "slow_disk", victim,
         {{"for", "5s"}, {"sync", "500ms"}});
  // Shards of one among several keep nothing on their disk.
  to.add("no space on the disk for 5 s", {7s, 100ms}, "disk_full", victim, {{"for", "5s"}});
  to.add("no way to the API server for 5 s", {5500ms, 6s}, "cut_off", victim, {{"for", "5s"}});
}

void add_of_api_server(listing& to) {
  for (const auto* answer : {"503", "429"})
    to.add(fmt::format("Bindings answered {} for 5 s", answer), not_at_all, "api_down", "bind",
           {{"for", "5s"}, {"becomes", answer}});
  to.add("Bindings answered 409 for 5 s", not_at_all, "F15", "api_down", "bind",
         {{"for", "5s"}, {"becomes", "409"}});
  to.add("Bindings served for 5 s, and the answers lost", not_at_all, "F18", "api_down", "bind",
         {{"for", "5s"}, {"becomes", "applied_lost"}});
  to.add("every event of pods comes twice, for 10 s", not_at_all, "watch_twice", "pods",
         {{"for", "10s"}});
  for (const auto* what : {"pods", "nodes", "podgroups"})
    to.add(fmt::format("watch of {} breaks", what), for_a_moment, "watch_cut", what);
  // A list that fails is asked for again after up to twice the time that it has failed for.
  to.add("watch of pods expired (410) for 5 s", {11s, 13s}, "watch_expired", "pods",
         {{"for", "5s"}});
  to.add("watch of pods silent for 15 s", {15500ms, 15500ms}, "watch_stall", "pods",
         {{"for", "15s"}});
}

/// The process has a disk of which it makes use, and frames between roles stay inside.
void add_of_one(listing& to) {
  to.add("a record on the disk is damaged", until_up_again, "F12", "corrupt", victim,
         {{"nth", "3"}, {"down", "500ms"}});
  to.add("20 PREPAREs heard again, 1 s later", not_at_all, "F2 F3", "late", victim,
         {{"nth", "1"}, {"count", "20"}, {"message", "prepare"}, {"by", "1s"}});
}

void add_of_cluster(listing& to) {
  to.add("a node is lost", for_a_moment, "node_gone", "n0");
  std::vector<action> burst;
  for (int n = 0; n < gangs_of_a_burst; ++n)
    burst.push_back(
        {0ms, "gang", fmt::format("burst{}", n), {{"members", "2"}, {"min", "2"}, {"cpu", "1"}}});
  to.add("100 gangs at once, tried one at a time", {2s, 15s}, "F27", std::move(burst), 1);
}

/// What one process says to another: not told again before a timeout.
void add_of_frames(listing& to) {
  const auto add = [&](std::string name, limits limit, std::string_view fault, const char* fate,
                       const char* by) {
    to.add(std::move(name), limit, fault, "link", victim,
           {{"nth", "1"}, {"count", "50"}, {"fate", fate}, {"by", by}});
  };
  add("50 frames to a process are lost", {5s, 5s}, "F1", "lost", "0s");
  add("50 frames to a process come twice", not_at_all, "F2", "twice", "0s");
  add("50 frames to a process come 2 s late", {5s, 5s}, "F3", "late", "2s");
}

void add_of_replicas(listing& to) {
  to.add("a process is killed, and stays down", until_taken_over, "crash", victim,
         {{"kept", "0"}, {"down", "60s"}});
  to.add("a process is not heard by another for 5 s", for_a_moment, "link_cut", "scheduler-1",
         {{"from", victim}, {"for", "5s"}});
  to.add("no way from one to the API server for 30 s", until_taken_over, "cut_off", victim,
         {{"for", "30s"}});
  to.add("decisions answered 503 for 5 s", {10s, 10s}, "api_down", "decide",
         {{"for", "5s"}, {"becomes", "503"}});
  std::vector<action> all;
  for (int n = 0; n < 3; ++n)
    all.push_back(
        {0ms, "crash", fmt::format("scheduler-{}", n), {{"kept", "0"}, {"down", "500ms"}}});
  to.add("all processes killed, up again after 0.5 s", until_up_again, "F7", std::move(all));
}

} // namespace

std::vector<outage_case> outage_cases(std::uint32_t replicas) {
  listing out{replicas};
  out.add("nothing fails", not_at_all, "", std::vector<action>{});
  add_of_process(out);
  add_of_api_server(out);
  add_of_cluster(out);
  if (replicas > 1) {
    add_of_frames(out);
    add_of_replicas(out);
  } else {
    add_of_one(out);
  }
  return out.take();
}

schedule outage_schedule(const outage_case& what, const outage_options& how, std::uint64_t seed) {
  schedule out;
  out.seed = seed;
  out.shards = racks;
  out.replicas = how.replicas;
  out.log_is_objects = how.replicas > 1;
  out.fast_path = how.replicas == 1;
  out.window = what.window;
  out.faults_until = until;
  out.until = until;
  for (int n = 0; n < nodes; ++n)
    out.actions.push_back({0s,
                           "node",
                           fmt::format("n{}", n),
                           {{"cpu", "1000"}, {"rack", fmt::format("r{}", n % racks)}}});
  int g = 0;
  for (base::duration at = first_gang; at < last_gang; at += gang_interval)
    out.actions.push_back(
        {at, "gang", fmt::format("g{}", g++), {{"members", "2"}, {"min", "2"}, {"cpu", "1"}}});
  base::random_stream own{seed, "outage"};
  const auto at = fault_at + sim::draw(own, 0ms, fault_within);
  for (auto x : what.actions) {
    x.at += at;
    out.actions.push_back(std::move(x));
  }
  std::stable_sort(out.actions.begin(), out.actions.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return out;
}

outage_row measure_outage(const outage_case& what, const outage_options& how) {
  outage_row out{.name = what.name, .fault = what.fault, .limit = what.limit};
  std::vector<base::duration> silences;
  for (std::uint64_t n = 0; n < how.runs; ++n) {
    const auto x = outage_schedule(what, how, how.first_seed + n);
    sim::world on{world_of(x)};
    decision_clock clock{on};
    on.add(clock);
    nemesis does{on, x};
    auto fault = base::time_point{} + fault_at;
    on.time().at(fault, [&] { clock.fault_comes(); }); // what starting took is not counted
    does.tells([&](const action& a, nemesis::moment when) {
      if (when != nemesis::moment::comes)
        return;
      if (a.what == "gang")
        clock.gang_came(a.target);
      else if (a.what != "node") {
        fault = on.time().now();
        clock.fault_comes();
      }
    });
    on.add(does);
    on.start();
    on.run_until(base::time_point{} + x.until, [] { return false; });
    const auto end = base::time_point{} + last_gang;
    silences.push_back(longest_silence(clock.decisions(), fault, end));
    out.wait = std::max(out.wait, clock.longest_wait());
    out.undecided += clock.undecided();
    out.gangs += clock.decisions().size() + clock.undecided();
  }
  std::sort(silences.begin(), silences.end());
  out.silence = silences.back();
  out.usual_silence = silences[silences.size() / 2];
  return out;
}

} // namespace tutti::chaos
