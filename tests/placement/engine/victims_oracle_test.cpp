// Small full clusters, every set of victims and every assignment tried: what the engine says of
// them must be so. Of what it counts and bounds, the oracle shares nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <optional>
#include <sstream>

#include "base/random.hpp"
#include "placement/engine/victim_bounds.hpp"
#include "placement/engine/victim_exact.hpp"
#include "tests/placement/engine/victim_words.hpp"

namespace tutti::placement::engine::testing {
namespace {

/// One question in plain numbers. Amounts: cores and GPUs.
struct instance {
  struct node {
    int rack, cpu, gpus, cpu_used;
  };
  struct pod {
    int node, cpu, gpus, budget;
    bool is_shy; ///< keeps away from members, and they from it
  };
  struct unit {
    int priority, gang, work;
    bool is_exempt;
    std::vector<pod> pods;
  };
  struct member {
    int group, cpu, gpus;
  };
  std::vector<node> nodes;
  std::vector<unit> units;
  std::vector<int> budgets;
  std::vector<member> members;
  std::vector<int> minimum;
  bool in_rack = false;
  bool is_tied = false;
  bool members_are_apart = false;
};
constexpr int gang_priority = 50;

using cost = std::vector<std::int64_t>;

/// docs/internals/victims.md, read anew.
cost cost_of(const instance& in, unsigned set) {
  cost out{0};
  std::vector<int> used(in.budgets.size(), 0);
  std::vector<std::int64_t> by_priority(gang_priority, 0);
  std::set<int> gangs;
  std::int64_t work = 0, pods = 0;
  for (std::size_t u = 0; u < in.units.size(); ++u) {
    if (!(set >> u & 1))
      continue;
    const auto& unit = in.units[u];
    for (const auto& p : unit.pods)
      if (p.budget >= 0)
        ++used[static_cast<std::size_t>(p.budget)];
    by_priority[static_cast<std::size_t>(gang_priority - 1 - unit.priority)] +=
        static_cast<std::int64_t>(unit.pods.size());
    gangs.insert(unit.gang);
    work += unit.work;
    pods += static_cast<std::int64_t>(unit.pods.size());
  }
  for (std::size_t b = 0; b < used.size(); ++b)
    out[0] += std::max(0, used[b] - in.budgets[b]);
  out.insert(out.end(), by_priority.begin(), by_priority.end());
  out.push_back(static_cast<std::int64_t>(gangs.size()));
  out.push_back(work);
  out.push_back(pods);
  return out;
}

/// Whether the minimum fits with the set gone.
bool fits(const instance& in, unsigned set, int rack) {
  std::vector<int> cpu, gpus, shy(in.nodes.size(), 0), here(in.nodes.size(), 0);
  for (const auto& n : in.nodes) {
    const bool is_in = rack < 0 || n.rack == rack;
    cpu.push_back(is_in ? n.cpu - n.cpu_used : -1000);
    gpus.push_back(is_in ? n.gpus : -1000);
  }
  for (std::size_t u = 0; u < in.units.size(); ++u)
    for (const auto& p : in.units[u].pods)
      if (!(set >> u & 1)) {
        cpu[static_cast<std::size_t>(p.node)] -= p.cpu;
        gpus[static_cast<std::size_t>(p.node)] -= p.gpus;
        shy[static_cast<std::size_t>(p.node)] += p.is_shy;
      }
  std::vector<int> got(in.minimum.size(), 0);
  std::function<bool(std::size_t)> place = [&](std::size_t k) {
    if (k == in.members.size()) {
      for (std::size_t g = 0; g < got.size(); ++g)
        if (got[g] < in.minimum[g])
          return false;
      return true;
    }
    const auto& m = in.members[k];
    for (std::size_t i = 0; i < cpu.size(); ++i) {
      if (cpu[i] < m.cpu || (m.gpus > 0 && gpus[i] < m.gpus) || (in.is_tied && shy[i] > 0)
          || (in.members_are_apart && here[i] > 0))
        continue;
      cpu[i] -= m.cpu, gpus[i] -= m.gpus, ++got[static_cast<std::size_t>(m.group)], ++here[i];
      const bool found = place(k + 1);
      cpu[i] += m.cpu, gpus[i] += m.gpus, --got[static_cast<std::size_t>(m.group)], --here[i];
      if (found)
        return true;
    }
    return place(k + 1);
  };
  return place(0);
}
bool fits(const instance& in, unsigned set) {
  if (!in.in_rack)
    return fits(in, set, -1);
  return fits(in, set, 0) || fits(in, set, 1) || fits(in, set, 2);
}

/// The cheapest set by force.
std::optional<unsigned> cheapest(const instance& in) {
  std::optional<unsigned> best;
  for (unsigned set = 0; set < 1u << in.units.size(); ++set) {
    bool may_go = true;
    for (std::size_t u = 0; u < in.units.size(); ++u)
      may_go =
          may_go
          && (!(set >> u & 1) || (!in.units[u].is_exempt && in.units[u].priority < gang_priority));
    if (may_go && (!best || cost_of(in, set) < cost_of(in, *best)) && fits(in, set))
      best = set;
  }
  return best;
}

enum class family { equal, equal_in_rack, mixed, mixed_in_rack, tied };

instance draw(family f, base::random_stream& dice) {
  const auto upto = [&](int n) {
    return static_cast<int>(dice.below(static_cast<std::uint64_t>(n)));
  };
  instance in;
  in.in_rack = f == family::equal_in_rack || f == family::mixed_in_rack;
  in.is_tied = f == family::tied;
  in.members_are_apart = in.is_tied && upto(2) == 0;
  const int nodes = 1 + upto(4) + (in.in_rack ? 1 : 0);
  std::vector<int> cpu_left, gpus_left;
  for (int i = 0; i < nodes; ++i) {
    const int cpu = 2 + upto(7);
    in.nodes.push_back({upto(3), cpu, upto(5), upto(3)});
    cpu_left.push_back(cpu - in.nodes.back().cpu_used);
    gpus_left.push_back(in.nodes.back().gpus);
  }
  for (int b = upto(3); b > 0; --b)
    in.budgets.push_back(upto(3));
  const int units = 2 + upto(7);
  for (int u = 0; u < units; ++u) {
    instance::unit x{upto(3) * 10, upto(2) == 0 ? 100 + u : upto(3), upto(4), upto(12) == 0, {}};
    if (upto(12) == 0)
      x.priority = gang_priority - 1;
    const int pods = upto(2) == 0 ? 1 : 1 + upto(3);
    for (int p = 0; p < pods; ++p) {
      const int at = upto(nodes);
      const auto i = static_cast<std::size_t>(at);
      const int cpu = 1 + upto(3), gpus = upto(3);
      if (cpu_left[i] < cpu || gpus_left[i] < gpus)
        continue;
      cpu_left[i] -= cpu, gpus_left[i] -= gpus;
      const int budget =
          in.budgets.empty() || upto(2) ? -1 : upto(static_cast<int>(in.budgets.size()));
      x.pods.push_back({at, cpu, gpus, budget, in.is_tied && upto(3) == 0});
    }
    if (!x.pods.empty())
      in.units.push_back(std::move(x));
  }
  const bool is_mixed = f == family::mixed || f == family::mixed_in_rack;
  const int groups = is_mixed ? 1 + upto(in.in_rack ? 1 : 2) : 1;
  in.minimum.assign(static_cast<std::size_t>(groups), 0);
  const int members = groups + upto(4);
  const instance::member first{0, 1 + upto(4), upto(3)};
  for (int m = 0; m < members; ++m) {
    auto x = is_mixed ? instance::member{0, 1 + upto(4), upto(3)} : first;
    x.group = m % groups;
    ++in.minimum[static_cast<std::size_t>(x.group)];
    in.members.push_back(x);
  }
  for (auto& m : in.minimum)
    m = std::max(1, m - upto(2));
  return in;
}

std::string words(const instance& in) {
  std::ostringstream out;
  for (const auto& n : in.nodes)
    out << "node rack " << n.rack << " cpu " << n.cpu << " used " << n.cpu_used << " gpus "
        << n.gpus << '\n';
  for (const auto& u : in.units) {
    out << "unit priority " << u.priority << " gang " << u.gang << " work " << u.work
        << (u.is_exempt ? " exempt" : "") << ':';
    for (const auto& p : u.pods)
      out << " n" << p.node << " cpu " << p.cpu << " gpus " << p.gpus << " budget " << p.budget
          << (p.is_shy ? " shy" : "") << ';';
    out << '\n';
  }
  for (const auto b : in.budgets)
    out << "budget " << b << '\n';
  for (const auto& m : in.members)
    out << "member group " << m.group << " cpu " << m.cpu << " gpus " << m.gpus << '\n';
  for (const auto m : in.minimum)
    out << "minimum " << m << '\n';
  out << (in.in_rack ? "in rack " : "") << (in.is_tied ? "tied " : "")
      << (in.members_are_apart ? "members apart" : "") << '\n';
  return out.str();
}

/// The same question for the engine.
struct asked {
  full_cluster c;
  gang_spec what;

