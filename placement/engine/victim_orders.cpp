// What a unit is worth is measured in average members: by the resource of which it gives most.
#include "placement/engine/victim_orders.hpp"

#include <algorithm>
#include <map>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Domains for which an order of their own is made.
constexpr std::size_t domains_max = 16;
/// An average member.
constexpr std::int64_t one_member = 1024;

/// By dimension: what the members need together, the least demanding of each group up to its
/// minimum only.
std::vector<std::int64_t> needed(const victim_question& q) {
  std::vector<std::int64_t> out(q.where.dimensions(), 0);
  for (dimension d = 0; d < out.size(); ++d)
    for (std::uint32_t g = 0; g < q.gang.groups.size(); ++g) {
      std::vector<std::int64_t> each;
      for (const auto& l : q.gang.lots)
        if (l.group == g) {
          std::int64_t amount = 0;
          for (const auto& n : q.gang.shapes[l.shape].needs)
            amount += n.what == d ? n.amount : 0;
          each.insert(each.end(), l.members.size(), amount);
        }
      std::sort(each.begin(), each.end());
      const auto required = static_cast<std::size_t>(q.gang.groups[g].required);
      ensure(each.size() >= required, each.size(), required);
      for (std::size_t i = 0; i < required; ++i)
        out[d] = base::checked_add(out[d], each[i]);
    }
  return out;
}

struct worth {
  std::uint32_t unit = 0;
  std::int64_t gain = 1;
};

class order_maker {
public:
  explicit order_maker(const victim_question& q) : q_(q), needed_(needed(q)) {}

  std::int64_t gain_of(const evictable_pod& pod) const {
    std::int64_t most = 1;
    for (dimension d = 0; d < needed_.size(); ++d)
      if (needed_[d] > 0) {
        const auto x = static_cast<double>(amount_of(q_.where, pod.takes.amounts, d));
        const auto members = x / static_cast<double>(needed_[d])
                             * static_cast<double>(std::max<std::int64_t>(q_.gang.required, 1));
        most = std::max(most, static_cast<std::int64_t>(std::min(members, 1e6)
                                                        * static_cast<double>(one_member)));
      }
    return most;
  }

  unit_list by_price(const unit_list& units) const {
    std::vector<worth> all;
    for (const auto u : units) {
      worth x{u, 0};
      for (const auto& pod : q_.how.units[u].pods)
        x.gain += gain_of(pod);
      all.push_back(x);
    }
    std::sort(all.begin(), all.end(), [this](const worth& a, const worth& b) {
      const auto x = compare_rates(q_.book.alone(a.unit), a.gain, q_.book.alone(b.unit), b.gain);
      return x != 0 ? x < 0 : a.unit < b.unit;
    });
    unit_list out;
    for (const auto& x : all)
      out.push_back(x.unit);
    return out;
  }

  /// Whole nodes, the cheapest to clear first.
  unit_list by_node(const unit_list& units) const {
    struct cleared {
      unit_list units;
      std::int64_t gain = 0;
      weight cost;
    };
    std::map<node_ref, cleared> nodes;
    for (const auto u : units)
      for (const auto& pod : q_.how.units[u].pods) {
        auto& mine = nodes[pod.node];
        mine.gain += gain_of(pod);
        if (!mine.units.empty() && mine.units.back() == u)
          continue;
        if (mine.cost.empty())
          mine.cost = q_.book.nothing();
        mine.cost += q_.book.alone(u);
        mine.units.push_back(u);
      }
    std::vector<const cleared*> order;
    for (const auto& [node, x] : nodes)
      order.push_back(&x);
    std::stable_sort(order.begin(), order.end(), [](const cleared* a, const cleared* b) {
      return compare_rates(a->cost, a->gain, b->cost, b->gain) < 0;
    });
    std::vector<bool> is_in(q_.how.units.size(), false);
    unit_list out;
    for (const auto* x : order)
      for (const auto u : x->units)
        if (!is_in[u]) {
          is_in[u] = true;
          out.push_back(u);
        }
    return out;
  }

  /// Per domain of the key: units with a pod there.
  std::vector<unit_list> of_domains(const std::string& key) const {
    const auto map = q_.memory.key(q_.where, key);
    std::vector<unit_list> out(map->domains());
    for (const auto u : q_.eligible)
      for (const auto& pod : q_.how.units[u].pods)
        if (const auto d = map->of(pod.node);
            d != no_domain && (out[d].empty() || out[d].back() != u))
          out[d].push_back(u);
    return out;
  }

private:
  const victim_question& q_;
  std::vector<std::int64_t> needed_;
};

} // namespace

std::vector<unit_list> orders_of_victims(const victim_question& q) {
  const order_maker make{q};
  std::vector<unit_list> out{make.by_price(q.eligible), make.by_node(q.eligible)};
  for (const auto& u : q.gang.units) {
    if (u.key.empty() || u.pinned)
      continue;
    auto domains = make.of_domains(u.key);
    if (domains.size() > domains_max)
      domains.resize(domains_max);
    for (auto& units : domains) {
      if (units.empty())
        continue;
      out.push_back(make.by_price(units));
      out.push_back(make.by_node(units));
    }
  }
  return out;
}

weight bound_by_totals(const victim_question& q) {
  std::vector<const weight*> costs;
  for (const auto u : q.eligible)
    costs.push_back(&q.book.least(u));
  std::sort(costs.begin(), costs.end(),
            [](const weight* a, const weight* b) { return compare(*a, *b) < 0; });
  const auto need = needed(q);
  std::size_t fewest = 1; // it does not fit as things are
  for (dimension d = 0; d < need.size(); ++d) {
    std::int64_t room = 0;
    for (const auto& b : q.where.blocks)
      if (d < b->free.size())
        for (const auto slot : b->by_name)
          room = base::checked_add(room, std::max<std::int64_t>(b->free[d][slot], 0));
    for (const auto u : q.leaving)
      for (const auto& pod : q.how.units[u].pods)
        room = base::checked_add(room, amount_of(q.where, pod.takes.amounts, d));
    std::vector<std::int64_t> given;
    for (const auto u : q.eligible) {
      std::int64_t sum = 0;
      for (const auto& pod : q.how.units[u].pods)
        sum = base::checked_add(sum, amount_of(q.where, pod.takes.amounts, d));
      given.push_back(sum);
    }
    std::sort(given.begin(), given.end(), std::greater<>{});
    std::size_t units = 0;
    for (; units < given.size() && room < need[d]; ++units)
      room = base::checked_add(room, given[units]);
    fewest = std::max(fewest, units);
  }
  auto out = q.book.nothing();
  for (std::size_t i = 0; i < std::min(fewest, costs.size()); ++i)
    out += *costs[i];
  return out;
}

} // namespace tutti::placement::engine
