// Properties of a ledger under any interleaving of promises, arrivals and departures.
#include "shards/node_ledger.hpp"

#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/shards/words.hpp"

namespace tutti::shards {
namespace {

using namespace words;

constexpr int node_cpus = 8;

/// A ledger beside the plainest possible account of the same story.
struct twin {
  node_ledger ledger{cpus(node_cpus)};
  std::map<std::string, std::int64_t> running;
  std::map<std::string, std::map<std::string, std::int64_t>> held; // gang → pod → cpus
  std::map<std::string, std::set<std::string>> victims;

  void take_back(const std::string& pod_name) {
    for (auto g = held.begin(); g != held.end();) {
      g->second.erase(pod_name);
      g = g->second.empty() ? held.erase(g) : std::next(g);
    }
  }

  std::int64_t plain_sum() const {
    auto all = running;
    for (const auto& [gang, pods] : held)
      for (const auto& [name, cpu] : pods)
        if (!running.contains(name))
          all[name] = std::max(all[name], cpu);
    std::int64_t out = 0;
    for (const auto& [name, cpu] : all)
      out += cpu;
    return out * 1000;
  }
  std::int64_t base_load() const { return ledger.sum().cpu_milli - ledger.credits().cpu_milli; }
  std::int64_t running_cpus() const {
    std::int64_t out = 0;
    for (const auto& [name, cpu] : running)
      out += cpu;
    return out;
  }

  /// Pods "p0".."p5" ask for a fixed number of CPUs each, so that retries ask for the same.
  static std::int64_t wants(int p) { return 1 + p % 3; }

  void hold(int gang, int first, int count, bool with_victim) {
    const auto who = attempt("g" + std::to_string(gang));
    std::vector<protocol::seat> seats;
    for (int p = first; p < first + count; ++p)
      if (const auto name = "p" + std::to_string(p % 6); !running.contains(name))
        seats.push_back(seat(name, "n", taking(wants(p % 6))));
    if (seats.empty() || held.contains(who.gang.value))
      return;
    std::vector<protocol::victim> named;
    if (with_victim && !running.empty())
      named.push_back(victim(running.begin()->first, "n"));
    const auto before = ledger.state_hash();
    if (ledger.hold(who, seats, named)) {
      RC_ASSERT(ledger.state_hash() == before);
      return;
    }
    for (const auto& s : seats)
      held[who.gang.value][s.pod.value] = s.takes.amounts.cpu_milli / 1000;
    for (const auto& v : named)
      victims[who.gang.value].insert(v.pod.value);
  }

  /// A gang that was promised a victim's room gives up only before any member is bound, as the
  /// coordinator does.
  void release(int gang) {
    const auto name = "g" + std::to_string(gang);
    ledger.release(attempt(name));
    held.erase(name);
  }
  void release_one(int gang, int p) {
    const auto name = "g" + std::to_string(gang);
    const auto who = "p" + std::to_string(p % 6);
    ledger.release(attempt(name), {pod(who)});
    if (auto g = held.find(name); g != held.end()) {
      g->second.erase(who);
      if (g->second.empty())
        held.erase(g);
    }
  }
  void bind(int gang, int p) {
    const auto name = "p" + std::to_string(p % 6);
    if (!ledger.may_bind(attempt("g" + std::to_string(gang)), pod(name)) || running.contains(name))
      return;
    ledger.bound(pod(name), taking(wants(p % 6)));
    running[name] = wants(p % 6);
    RC_ASSERT(running_cpus() <= node_cpus); // S1b
  }
  void leave(int nth) {
    if (running.empty())
      return;
    const auto name = std::next(running.begin(), nth % static_cast<int>(running.size()))->first;
    ledger.gone(pod(name));
    running.erase(name);
    take_back(name);
  }
};

int any(int below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, below));
}

RC_GTEST_PROP(NodeLedgerProperty, it_never_promises_more_than_there_is, ()) {
  twin t;
  for (int step = 20 + any(60); step > 0; --step) {
    const auto free_before = t.ledger.free().amounts.cpu_milli;
    const auto load_before = t.base_load();
    switch (any(6)) {
    case 0:
    case 1:
      t.hold(any(5), any(6), 1 + any(3), any(2) == 0);
      break;
    case 2:
      if (const auto g = any(5); !t.victims.contains("g" + std::to_string(g))) {
        t.release(g);
        RC_ASSERT(t.base_load() <= load_before);
        RC_ASSERT(t.ledger.free().amounts.cpu_milli >= free_before);
      }
      break;
    case 3:
      if (const auto g = any(5); !t.victims.contains("g" + std::to_string(g)))
        t.release_one(g, any(6));
      break;
    case 4:
      t.bind(any(5), any(6));
      break;
    case 5:
      t.leave(any(6));
      break;
    }
    RC_ASSERT(t.base_load() <= node_cpus * 1000); // S1a
    RC_ASSERT(t.ledger.sum().cpu_milli == t.plain_sum());
  }
}

RC_GTEST_PROP(NodeLedgerProperty, giving_up_before_binding_never_raises_the_load, ()) {
  twin t;
  for (int r = any(3); r >= 0; --r) {
    t.ledger.bound(pod("r" + std::to_string(r)), taking(2));
    t.running["r" + std::to_string(r)] = 2;
  }
  for (int step = 10 + any(30); step > 0; --step)
    t.hold(any(6), any(6), 1 + any(3), any(2) == 0);
  for (int step = 0; step < 30; ++step) {
    const auto load = t.base_load();
    const auto gang = any(6);
    if (any(2) == 0)
      t.release(gang);
    else
      t.release_one(gang, any(6));
    if (any(4) == 0)
      t.leave(any(6));
    RC_ASSERT(t.base_load() <= load);
    RC_ASSERT(t.base_load() <= node_cpus * 1000); // S1a
    RC_ASSERT(t.ledger.sum().cpu_milli == t.plain_sum());
  }
}

RC_GTEST_PROP(NodeLedgerProperty, what_was_let_go_leaves_no_trace, ()) {
  node_ledger empty{cpus(node_cpus)};
  twin t;
  for (int step = 10 + any(40); step > 0; --step)
    t.hold(any(5), any(6), 1 + any(3), false);
  for (int g = 0; g < 5; ++g)
    t.release(g);
  RC_ASSERT(t.ledger.state_hash() == empty.state_hash());
  RC_ASSERT(t.ledger.free().amounts == cpus(node_cpus));
}

} // namespace
} // namespace tutti::shards
