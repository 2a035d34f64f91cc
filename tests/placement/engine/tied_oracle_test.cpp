// Small clusters, every assignment tried: what the engine says must be so. The oracle shares no
// code with the engine: it reads the terms themselves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "placement/engine/solve.hpp"
#include "tests/placement/engine/tied_words.hpp"

namespace tutti::placement::engine {
namespace {

using namespace testing;

struct small_pod {
  api::pod_ties ties;
  int cpu = 1;
  int group = 0;
};

/// One try: nodes with zone and rack, pods that are there, members in groups.
struct instance {
  struct node {
    std::string name, zone, rack;
    int cpu = 1;
    bool is_tainted = false;
  };
  std::vector<node> nodes;
  std::vector<std::pair<api::pod_ties, int>> there; // on node
  std::vector<small_pod> members;
  std::vector<std::string> keys; // per group, may be empty
  std::vector<int> minimum;      // per group
};

std::string value_of(const instance::node& n, const std::string& key) {
  return key == host_key ? n.name : key == zone_key ? n.zone : n.rack;
}

bool is_app(const api::label_selector& s, const api::pod_ties& pod) {
  return pod.labels[0].second == s.requirements[0].values[0];
}

bool means_all(const api::pod_ties& asker, const api::pod_ties& other) {
  return std::all_of(asker.affinity.begin(), asker.affinity.end(),
                     [&](const auto& t) { return is_app(t.pods, other); });
}

/// Where everybody is: pods that are there, then members that were placed.
struct state {
  const instance& in;
  std::vector<std::pair<const api::pod_ties*, int>> pods;

  bool keeps_apart(const api::pod_ties& a, int at, const api::pod_ties& b, int bt) const {
    for (const auto& t : a.anti_affinity) {
      const auto va = value_of(in.nodes[at], t.topology_key);
      if (is_app(t.pods, b) && !va.empty() && va == value_of(in.nodes[bt], t.topology_key))
        return false;
    }
    return true;
  }
  bool admits_affinity(const api::pod_ties& who, int at) const {
    if (who.affinity.empty())
      return true;
    bool all_found = true;
    bool any_anywhere = false;
    for (const auto& t : who.affinity) {
      const auto mine = value_of(in.nodes[at], t.topology_key);
      if (mine.empty())
        return false;
      bool found = false;
      for (const auto& [pod, node] : pods)
        if (const auto v = value_of(in.nodes[node], t.topology_key);
            means_all(who, *pod) && !v.empty()) {
          any_anywhere = true;
          found = found || v == mine;
        }
      all_found = all_found && found;
    }
    return all_found || (!any_anywhere && means_all(who, who));
  }
};

bool come_in_order(const instance& in, state s,
                   std::vector<std::pair<const api::pod_ties*, int>> waiting) {
  if (waiting.empty())
    return true;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (!s.admits_affinity(*waiting[i].first, waiting[i].second))
      continue;
    auto next = s;
    next.pods.push_back(waiting[i]);
    auto rest = waiting;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (come_in_order(in, next, std::move(rest)))
      return true;
  }
  // Those that need each other, and are none of those they need: any set of them at once.
  const auto n = waiting.size();
  for (unsigned set = 1; set < (1u << n); ++set) {
    auto next = s;
    std::vector<std::pair<const api::pod_ties*, int>> rest, group;
    for (std::size_t i = 0; i < n; ++i)
      (set >> i & 1 ? group : rest).push_back(waiting[i]);
    next.pods.insert(next.pods.end(), group.begin(), group.end());
    if (group.size() > 1 && std::all_of(group.begin(), group.end(), [&](const auto& x) {
          return !means_all(*x.first, *x.first) && next.admits_affinity(*x.first, x.second);
        }))
      if (come_in_order(in, next, std::move(rest)))
        return true;
  }
  return false;
}

/// `at[i]`: node of member i, or -1.
bool holds(const instance& in, const std::vector<int>& at) {
  std::vector<int> cpu;
  for (const auto& n : in.nodes)
    cpu.push_back(n.cpu);
  std::vector<std::string> domain(in.keys.size());
  std::vector<int> placed(in.keys.size(), 0);
  state end{in, {}};
  std::vector<std::pair<const api::pod_ties*, int>> came;
  for (const auto& [pod, node] : in.there)
    end.pods.emplace_back(&pod, node);
  const auto begin = end;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0)
      continue;
    const auto& m = in.members[i];
    const auto& n = in.nodes[at[i]];
    if (n.is_tainted || (cpu[at[i]] -= m.cpu) < 0)
      return false;
    ++placed[m.group];
    if (const auto& key = in.keys[m.group]; !key.empty()) {
      const auto v = value_of(n, key);
      if (v.empty() || (!domain[m.group].empty() && domain[m.group] != v))
        return false;
      domain[m.group] = v;
    }
    for (const auto& [pod, node] : end.pods)
      if (!end.keeps_apart(m.ties, at[i], *pod, node)
          || !end.keeps_apart(*pod, node, m.ties, at[i]))
        return false;
    end.pods.emplace_back(&m.ties, at[i]);
    came.emplace_back(&m.ties, at[i]);
  }
  for (std::size_t g = 0; g < placed.size(); ++g)
    if (placed[g] < in.minimum[g])
      return false;
  for (const auto& [who, node] : came)
    for (const auto& rule : who->spread) {
      std::map<std::string, int> counts;
      const auto is_eligible = [&](const instance::node& n) {
        return std::all_of(
                   who->spread.begin(), who->spread.end(),
                   [&](const auto& other) { return !value_of(n, other.topology_key).empty(); })
               && !(rule.honors_taints && n.is_tainted);
      };
      for (const auto& n : in.nodes)
        if (is_eligible(n))
          counts[value_of(n, rule.topology_key)] = 0;
      if (!is_eligible(in.nodes[node]))
        return false;
      for (const auto& [pod, where] : end.pods)
        if (is_app(rule.pods, *pod) && is_eligible(in.nodes[where]))
          ++counts[value_of(in.nodes[where], rule.topology_key)];
      int least = static_cast<int>(counts.size()) < rule.min_domains ? 0 : 1'000;
      for (const auto& [v, count] : counts)
        least = std::min(least, count);
      if (counts[value_of(in.nodes[node], rule.topology_key)] - least > rule.max_skew)
        return false;
    }
  return come_in_order(in, begin, came);
}