  explicit asked(const instance& in) {
    c.how.priority = gang_priority;
    for (std::size_t i = 0; i < in.nodes.size(); ++i) {
      const auto& n = in.nodes[i];
      c.node({.name = "n" + std::to_string(i),
              .rack = "r" + std::to_string(n.rack),
              .cpu = n.cpu,
              .gpus = n.gpus,
              .cpu_used = n.cpu_used});
    }
    for (const auto b : in.budgets)
      c.budget(b);
    const base::ties_ptr shy = pod("shy").apart("member", host_key);
    const base::ties_ptr plain = pod("plain");
    for (std::size_t i = 0; i < in.units.size(); ++i) {
      const auto& u = in.units[i];
      std::vector<running_words> pods;
      for (const auto& p : u.pods) {
        running_words x{"n" + std::to_string(p.node), {.cpu = p.cpu, .gpus = p.gpus}};
        if (in.is_tied)
          x.ties = p.is_shy ? shy : plain;
        if (p.budget >= 0)
          x.budgets.push_back(static_cast<std::uint32_t>(p.budget));
        pods.push_back(std::move(x));
      }
      auto& unit = c.runs("u" + std::to_string(i), u.priority, pods, "g" + std::to_string(u.gang));
      unit.work_lost = u.work;
      unit.is_exempt = u.is_exempt;
    }
    what.groups.clear();
    for (std::size_t g = 0; g < in.minimum.size(); ++g)
      what.groups.push_back({"group" + std::to_string(g), static_cast<std::uint32_t>(in.minimum[g]),
                             in.in_rack ? rack_key : ""});
    for (const auto& m : in.members)
      what.members.push_back({"pod" + std::to_string(what.members.size()),
                              static_cast<std::uint32_t>(m.group),
                              shape_of({.cpu = m.cpu, .gpus = m.gpus}),
                              member_spec::state::pending,
                              {}});
    if (in.is_tied) {
      auto ties = pod("member");
      if (in.members_are_apart)
        ties.apart("member", host_key);
      tie(what, ties);
    }
  }
};

unsigned set_of(const std::vector<std::uint32_t>& units) {
  unsigned out = 0;
  for (const auto u : units)
    out |= 1u << u;
  return out;
}

/// The placement takes only what is there once the victims are gone.
void expect_valid(const instance& in, const asked& q, const eviction& e) {
  const auto set = set_of(e.units);
  std::vector<int> cpu, gpus, here(in.nodes.size(), 0), shy(in.nodes.size(), 0);
  std::vector<int> got(in.minimum.size(), 0);
  std::set<int> racks;
  for (const auto& n : in.nodes) {
    cpu.push_back(n.cpu - n.cpu_used);
    gpus.push_back(n.gpus);
  }
  for (std::size_t u = 0; u < in.units.size(); ++u)
    for (const auto& p : in.units[u].pods)
      if (!(set >> u & 1)) {
        cpu[static_cast<std::size_t>(p.node)] -= p.cpu;
        gpus[static_cast<std::size_t>(p.node)] -= p.gpus;
        shy[static_cast<std::size_t>(p.node)] += p.is_shy;
      }
  auto& view = const_cast<asked&>(q).c.view;
  for (const auto& s : e.where.seats) {
    const auto name = view.now().node(s.node).name.value;
    const auto i = static_cast<std::size_t>(std::stoi(name.substr(1)));
    const auto& m = in.members[s.member];
    cpu[i] -= m.cpu;
    gpus[i] -= m.gpus;
    ++here[i];
    ++got[static_cast<std::size_t>(m.group)];
    racks.insert(in.nodes[i].rack);
    EXPECT_GE(cpu[i], 0);
    EXPECT_GE(gpus[i], 0);
    EXPECT_TRUE(!in.is_tied || shy[i] == 0);
    EXPECT_TRUE(!in.members_are_apart || here[i] == 1);
  }
  for (std::size_t g = 0; g < got.size(); ++g)
    EXPECT_GE(got[g], in.minimum[g]);
  EXPECT_TRUE(!in.in_rack || racks.size() == 1);
}

/// The full search alone, from the worst set there is, and the bounds of each domain.
void expect_least_by_search(asked& q, const eviction_cost& least) {
  const auto& where = q.c.view.now();
  const auto gang = read_gang(where, q.what, q.c.memory);
  ASSERT_TRUE(gang.has_value());
  if (!is_counted(*gang))
    return;
  const cost_book book{q.c.how};
  victim_question asks{{where, q.what, q.c.how, *gang, q.c.memory}, book};
  for (std::uint32_t u = 0; u < q.c.how.units.size(); ++u)
    if (may_go(q.c.how.units[u], q.c.how))
      asks.eligible.push_back(u);
  victim_counts room{asks, where};
  const priced_set all{asks.eligible, book.of(asks.eligible)};
  auto best = all.cost;
  for (std::uint32_t d = 0; d < room.domains(); ++d) {
    if (room.emptied(d) < gang->required)
      continue;
    auto found = all;
    std::uint64_t steps = 1'000'000;
    EXPECT_TRUE(victim_exact(asks, room, d, gang->required).run(found, steps));
    EXPECT_TRUE(compare(bound_of(asks, room, d, gang->required), found.cost) <= 0);
    if (compare(found.cost, best) < 0)
      best = found.cost;
  }
  EXPECT_EQ(to_text(book.tell(best)), to_text(least));
}

struct tally {
  int answered = 0, minimal = 0, claimed = 0, refused = 0, unsure = 0;
};

void try_one(const instance& in, tally& seen) {
  if (fits(in, 0))
    return;
  asked q{in};
  q.c.how.alternatives = 3;
  const auto best = cheapest(in);
  const auto got = q.c.evict(q.what, eviction_policy::least_cost);
  const auto upstream = q.c.evict(q.what, eviction_policy::upstream);
  const auto* other = std::get_if<eviction>(&upstream);
  if (const auto* why = std::get_if<base::explanation>(&got)) {
    EXPECT_EQ(other, nullptr);
    if (why->primary == base::reason_code::undecided) {
      ++seen.unsure;
      return;
    }
    ++seen.refused;
    EXPECT_EQ(why->primary, base::reason_code::preemption_would_not_help);
    EXPECT_FALSE(best.has_value()) << why->detail;
    return;
  }
  const auto& e = std::get<eviction>(got);
  ++seen.answered;
  ASSERT_TRUE(best.has_value());
  const auto mine = cost_of(in, set_of(e.units));
  const auto least = cost_of(in, *best);
  expect_valid(in, q, e);
  EXPECT_GE(mine, least);
  EXPECT_EQ(e.cost.of("budget violations"), mine.front());
  EXPECT_EQ(e.cost.of("gangs"), mine[mine.size() - 3]);
  EXPECT_EQ(e.cost.of("work lost"), mine[mine.size() - 2]);
  EXPECT_EQ(e.cost.of("pods"), mine.back());
  seen.minimal += mine == least;
  seen.claimed += e.is_minimum;
  EXPECT_TRUE(!e.is_minimum || mine == least);
  std::vector<std::uint32_t> by_force;
  for (std::uint32_t u = 0; u < in.units.size(); ++u)
    if (*best >> u & 1)
      by_force.push_back(u);
  const cost_book book{q.c.how};
  EXPECT_TRUE(e.bound <= book.tell(book.of(by_force))) << to_text(e.bound);
  expect_least_by_search(q, book.tell(book.of(by_force)));
  for (const auto& a : e.alternatives) {
    EXPECT_TRUE(fits(in, set_of(a.units)));
    EXPECT_TRUE(a.cost >= e.cost);
    EXPECT_NE(a.units, e.units);
  }
  if (!other)
    return;
  expect_valid(in, q, *other);
  EXPECT_LE(mine, cost_of(in, set_of(other->units)));
  EXPECT_TRUE(e.bound <= other->cost);
}

int rounds() {
  const auto* asked = std::getenv("TUTTI_VICTIM_ROUNDS");
  return asked ? std::atoi(asked) : 1'000;
}

void try_family(family f, std::string_view name, tally& seen) {
  base::random_stream dice{1, name};
  for (int i = 0; i < rounds(); ++i) {
    const auto in = draw(f, dice);
    try_one(in, seen);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "round " << i << "\n" << words(in);
      break;
    }
  }
  std::cout << name << ": " << seen.answered << " answered, " << seen.minimal << " minimal, "
            << seen.claimed << " proved, " << seen.refused << " refused, " << seen.unsure
            << " undecided\n";
  EXPECT_GE(seen.minimal * 100, seen.answered * 95);
  EXPECT_GE(seen.answered, rounds() / 10);
  EXPECT_LE(seen.unsure * 100, rounds());
}

/// Pods that are equal but for one thing may not stand for each other.
void expect_searched(const std::vector<instance::unit>& units, const std::vector<int>& budgets) {
  instance in;
  in.nodes.push_back({0, static_cast<int>(units.size()), 0, 0});
  in.units = units;
  in.budgets = budgets;
  in.members.assign(2, {0, 1, 0});
  in.minimum = {2};
  asked q{in};
  std::vector<std::uint32_t> by_force;
  for (std::uint32_t u = 0; u < units.size(); ++u)
    if (*cheapest(in) >> u & 1)
      by_force.push_back(u);
  const cost_book book{q.c.how};
  expect_least_by_search(q, book.tell(book.of(by_force)));
}
TEST(VictimsOracle, pods_of_other_budgets_are_not_the_same) {
  std::vector<instance::unit> units;
  for (const int budget : {0, 0, 1})
    units.push_back(
        {1, 100 + static_cast<int>(units.size()), 0, false, {{0, 1, 0, budget, false}}});
  expect_searched(units, {1, 1});
}
TEST(VictimsOracle, pods_of_other_gangs_are_not_the_same) {
  std::vector<instance::unit> units;
  for (const int gang : {1, 2, 2, 1})
    units.push_back({1, gang, 0, false, {{0, 1, 0, -1, false}}});
  expect_searched(units, {});
}

TEST(VictimsOracle, equal_members) {
  tally seen;
  try_family(family::equal, "equal", seen);
}
TEST(VictimsOracle, equal_members_in_a_rack) {
  tally seen;
  try_family(family::equal_in_rack, "equal in rack", seen);
}
TEST(VictimsOracle, unequal_members) {
  tally seen;
  try_family(family::mixed, "mixed", seen);
}
TEST(VictimsOracle, unequal_members_in_a_rack) {
  tally seen;
  try_family(family::mixed_in_rack, "mixed in rack", seen);
}
TEST(VictimsOracle, members_that_must_be_apart) {
  tally seen;
  try_family(family::tied, "tied", seen);
}

} // namespace
} // namespace tutti::placement::engine::testing
