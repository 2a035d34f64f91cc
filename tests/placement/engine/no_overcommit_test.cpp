// Random small clusters and gangs against brute force: no plan over-commits, no "no" is wrong.
#include "tests/placement/engine/cluster.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tutti::placement::engine::testing {
namespace {

struct small_node {
  int rack, cpu, gpus, cpu_used;
};
struct small_pod {
  int group, cpu, gpus;
};
struct world {
  std::vector<small_node> nodes;
  std::vector<small_pod> pods;
  std::vector<int> minimum; // per group
  bool in_rack = false;
};

/// The most members that come together in `rack` (-1 = anywhere), all groups at their minimum; -1
/// if there is no such assignment. Tries every assignment.
int best_by_force(const world& w, int rack, bool emptied) {
  std::vector<int> cpu, gpus, got(w.minimum.size(), 0);
  for (const auto& n : w.nodes) {
    const bool is_in = rack < 0 || n.rack == rack;
    cpu.push_back(is_in ? n.cpu - (emptied ? 0 : n.cpu_used) : -1);
    gpus.push_back(is_in ? n.gpus : -1);
  }
  int best = -1;
  auto place = [&](auto& self, std::size_t k) -> void {
    if (k == w.pods.size()) {
      for (std::size_t g = 0; g < got.size(); ++g)
        if (got[g] < w.minimum[g])
          return;
      best = std::max(best, std::accumulate(got.begin(), got.end(), 0));
      return;
    }
    const auto& p = w.pods[k];
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      if (cpu[i] < p.cpu || gpus[i] < p.gpus)
        continue;
      cpu[i] -= p.cpu, gpus[i] -= p.gpus, ++got[static_cast<std::size_t>(p.group)];
      self(self, k + 1);
      cpu[i] += p.cpu, gpus[i] += p.gpus, --got[static_cast<std::size_t>(p.group)];
    }
    self(self, k + 1);
  };
  place(place, 0);
  return best;
}

int best_anywhere(const world& w, bool emptied = false) {
  if (!w.in_rack)
    return best_by_force(w, -1, emptied);
  int best = -1;
  for (int rack = 0; rack < 3; ++rack)
    best = std::max(best, best_by_force(w, rack, emptied));
  return best;
}

world any_world(bool equal, int groups) {
  using rc::gen::inRange;
  world w;
  const auto nodes = *inRange(1, 5);
  for (int i = 0; i < nodes; ++i) {
    const auto cpu = *inRange(1, 9);
    w.nodes.push_back({*inRange(0, 3), cpu, *inRange(0, 4), *inRange(0, cpu + 1)});
  }
  const auto pods = *inRange(groups, 6);
  const small_pod first{0, *inRange(1, 5), *inRange(0, 3)};
  std::vector<int> members(static_cast<std::size_t>(groups), 0);
  for (int i = 0; i < pods; ++i) {
    auto pod = equal ? first : small_pod{0, *inRange(1, 6), *inRange(0, 3)};
    pod.group = i < groups ? i : *inRange(0, groups);
    ++members[static_cast<std::size_t>(pod.group)];
    w.pods.push_back(pod);
  }
  for (auto n : members)
    w.minimum.push_back(*inRange(1, n + 1));
  w.in_rack = groups == 1 && *rc::gen::arbitrary<bool>();
  return w;
}

struct built {
  cluster c;
  gang_spec gang;
};

void build(const world& w, built& out) {
  int i = 0;
  for (const auto& n : w.nodes) {
    node_words words;
    words.name = "n" + std::to_string(i++);
    words.rack = "r" + std::to_string(n.rack);
    words.cpu = n.cpu;
    words.cpu_used = n.cpu_used;
    words.gpus = n.gpus;
    out.c.node(words);
  }
  for (std::size_t g = 0; g < w.minimum.size(); ++g)
    out.gang.groups.push_back({"g" + std::to_string(g), static_cast<std::uint32_t>(w.minimum[g]),
                               w.in_rack ? rack_key : ""});
  for (const auto& p : w.pods)
    out.gang.members.push_back({"pod",
                                static_cast<std::uint32_t>(p.group),
                                shape_of({.cpu = p.cpu, .gpus = p.gpus}),
                                member_spec::state::pending,
                                {}});
}

void check_seats(const world& w, built& b, const placement& got) {
  auto nodes = w.nodes;
  std::vector<int> placed(w.minimum.size(), 0);
  std::vector<bool> seen(w.pods.size(), false);
  int rack = -1;
  for (const auto& s : got.seats) {
    RC_ASSERT(!seen[s.member]);
    seen[s.member] = true;
    const auto number =
        static_cast<std::size_t>(std::stoi(b.c.view.now().node(s.node).name.value.substr(1)));
    auto& n = nodes[number];
    n.cpu_used += w.pods[s.member].cpu;
    n.gpus -= w.pods[s.member].gpus;
    RC_ASSERT(n.cpu_used <= n.cpu);
    RC_ASSERT(n.gpus >= 0);
    RC_ASSERT(!w.in_rack || rack < 0 || rack == n.rack);
    rack = n.rack;
    ++placed[static_cast<std::size_t>(w.pods[s.member].group)];
  }
  for (std::size_t g = 0; g < placed.size(); ++g)
    RC_ASSERT(placed[g] >= w.minimum[g]);
}

