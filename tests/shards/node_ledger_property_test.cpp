// Properties of a ledger under any interleaving of promises, arrivals and departures.
#include "shards/node_ledger.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

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
  std::set<std::string> borrowing; ///< gangs that have named victims
  std::set<std::string> started;   ///< gangs of which a member was bound

  void end_empty() {
    for (auto g = held.begin(); g != held.end();) {
      if (!g->second.empty()) {
        ++g;
        continue;
      }
      borrowing.erase(g->first);
      started.erase(g->first);
      g = held.erase(g);
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
  std::string running_pod(int nth) const {
    return std::next(running.begin(), nth % static_cast<int>(running.size()))->first;
  }

  /// Pods "p0".."p5" ask for a fixed number of CPUs each, so that retries ask for the same.
  static std::int64_t wants(int p) { return 1 + p % 3; }

  struct asked {
    int gang;
    int first;
    int count;
    std::vector<int> victims; ///< the n-th of those that run
  };
  void hold(const asked& x) {
    const auto who = attempt("g" + std::to_string(x.gang));
    std::vector<protocol::seat> seats;
    for (int p = x.first; p < x.first + x.count; ++p)
      if (const auto name = "p" + std::to_string(p % 6); !running.contains(name))
        seats.push_back(seat(name, "n", taking(wants(p % 6))));
    if (seats.empty() || held.contains(who.gang.value))
      return;
    std::vector<protocol::victim> named;
    for (const auto nth : x.victims)
      if (!running.empty())
        named.push_back(victim(running_pod(nth), "n"));
    const auto before = ledger.state_hash();
    if (ledger.hold(who, seats, named)) {
      RC_ASSERT(ledger.state_hash() == before);
      return;
    }
    for (const auto& s : seats)
      held[who.gang.value][s.pod.value] = s.takes.amounts.cpu_milli / 1000;
    if (!named.empty())
      borrowing.insert(who.gang.value);
  }

  /// A gang that was promised a victim's room is given up whole only before any member is bound, as
  /// the coordinator does.
  void release(int gang) {
    const auto name = "g" + std::to_string(gang);
    if (borrowing.contains(name) && started.contains(name))
      return;
    ledger.release(attempt(name));
    held[name].clear();
    end_empty();
  }
  /// Single members are released if they are not bound, whoever else is.
  void release_one(int gang, int p) {
    const auto name = "g" + std::to_string(gang);
    const auto who = "p" + std::to_string(p % 6);
    if (running.contains(who))
      return;
    ledger.release(attempt(name), {pod(who)});
    held[name].erase(who);
    end_empty();
  }
  void bind(int gang, int p) {
    const auto name = "p" + std::to_string(p % 6);
    if (!ledger.may_bind(attempt("g" + std::to_string(gang)), pod(name)) || running.contains(name))
      return;
    ledger.bound(pod(name), taking(wants(p % 6)));
    running[name] = wants(p % 6);
    for (const auto& [holder, pods] : held)
      if (pods.contains(name))
        started.insert(holder);
    RC_ASSERT(running_cpus() <= node_cpus); // S1b
  }
  void leave(int nth) {
    if (running.empty())
      return;
    const auto name = running_pod(nth);
    ledger.gone(pod(name));
    running.erase(name);
    for (auto& [gang, pods] : held)
      pods.erase(name);
    end_empty();
  }
};

int any(int below) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, below));
}

/// Braces, so that every compiler draws in the same order.
twin::asked any_gang(int gangs) {
  twin::asked out{any(gangs), any(6), 1 + any(3), {}};
  for (int victims = std::max(0, any(4) - 1); victims > 0; --victims)
    out.victims.push_back(any(6));
  return out;
}

RC_GTEST_PROP(NodeLedgerProperty, it_never_promises_more_than_there_is, ()) {
  twin t;
  for (int step = 20 + any(60); step > 0; --step) {
    const auto free_before = t.ledger.free().amounts.cpu_milli;
    const auto load_before = t.base_load();
    const int gang = any(5);
    switch (any(6)) {
    case 0:
    case 1:
      t.hold(any_gang(5));
      break;
    case 2:
      t.release(gang);
      RC_ASSERT(t.base_load() <= load_before);
      RC_ASSERT(t.ledger.free().amounts.cpu_milli >= free_before);
      break;
    case 3:
      t.release_one(gang, any(6));
      RC_ASSERT(t.base_load() <= load_before);
      RC_ASSERT(t.ledger.free().amounts.cpu_milli >= free_before);
      break;
    case 4:
      t.bind(gang, any(6));
      RC_ASSERT(t.base_load() <= load_before);
      break;
    case 5:
      t.leave(any(6));
      RC_ASSERT(t.base_load() <= load_before);
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
    t.hold(any_gang(6));
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
    t.hold({any(5), any(6), 1 + any(3), {}});
  for (int g = 0; g < 5; ++g)
    t.release(g);
  RC_ASSERT(t.ledger.state_hash() == empty.state_hash());
  RC_ASSERT(t.ledger.free().amounts == cpus(node_cpus));
}

} // namespace
} // namespace tutti::shards
