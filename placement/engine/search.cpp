// The order of trials decides what is found first; the bound of the search, when it gives up.
#include "placement/engine/search.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

using counts = std::vector<std::int64_t>;

struct ranked {
  std::uint32_t lot;
  std::uint64_t slots;
  double weight;
};

/// The unit's lots, hardest first: fewest slots, then bulkiest.
std::vector<ranked> rank(trial& on, const problem& p, const unit& u, const domain_view& domain) {
  std::vector<ranked> out;
  for (auto i : u.lots)
    out.push_back({i, on.slots_in(p.lots[i].shape, domain), p.shapes[p.lots[i].shape].weight});
  std::stable_sort(out.begin(), out.end(), [](const ranked& a, const ranked& b) {
    return a.slots != b.slots ? a.slots < b.slots : a.weight > b.weight;
  });
  return out;
}

/// Members wanted per lot: all of them.
counts everything(const problem& p) {
  counts out(p.lots.size(), 0);
  for (std::size_t i = 0; i < p.lots.size(); ++i)
    out[i] = static_cast<std::int64_t>(p.lots[i].members.size());
  return out;
}

/// … or, per group, only as many as required, the easiest of them.
counts easiest(const problem& p, const std::vector<ranked>& hardest_first) {
  counts out(p.lots.size(), 0);
  std::vector<std::int64_t> left;
  for (const auto& g : p.groups)
    left.push_back(g.required);
  for (auto pos = hardest_first.rbegin(); pos != hardest_first.rend(); ++pos) {
    const auto& l = p.lots[pos->lot];
    const auto n = std::min(left[l.group], static_cast<std::int64_t>(l.members.size()));
    out[pos->lot] = n;
    left[l.group] -= n;
  }
  return out;
}

/// Per group: what one pass over the lots placed.
counts pass(trial& on, const problem& p, const std::vector<ranked>& order, const counts& want,
            const domain_view& domain, node_order nodes) {
  counts got(p.groups.size(), 0);
  for (const auto& r : order) {
    const auto& l = p.lots[r.lot];
    if (want[r.lot] > 0)
      got[l.group] += static_cast<std::int64_t>(
          on.fill(r.lot, l.shape, static_cast<std::uint64_t>(want[r.lot]), domain, nodes));
  }
  return got;
}

bool reaches_minimum(const problem& p, const unit& u, const counts& got) {
  return std::all_of(u.groups.begin(), u.groups.end(),
                     [&](auto g) { return got[g] >= p.groups[g].required; });
}

std::int64_t sum(const counts& x) {
  return std::accumulate(x.begin(), x.end(), std::int64_t{0});
}

/// Most members of the unit, all lots of one shape together.
std::int64_t most_of_shapes(trial& on, const problem& p, const unit& u, const domain_view& domain) {
  std::vector<std::uint64_t> members(p.shapes.size(), 0);
  for (auto i : u.lots)
    members[p.lots[i].shape] += p.lots[i].members.size();
  std::int64_t most = 0;
  for (std::uint32_t s = 0; s < members.size(); ++s)
    if (members[s] > 0)
      most += static_cast<std::int64_t>(std::min(members[s], on.slots_in(s, domain)));
  return most;
}