bool any_holds(const instance& in, std::vector<int>& at, std::size_t i) {
  if (i == in.members.size())
    return std::any_of(at.begin(), at.end(), [](int x) { return x >= 0; }) && holds(in, at);
  for (int n = -1; n < static_cast<int>(in.nodes.size()); ++n) {
    at[i] = n;
    if (any_holds(in, at, i + 1))
      return true;
  }
  at[i] = -1;
  return false;
}

// ---- making instances ----

template <class T>
T any_of_these(std::vector<T> list) {
  return *rc::gen::elementOf(list);
}

api::pod_ties any_ties() {
  auto out = pod(any_of_these<std::string>({"x", "y"}));
  const auto key = [] { return any_of_these<std::string>({zone_key, rack_key, host_key}); };
  const auto app = [] { return any_of_these<std::string>({"x", "y"}); };
  switch (*rc::gen::inRange(0, 8)) {
  case 0:
    break;
  case 1:
    out.apart(app(), key());
    break;
  case 2:
    out.near(app(), key());
    break;
  case 3:
    out.spread(app(), key(), *rc::gen::inRange(1, 3), *rc::gen::inRange(1, 4));
    break;
  case 4:
    out.spread(app(), key()).apart(app(), key());
    break;
  case 5:
    out.near(app(), key()).spread(app(), key());
    break;
  case 6:
    out.near(app(), key()).near(app(), key());
    break;
  default:
    out.spread(app(), zone_key).spread(app(), host_key);
    break;
  }
  for (auto& t : out.x.spread)
    t.honors_taints = *rc::gen::arbitrary<bool>();
  return out.x;
}

instance any_instance() {
  instance out;
  const int nodes = *rc::gen::inRange(1, 6);
  for (int i = 0; i < nodes; ++i)
    out.nodes.push_back({"n" + std::to_string(i), any_of_these<std::string>({"a", "b", "c", ""}),
                         any_of_these<std::string>({"p", "q", "r"}), *rc::gen::inRange(1, 4),
                         *rc::gen::inRange(0, 8) == 0});
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i)
    out.there.emplace_back(any_ties(), *rc::gen::inRange(0, nodes));
  const int groups = *rc::gen::inRange(1, 3);
  int left = 5;
  for (int g = 0; g < groups; ++g) {
    out.keys.push_back(any_of_these<std::string>({"", "", rack_key, zone_key}));
    const int members = *rc::gen::inRange(1, std::max(2, left));
    left -= members;
    auto like = any_ties();
    for (int i = 0; i < members; ++i) {
      if (*rc::gen::inRange(0, 4) == 0)
        like = any_ties();
      out.members.push_back({like, *rc::gen::inRange(0, 4) == 0 ? 2 : 1, g});
    }
    out.minimum.push_back(*rc::gen::inRange(0, 4) == 0 ? 1 : members);
  }
  return out;
}

