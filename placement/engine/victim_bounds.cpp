// One relaxation lets each node give up pods by themselves, at their share of the unit's cost; the
// other lets each unit do its best everywhere at once.
#include "placement/engine/victim_bounds.hpp"

#include <algorithm>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ensure.hpp"
#include "base/hash.hpp"

namespace tutti::placement::engine {
namespace {

/// Costs of units on several nodes are shared among these in parts of this size.
constexpr std::int64_t scale = 4096;

/// `gain` slots more for `cost`.
struct segment {
  std::int64_t gain = 0;
  weight cost;

  friend bool operator==(const segment&, const segment&) = default;
};
struct segment_hash {
  std::size_t operator()(const segment& x) const {
    auto h = base::hash_of(static_cast<std::uint64_t>(x.gain));
    for (const auto c : x.cost)
      h = base::hash_combine(h, static_cast<std::uint64_t>(c));
    return h;
  }
};
using segment_counts = boost::unordered_flat_map<segment, std::int64_t, segment_hash>;

/// `of` in shares that add up to it: that of the pods from `from` to `to` of `all`.
weight share(const weight& of, std::int64_t from, std::int64_t to, std::int64_t all,
             std::int64_t by) {
  auto out = of;
  __extension__ using wide = __int128;
  for (auto& x : out)
    x = static_cast<std::int64_t>(wide{x} * by * to / all - wide{x} * by * from / all);
  return out;
}

weight divided_down(weight x, std::int64_t times, std::int64_t by) {
  __extension__ using wide = __int128;
  for (auto& c : x)
    c = static_cast<std::int64_t>(wide{c} * times / by);
  return x;
}

/// The least cost in whole numbers that is not below x / scale: behind a term that must be rounded
/// up, all others may be zero.
weight rounded_up(const weight& x, std::int64_t by) {
  weight out(x.size(), 0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = (x[i] + by - 1) / by;
    if (x[i] % by != 0)
      break;
  }
  return out;
}

/// The convex bound: cheapest rates first until there is room.
class by_node {
public:
  by_node(const victim_question& q, const victim_counts& room, std::uint32_t domain,
          std::int64_t deficit)
      : q_(q), room_(room), domain_(domain), deficit_(deficit), pods_of_(q.how.units.size(), 0),
        seen_of_(q.how.units.size(), 0) {}

  weight run() {
    for (const auto place : room_.places(domain_))
      if (is_of_use(place))
        for (const auto i : room_.parts_on(place)) {
          const auto& p = room_.part(i);
          pods_of_[p.unit] += p.pods;
          by_ = pods_of_[p.unit] > p.pods ? scale : by_;
        }
    for (const auto place : room_.places(domain_))
      if (is_of_use(place))
        read_node(place);
    return rounded_up(cheapest(), by_);
  }

private:
  bool is_of_use(std::uint32_t place) const {
    return room_.slots_emptied(place) > room_.slots_now(place);
  }

  void read_node(std::uint32_t place) {
    costs_.clear();
    for (const auto i : room_.parts_on(place)) {
      const auto& p = room_.part(i);
      auto& seen = seen_of_[p.unit];
      costs_.push_back(share(q_.book.least(p.unit), seen, seen + p.pods, pods_of_[p.unit], by_));
      seen += p.pods;
    }
    std::sort(costs_.begin(), costs_.end(),
              [](const weight& a, const weight& b) { return compare(a, b) < 0; });
    for (std::size_t i = 1; i < costs_.size(); ++i)
      costs_[i] += costs_[i - 1];
    sum_amounts(place);
    add_hull(place);
  }

  /// By need: the most that any n parts give back, together.
  void sum_amounts(std::uint32_t place) {
    const auto parts = room_.parts_on(place);
    sums_.resize(room_.width());
    for (std::size_t k = 0; k < room_.width(); ++k) {
      auto& sum = sums_[k];
      sum.clear();
      const bool is_port = k + 1 == room_.width();
      for (const auto i : parts) {
        const auto x = room_.row(room_.part(i).row)[k];
        sum.push_back(is_port ? -x : x);
      }
      std::sort(sum.begin(), sum.end(), std::greater<>{});
      for (std::size_t i = 1; i < sum.size(); ++i)
        sum[i] += sum[i - 1];
    }
  }

