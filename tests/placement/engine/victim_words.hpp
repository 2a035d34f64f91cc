// Words for clusters that are full: `c.runs("low", 10, {{"n1", {.cpu = 3}}})`, and who must go.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "placement/engine/victims.hpp"
#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine::testing {

/// A running pod of a unit.
struct running_words {
  std::string node;
  pod_words like = {};
  base::ties_ptr ties = nullptr;
  std::vector<std::uint32_t> budgets = {};
};

/// A cluster in which units run.
struct full_cluster : cluster {
  eviction_spec how;
  std::map<std::string, node_state> states;

  full_cluster() { how.priority = 100; }

  void node(const node_words& x) {
    states[x.name] = state_of(x);
    view.upsert(states[x.name]);
  }
  void nodes(const std::string& prefix, int n, node_words like) {
    for (int i = 1; i <= n; ++i) {
      like.name = prefix + std::to_string(i);
      node(like);
    }
  }
  /// A unit that may go whole. Returns it, to say more of it; good until the next.
  disruption_unit& runs(const std::string& name, std::int32_t priority,
                        const std::vector<running_words>& pods, const std::string& gang = {}) {
    disruption_unit u;
    u.name = name;
    u.gang = {gang.empty() ? "gang of " + name : gang};
    u.is_group = pods.size() > 1;
    u.priority = priority;
    for (const auto& p : pods) {
      const auto takes = shape_of(p.like)->takes;
      auto& x = states.at(p.node);
      x.free -= takes.amounts;
      x.ports.insert(x.ports.end(), takes.ports.begin(), takes.ports.end());
      if (p.ties)
        add_ties(x, p.ties);
      view.upsert(x);
      u.pods.push_back(
          {{name + "/" + std::to_string(u.pods.size())}, {}, takes, p.ties, p.budgets});
      u.pods.back().node = at(p.node);
    }
    how.units.push_back(std::move(u));
    return how.units.back();
  }
  std::uint32_t budget(std::int64_t allowed) {
    how.budgets.push_back({"budget" + std::to_string(how.budgets.size()), allowed});
    return static_cast<std::uint32_t>(how.budgets.size() - 1);
  }

  eviction_answer evict(const gang_spec& what) {
    how.bounds = bounds;
    return plan_with_victims(view.now(), what, how, memory);
  }
  eviction_answer evict(const gang_spec& what, eviction_policy policy) {
    how.policy = policy;
    return evict(what);
  }
  /// Names of the units that must go; {"refused"} if evicting does not help.
  std::set<std::string> victims(const gang_spec& what) {
    const auto got = evict(what);
    const auto* e = std::get_if<eviction>(&got);
    if (!e)
      return {"refused"};
    std::set<std::string> out;
    for (const auto u : e->units)
      out.insert(how.units[u].name);
    return out;
  }
  std::set<std::string> victims(const gang_spec& what, eviction_policy policy) {
    how.policy = policy;
    return victims(what);
  }

private:
  static void add_ties(node_state& x, const base::ties_ptr& ties) {
    for (auto& p : x.pods)
      if (p.kind->id == ties->id) {
        ++p.count;
        return;
      }
    x.pods.push_back({ties, 1});
    std::sort(x.pods.begin(), x.pods.end(),
              [](const auto& a, const auto& b) { return a.kind->id < b.kind->id; });
  }
};

using names = std::set<std::string>;

} // namespace tutti::placement::engine::testing