/// Adds up room over all nodes that any lot may use: less than the cheapest choice of members
/// needs, in one resource, is a proof that they cannot be placed.
bool lacks_in_total(trial& on, const problem& p, const unit& u, const domain_view& domain) {
  const auto& where = on.where();
  for (dimension d = 0; d < where.dimensions(); ++d) {
    std::int64_t needed = 0;
    for (auto g : u.groups) {
      std::vector<std::int64_t> each;
      for (auto i : u.lots) {
        if (p.lots[i].group != g)
          continue;
        std::int64_t amount = 0;
        for (const auto& n : p.shapes[p.lots[i].shape].needs)
          amount += n.what == d ? n.amount : 0;
        each.insert(each.end(), p.lots[i].members.size(), amount);
      }
      std::sort(each.begin(), each.end());
      for (std::size_t i = 0; i < static_cast<std::size_t>(p.groups[g].required); ++i)
        needed = base::checked_add(needed, each[i]);
    }
    std::int64_t room = 0;
    for (std::size_t i = 0; i < domain.blocks.size() && room < needed; ++i)
      for (auto slot : where.blocks[domain.blocks[i]]->by_name) {
        const node_ref node{domain.blocks[i], slot};
        const bool is_of_use =
            domain.has(i, slot) && std::any_of(u.lots.begin(), u.lots.end(), [&](auto l) {
              return on.slots_on(p.lots[l].shape, node) > 0;
            });
        if (is_of_use)
          room = base::checked_add(room, std::max<std::int64_t>(on.amount(d, node), 0));
      }
    if (room < needed)
      return true;
  }
  return false;
}

} // namespace

std::int64_t most_of_group(trial& on, const problem& p, const unit& u, std::uint32_t group,
                           const domain_view& domain) {
  std::int64_t most = 0;
  for (auto i : u.lots)
    if (p.lots[i].group == group)
      most += static_cast<std::int64_t>(
          std::min<std::uint64_t>(on.slots_in(p.lots[i].shape, domain), p.lots[i].members.size()));
  return most;
}

fill_result place_minimum(trial& on, const problem& p, const unit& u, const domain_view& domain,
                          bool all, std::uint64_t& steps) {
  const auto before = on.taken().size();
  fill_result out;
  bool may_do = true;
  std::int64_t required = 0;
  for (auto g : u.groups) {
    const auto most = most_of_group(on, p, u, g, domain);
    out.most += most;
    may_do = may_do && most >= p.groups[g].required;
    required += p.groups[g].required;
  }
  // Groups with equal members share the slots: together they are bounded once more.
  out.most = std::min(out.most, most_of_shapes(on, p, u, domain));
  if (!may_do || out.most < required)
    return out;

  const auto hardest = rank(on, p, u, domain);
  auto bulkiest = hardest;
  std::stable_sort(bulkiest.begin(), bulkiest.end(),
                   [](const ranked& a, const ranked& b) { return a.weight > b.weight; });
  const auto minimum = easiest(p, hardest);
  std::vector<counts> wants;
  if (all)
    wants.push_back(everything(p));
  if (!all || sum(minimum) < sum(wants.front()))
    wants.push_back(minimum);
  out.most = 0;
  const std::array<const std::vector<ranked>*, 2> orders{&hardest, &bulkiest};
  std::vector<node_order> ways{node_order::tightest, node_order::roomiest};
  if (on.has_policy())
    ways.insert(ways.begin(), node_order::by_policy);
  for (const auto& want : wants)
    for (auto nodes : ways)
      for (const auto* order : orders) {
        const auto got = pass(on, p, *order, want, domain, nodes);
        out.most = std::max(out.most, sum(got));
        if (reaches_minimum(p, u, got)) {
          out.what = verdict::placed;
          out.most = sum(got) + (all ? place_extras(on, p, u, domain) : 0);
          return out;
        }
        on.undo(before);
        if (u.lots.size() == 1)
          return out; // the count was exact: no order can do better
      }
  if (lacks_in_total(on, p, u, domain))
    return out;
  out.what = search_all(on, p, u, domain, steps);
  if (out.what != verdict::placed)
    return out;
  if (all)
    place_extras(on, p, u, domain);
  out.most =
      std::accumulate(on.taken().begin() + static_cast<std::ptrdiff_t>(before), on.taken().end(),
                      std::int64_t{0}, [](std::int64_t n, const run& r) { return n + r.count; });
  return out;
}

std::int64_t place_extras(trial& on, const problem& p, const unit& u, const domain_view& domain) {
  auto left = everything(p);
  for (const auto& r : on.taken())
    left[r.lot] -= r.count;
  return sum(pass(on, p, rank(on, p, u, domain), left, domain, on.first_order()));
}

} // namespace tutti::placement::engine