  /// The fewest parts that could give room for so many slots.
  std::size_t fewest(std::uint32_t place, std::int64_t slots) const {
    const auto free = room_.free(place);
    std::size_t most = 1;
    for (std::size_t k = 0; k < room_.width(); ++k) {
      const bool is_port = k + 1 == room_.width();
      const auto lacks = is_port ? free[k] : slots * room_.need(k) - free[k];
      if (lacks <= 0)
        continue;
      const auto pos = std::lower_bound(sums_[k].begin(), sums_[k].end(), lacks);
      most = std::max(most, static_cast<std::size_t>(pos - sums_[k].begin()) + 1);
    }
    return std::min(most, costs_.size());
  }

  void add_hull(std::uint32_t place) {
    const auto now = room_.slots_now(place);
    const auto gains = std::min(room_.slots_emptied(place) - now, deficit_);
    hull_.clear();
    for (std::int64_t k = 1; k <= gains; ++k) {
      segment next{k, costs_[fewest(place, now + k) - 1]};
      if (!hull_.empty()) {
        next.gain -= sum_gain_;
        next.cost = next.cost - sum_cost_;
      }
      sum_gain_ = k;
      sum_cost_ = costs_[fewest(place, now + k) - 1];
      // What is cheaper per slot than what comes before it belongs to it.
      while (!hull_.empty()
             && compare_rates(next.cost, next.gain, hull_.back().cost, hull_.back().gain) <= 0) {
        next.gain += hull_.back().gain;
        next.cost += hull_.back().cost;
        hull_.pop_back();
      }
      hull_.push_back(std::move(next));
    }
    for (auto& s : hull_)
      ++segments_[s];
  }

  weight cheapest() const {
    std::vector<std::pair<const segment*, std::int64_t>> order;
    for (const auto& [s, count] : segments_)
      order.emplace_back(&s, count);
    std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return compare_rates(a.first->cost, a.first->gain, b.first->cost, b.first->gain) < 0;
    });
    weight out(q_.book.terms(), 0);
    auto left = deficit_;
    for (const auto& [s, count] : order) {
      if (left <= 0)
        break;
      const auto gain = std::min(left, s->gain * count);
      out += divided_down(s->cost, gain, s->gain);
      left -= gain;
    }
    return out;
  }

  const victim_question& q_;
  const victim_counts& room_;
  std::uint32_t domain_;
  std::int64_t deficit_;
  std::int64_t by_ = 1;
  std::vector<std::int64_t> pods_of_, seen_of_; // by unit: in the domain, where it is of use
  std::vector<weight> costs_;                   // of the node: of the n cheapest parts
  std::vector<std::vector<std::int64_t>> sums_;
  std::vector<segment> hull_;
  std::int64_t sum_gain_ = 0;
  weight sum_cost_;
  segment_counts segments_;
};

/// At least so many units must go that their best gains add up; they cost at least what the
/// cheapest do.
weight by_unit(const victim_question& q, const victim_counts& room, std::uint32_t domain,
               std::int64_t deficit) {
  std::vector<std::int64_t> gains;
  std::vector<const weight*> costs;
  for (const auto u : q.eligible)
    if (const auto gain = most_gain(room, u, domain); gain > 0) {
      gains.push_back(gain);
      costs.push_back(&q.book.least(u));
    }
  std::sort(gains.begin(), gains.end(), std::greater<>{});
  std::size_t fewest = 0;
  for (std::int64_t sum = 0; fewest < gains.size() && sum < deficit; ++fewest)
    sum += gains[fewest];
  std::partial_sort(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(fewest), costs.end(),
                    [](const weight* a, const weight* b) { return compare(*a, *b) < 0; });
  auto out = q.book.nothing();
  for (std::size_t i = 0; i < fewest; ++i)
    out += *costs[i];
  return out;
}

} // namespace

std::int64_t most_gain(const victim_counts& room, std::uint32_t unit, std::uint32_t domain) {
  std::int64_t out = 0;
  for (const auto& p : room.parts_of(unit)) {
    if (room.domain_of(p.place) != domain)
      continue;
    const auto all = room.slots_emptied(p.place) - room.slots_now(p.place);
    const auto given = room.row(p.row);
    std::int64_t most = given[room.width() - 1] < 0 ? all : 0;
    for (std::size_t k = 0; k + 1 < room.width() && most < all; ++k)
      most = std::max(most, (given[k] + room.need(k) - 1) / room.need(k));
    out += std::min(most, all);
  }
  return out;
}

weight bound_of(const victim_question& q, const victim_counts& room, std::uint32_t domain,
                std::int64_t required) {
  const auto deficit = required - room.total(domain);
  if (deficit <= 0)
    return q.book.nothing();
  auto a = by_node{q, room, domain, deficit}.run();
  auto b = by_unit(q, room, domain, deficit);
  return compare(a, b) < 0 ? b : a;
}

} // namespace tutti::placement::engine