std::string words_of(const api::pod_ties& t) {
  std::string out = t.labels[0].second;
  const auto app = [](const auto& x) { return x.pods.requirements[0].values[0]; };
  for (const auto& x : t.affinity)
    out += " near " + app(x) + "/" + x.topology_key;
  for (const auto& x : t.anti_affinity)
    out += " apart " + app(x) + "/" + x.topology_key;
  for (const auto& x : t.spread)
    out += " spread " + app(x) + "/" + x.topology_key + "/" + std::to_string(x.max_skew) + "/"
           + std::to_string(x.min_domains) + (x.honors_taints ? "/taints" : "");
  return out;
}

std::string words_of(const instance& in) {
  std::ostringstream out;
  for (const auto& n : in.nodes)
    out << n.name << " zone " << n.zone << " rack " << n.rack << " cpu " << n.cpu
        << (n.is_tainted ? " tainted" : "") << "\n";
  for (const auto& [t, node] : in.there)
    out << "there on n" << node << ": " << words_of(t) << "\n";
  for (const auto& m : in.members)
    out << "group " << m.group << " (" << in.keys[m.group] << ", min " << in.minimum[m.group]
        << ") cpu " << m.cpu << ": " << words_of(m.ties) << "\n";
  return out.str();
}

void build(const instance& in, cluster& c, gang_spec& what) {
  for (std::size_t i = 0; i < in.nodes.size(); ++i) {
    const auto& n = in.nodes[i];
    std::vector<base::tied_pods> pods;
    for (const auto& [t, node] : in.there)
      if (node == static_cast<int>(i))
        pods.push_back({api::make_ties(t), 1});
    node_words x{.name = n.name, .rack = n.rack, .zone = n.zone, .cpu = n.cpu};
    if (n.is_tainted)
      x.taints = {{"t", "", api::taint_effect::no_schedule}};
    put(c, x, std::move(pods));
  }
  for (std::size_t g = 0; g < in.keys.size(); ++g)
    what.groups.push_back({"g", static_cast<std::uint32_t>(in.minimum[g]), in.keys[g]});
  for (const auto& m : in.members) {
    auto& added = what.members.emplace_back();
    added.name = "pod" + std::to_string(what.members.size());
    added.group = static_cast<std::uint32_t>(m.group);
    added.kind = shape_of({.cpu = m.cpu});
    added.ties = api::make_ties(m.ties);
  }
}

/// Of all instances of this run: how many ended how.
struct tally {
  int placed = 0, impossible = 0, undecided = 0, undecided_but_possible = 0;
} seen;

RC_GTEST_PROP(TiedOracle, says_placed_and_impossible_only_where_it_is_so, ()) {
  const auto in = any_instance();
  cluster c;
  gang_spec what;
  build(in, c, what);
  const auto p = read_gang(c.view.now(), what, c.memory);
  RC_ASSERT(p.has_value());
  const auto found = solve(c.view.now(), *p, measure::free, c.bounds, c.memory);
  std::vector<int> at(in.members.size(), -1);
  if (found.what == verdict::placed) {
    ++seen.placed;
    const auto got = c.ask(what);
    const auto* seats = std::get_if<placement>(&got);
    RC_ASSERT(seats != nullptr);
    for (const auto& s : seats->seats)
      at[s.member] = c.view.now().node(s.node).name.value[1] - '0';
    RC_LOG() << words_of(in);
    for (auto n : at)
      RC_LOG() << n << " ";
    RC_ASSERT(holds(in, at));
    return;
  }
  const bool is_possible = any_holds(in, at, 0);
  if (found.what == verdict::undecided) {
    ++seen.undecided;
    seen.undecided_but_possible += is_possible;
    return;
  }
  ++seen.impossible;
  RC_LOG() << words_of(in);
  for (auto n : at)
    RC_LOG() << n << " ";
  RC_ASSERT(!is_possible);
  const auto got = c.ask(what); // the refusal can be told
  RC_ASSERT(std::get<base::explanation>(got).primary != base::reason_code::undecided);
}

TEST(TiedOracle, leaves_few_undecided) {
  const int total = seen.placed + seen.impossible + seen.undecided;
  RecordProperty("placed", seen.placed);
  RecordProperty("impossible", seen.impossible);
  RecordProperty("undecided", seen.undecided);
  EXPECT_LE(seen.undecided * 100, total) << seen.undecided << " of " << total;
}

} // namespace
} // namespace tutti::placement::engine
