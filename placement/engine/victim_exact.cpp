// Units by their rate, each taken and then left; a branch ends where even the best rest is too
// dear.
#include "placement/engine/victim_exact.hpp"

#include <algorithm>

#include "base/ensure.hpp"
#include "placement/engine/victim_bounds.hpp"

namespace tutti::placement::engine {
namespace {

/// With more, the bounds decide and not the search.
constexpr std::size_t items_max = 400;

} // namespace

victim_exact::victim_exact(const victim_question& q, victim_counts& room, std::uint32_t domain,
                           std::int64_t required)
    : q_(q), room_(room), domain_(domain), required_(required), sum_(q.book) {
  for (const auto u : q.eligible)
    if (const auto gain = most_gain(room, u, domain); gain > 0)
      items_.push_back({u, gain, 0});
  std::sort(items_.begin(), items_.end(), [&](const item& a, const item& b) {
    const auto x = compare_rates(q.book.least(a.unit), a.gain, q.book.least(b.unit), b.gain);
    if (x != 0)
      return x < 0;
    const auto place_a = room.parts_of(a.unit).front().place;
    const auto place_b = room.parts_of(b.unit).front().place;
    return place_a != place_b ? place_a < place_b : a.unit < b.unit;
  });
  const auto n = items_.size();
  gain_from_.assign(n + 1, 0);
  most_from_.assign(n + 1, 0);
  least_from_.assign(n + 1, q.book.nothing());
  for (auto i = n; i-- > 0;) {
    const auto& x = items_[i];
    gain_from_[i] = gain_from_[i + 1] + x.gain;
    most_from_[i] = std::max(most_from_[i + 1], x.gain);
    const auto& mine = q.book.least(x.unit);
    const bool is_less = i + 1 == n || compare(mine, least_from_[i + 1]) < 0;
    least_from_[i] = is_less ? mine : least_from_[i + 1];
    const bool goes_on = i + 1 < n && is_same(x.unit, items_[i + 1].unit);
    items_[i].after_equal = goes_on ? items_[i + 1].after_equal : i + 1;
  }
}

/// One pod each, on one node, equal in all that is counted.
bool victim_exact::is_same(std::uint32_t a, std::uint32_t b) const {
  const auto of_a = room_.parts_of(a);
  const auto of_b = room_.parts_of(b);
  if (of_a.size() != 1 || of_b.size() != 1 || of_a.front().place != of_b.front().place)
    return false;
  const auto& x = q_.how.units[a];
  const auto& y = q_.how.units[b];
  return std::ranges::equal(room_.row(of_a.front().row), room_.row(of_b.front().row))
         && x.pods.size() == 1 && y.pods.size() == 1
         && x.pods.front().budgets == y.pods.front().budgets && q_.book.have_equal_terms(a, b);
}

/// The rest at its best rates, and as few units as can do: both are bounds.
bool victim_exact::can_be_cheaper(std::size_t from) const {
  auto left = lacks();
  if (gain_from_[from] < left)
    return false;
  const auto few = (left + most_from_[from] - 1) / most_from_[from];
  auto by_count = sum_.now();
  for (std::size_t t = 0; t < by_count.size(); ++t)
    by_count[t] += few * least_from_[from][t];
  if (compare(by_count, best_->cost) >= 0)
    return false;
  auto by_rate = sum_.now();
  for (auto i = from; left > 0; left -= items_[i++].gain) {
    const auto& x = items_[i];
    const auto& cost = q_.book.least(x.unit);
    if (x.gain <= left) {
      by_rate += cost;
      continue;
    }
    // Costs are whole numbers. Behind a term that is rounded up the others may be as they are now.
    for (std::size_t t = 0; t < cost.size(); ++t) {
      by_rate[t] += (cost[t] * left + x.gain - 1) / x.gain;
      if (cost[t] * left % x.gain == 0)
        continue;
      std::copy(sum_.now().begin() + static_cast<std::ptrdiff_t>(t) + 1, sum_.now().end(),
                by_rate.begin() + static_cast<std::ptrdiff_t>(t) + 1);
      break;
    }
  }
  return compare(by_rate, best_->cost) < 0;
}

bool victim_exact::go(std::size_t from) {
  if (*steps_ == 0)
    return false;
  --*steps_;
  if (lacks() <= 0) {
    if (compare(sum_.now(), best_->cost) < 0)
      *best_ = {chosen_, sum_.now()};
    return true;
  }
  if (from == items_.size() || !can_be_cheaper(from))
    return true;
  const auto unit = items_[from].unit;
  room_.remove(unit);
  sum_.add(unit);
  chosen_.push_back(unit);
  const bool went_through = go(from + 1);
  chosen_.pop_back();
  sum_.drop(unit);
  room_.put_back(unit);
  return went_through && go(items_[from].after_equal);
}

bool victim_exact::run(priced_set& best, std::uint64_t& steps) {
  if (items_.size() > items_max)
    return false;
  best_ = &best;
  steps_ = &steps;
  const bool went_through = go(0);
  std::sort(best.units.begin(), best.units.end());
  return went_through;
}

} // namespace tutti::placement::engine