void check(const world& w, bool is_exact) {
  built b;
  build(w, b);
  const auto answer = b.c.ask(b.gang);
  const auto best = best_anywhere(w);
  if (const auto* got = std::get_if<placement>(&answer)) {
    check_seats(w, b, *got);
    RC_ASSERT(best >= static_cast<int>(got->seats.size()));
    if (is_exact)
      RC_ASSERT(best == static_cast<int>(got->seats.size()));
    return;
  }
  const auto& why = std::get<base::explanation>(answer);
  RC_ASSERT(best < 0);
  RC_ASSERT(why.primary != base::reason_code::undecided);
  RC_ASSERT((why.primary == base::reason_code::never_fits) == (best_anywhere(w, true) < 0));
  if (is_exact)
    RC_ASSERT(why.placed < why.wanted);
}

RC_GTEST_PROP(NoOvercommit, equal_members_are_placed_exactly_as_far_as_possible, ()) {
  check(any_world(true, 1), true);
}

RC_GTEST_PROP(NoOvercommit, mixed_members_are_placed_whenever_it_is_possible, ()) {
  check(any_world(false, 1), false);
}

RC_GTEST_PROP(NoOvercommit, several_groups_are_placed_whenever_it_is_possible, ()) {
  check(any_world(*rc::gen::arbitrary<bool>(), 2), false);
}

/// Members that are bound already: they count for the minimum, take no new room, and the rest must
/// come to their rack.
void check_beside_bound(world w, bool is_exact) {
  w.in_rack = true;
  const auto home =
      static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(w.nodes.size())));
  const auto bound = *rc::gen::inRange(1, 3);
  built b;
  build(w, b);
  const auto where = b.c.view.find(base::node_name{"n" + std::to_string(home)});
  RC_ASSERT(where.has_value());
  for (int i = 0; i < bound; ++i)
    b.gang.members.push_back(
        {"bound", 0, b.gang.members.front().kind, member_spec::state::bound, *where});
  b.gang.groups.front().min_count += static_cast<std::uint32_t>(*rc::gen::inRange(0, bound + 1));
  const auto still_needed = static_cast<int>(b.gang.groups.front().min_count) - bound;
  w.minimum.front() = std::max(0, still_needed);
  const auto rack = w.nodes[home].rack;
  const auto best = best_by_force(w, rack, false);
  const auto answer = b.c.ask(b.gang);
  if (const auto* got = std::get_if<placement>(&answer)) {
    check_seats(w, b, *got);
    for (const auto& s : got->seats) {
      const auto& name = b.c.view.now().node(s.node).name.value;
      RC_ASSERT(w.nodes[static_cast<std::size_t>(std::stoi(name.substr(1)))].rack == rack);
    }
    RC_ASSERT(best >= static_cast<int>(got->seats.size()));
    if (is_exact)
      RC_ASSERT(best == static_cast<int>(got->seats.size()));
    return;
  }
  RC_ASSERT(best <= 0); // 0: enough are bound, and nobody else fits
}

RC_GTEST_PROP(NoOvercommit, equal_members_join_their_bound_ones_as_far_as_possible, ()) {
  check_beside_bound(any_world(true, 1), true);
}

RC_GTEST_PROP(NoOvercommit, mixed_members_join_their_bound_ones_whenever_it_is_possible, ()) {
  check_beside_bound(any_world(false, 1), false);
}

RC_GTEST_PROP(NoOvercommit, one_plan_after_another_never_takes_more_than_there_is, ()) {
  built b;
  build(any_world(false, 1), b);
  for (std::uint64_t i = 0; i < 6; ++i) {
    built next;
    build(any_world(*rc::gen::arbitrary<bool>(), 1), next);
    const auto answer = b.c.ask(next.gang);
    const auto* got = std::get_if<placement>(&answer);
    if (!got)
      continue;
    std::vector<marked_seat> seats;
    for (const auto& s : got->seats)
      seats.push_back({b.c.view.now().node(s.node).uid, next.gang.members[s.member].kind->takes});
    b.c.view.mark({{"g"}, 1, {1}, i}, seats);
    for (const auto& block : b.c.view.now().blocks)
      for (const auto& c : block->free)
        for (auto amount : c)
          RC_ASSERT(amount >= 0);
  }
}

} // namespace
} // namespace tutti::placement::engine::testing
