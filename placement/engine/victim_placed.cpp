// A gang of unequal or tied members has no count: sets of victims are tried by placing it.
#include <algorithm>

#include "base/ensure.hpp"
#include "placement/engine/victim_orders.hpp"
#include "placement/engine/victim_search.hpp"

namespace tutti::placement::engine {
namespace {

/// Steps of the bound that one placement counts for: on so many nodes one more.
constexpr std::uint64_t placing_steps = 4;
constexpr std::int64_t nodes_per_step = 32;
/// A hard placement is not searched for long, only to know of one more set, and counts for more.
constexpr std::uint64_t search_steps_max = 5'000;
constexpr std::uint64_t undecided_steps = 400;
/// With more units the full search is not begun.
constexpr std::size_t searched_units_max = 64;

/// With fewer pods in the way a gang is placed more easily, unless it wants to be near some of
/// them, or spread evenly over domains in which some are counted.
bool grows_with_room(const victim_case& q) {
  const auto is_tied = [&q](auto u) { return q.matters(u); };
  if (!q.gang.ties || std::none_of(q.eligible.begin(), q.eligible.end(), is_tied))
    return true;
  return std::all_of(q.gang.ties->rules.begin(), q.gang.ties->rules.end(),
                     [](const auto& r) { return r.near.empty() && r.spread.empty(); });
}

class placed_search {
public:
  explicit placed_search(const victim_question& q)
      : q_(q), room_(q.where), sum_(q.book), steps_(q.how.set_steps),
        is_growing_(grows_with_room(q)), is_gone_(q.how.units.size(), false), untied_(q.gang) {
    for (const auto u : q.leaving)
      room_.remove(q.how.units[u]);
    untied_.ties = nullptr;
    for (auto& s : untied_.shapes)
      s.caps = nullptr;
  }

  least_answer run() {
    set_gone(q_.eligible);
    if (!may_fit()) {
      out_.most = most_;
      out_.is_sure = is_sure_;
      return std::move(out_);
    }
    if (auto all = fits(q_.how.bounds))
      keep_spared(spare_as_upstream(q_, room_, std::move(*all)), q_.eligible);
    for (const auto& order : orders_of_victims(q_))
      if (steps_ > 0)
        shortest_prefix(order);
    drop_unneeded();
    const bool went_through = search_all();
    out_.is_sure = went_through && is_sure_;
    out_.most = most_;
    if (out_.best)
      out_.bound = out_.is_sure ? out_.best->cost : bound_by_totals(q_);
    return std::move(out_);
  }

private:
  void flip(std::uint32_t u) {
    if (is_gone_[u])
      room_.put_back(q_.how.units[u]);
    else
      room_.remove(q_.how.units[u]);
    is_gone_[u] = !is_gone_[u];
  }
  void set_gone(const unit_list& units) {
    std::vector<bool> wanted(is_gone_.size(), false);
    for (const auto u : units)
      wanted[u] = true;
    for (const auto u : q_.eligible)
      if (wanted[u] != is_gone_[u])
        flip(u);
  }

  void pay(verdict what) {
    auto price = placing_steps + static_cast<std::uint64_t>(q_.where.nodes / nodes_per_step);
    price += what == verdict::undecided ? undecided_steps : 0;
    steps_ -= std::min(steps_, price);
  }
  std::optional<placement> fits() { return fits(bounds_); }
  std::optional<placement> fits(const options& bounds) {
    auto found = place_in(q_, room_.now(), bounds);
    pay(found.what);
    most_ = std::max(most_, found.most);
    if (found.what == verdict::placed)
      return std::move(found.where);
    is_sure_ = is_sure_ && found.what == verdict::impossible;
    return std::nullopt;
  }
  /// False only if the gang has no place whichever of those that are gone would stay: a proof.
  bool may_fit() {
    room_answer found;
    if (is_growing_ && q_.gang.ties) {
      found = place_in(q_, room_.now(), bounds_);
    } else {
      const auto x = solve(room_.now(), untied_, measure::free, bounds_, q_.memory);
      found.what = x.what;
      found.most = x.most;
    }
    pay(found.what);
    most_ = std::max(most_, found.most);
    return found.what != verdict::impossible;
  }

  void keep(victim_set x) {
    if (out_.best && compare(x.cost, out_.best->cost) >= 0) {
      out_.others.push_back({std::move(x.units), std::move(x.cost)});
      return;
    }
    if (out_.best)
      out_.others.push_back({std::move(out_.best->units), std::move(out_.best->cost)});
    out_.best = std::move(x);
  }

  /// The room is that of `x`: of those in `gone` all others are back.
  void keep_spared(victim_set x, const unit_list& gone) {
    for (const auto u : gone)
      is_gone_[u] = false;
    for (const auto u : x.units)
      is_gone_[u] = true;
    keep(std::move(x));
  }

  /// Places the gang anew without each of the best victims in turn, the dearest first.
  void drop_unneeded() {
    if (!out_.best)
      return;
    auto x = *out_.best;
    set_gone(x.units);
    auto order = x.units;
    std::sort(order.begin(), order.end(), is_dearer(q_.book));
    for (const auto u : order) {
      if (steps_ == 0)
        break;
      flip(u);
      if (auto found = fits()) {
        std::erase(x.units, u);
        x.where = std::move(*found);
      } else {
        flip(u);
      }
    }
    x.cost = q_.book.of(x.units);
    if (compare(x.cost, out_.best->cost) < 0)
      keep(std::move(x));
  }

  /// The fewest units from the front of the order that do, as far as halving finds them.
  void shortest_prefix(const unit_list& order) {
    set_gone(order);
    auto found = fits();
    if (!found)
      return;
    auto shortest = order.size();
    for (std::size_t low = 0; low < shortest && steps_ > 0;) {
      const auto middle = low + (shortest - low) / 2;
      set_gone({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle)});
      if (auto earlier = fits()) {
        shortest = middle;
        found = std::move(earlier);
      } else {
        low = middle + 1;
      }
    }
    unit_list gone(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shortest));
    set_gone(gone);
    std::sort(gone.begin(), gone.end(), is_dearer(q_.book));
    auto x = spare(q_, room_, std::move(*found), gone);
    keep_spared(std::move(x), gone);
  }

  /// Every set, from that in which all are gone down; the dearest units come back first. True if it
  /// went through all that could be cheaper.
  bool search_all() {
    if (q_.eligible.size() > searched_units_max)
      return false;
    order_ = q_.eligible;
    std::sort(order_.begin(), order_.end(), is_dearer(q_.book));
    set_gone(q_.eligible);
    return go(0);
  }
  bool go(std::size_t from) {
    if (steps_ == 0)
      return false;
    if (out_.best && compare(sum_.now(), out_.best->cost) >= 0)
      return true;
    if (from == order_.size()) {
      if (auto found = fits()) {
        victim_set x{{}, std::move(*found), sum_.now()};
        for (const auto u : q_.eligible)
          if (is_gone_[u])
            x.units.push_back(u);
        keep(std::move(x));
      }
      return true;
    }
    const auto u = order_[from];
    flip(u);
    const bool kept = !may_fit() || go(from + 1);
    flip(u);
    if (!kept)
      return false;
    sum_.add(u);
    const bool gone = go(from + 1);
    sum_.drop(u);
    return gone;
  }

  const victim_question& q_;
  victim_room room_;
  cost_sum sum_;
  std::uint64_t steps_;
  bool is_growing_;
  bool is_sure_ = true; // no placement ended undecided
  std::int64_t most_ = 0;
  std::vector<bool> is_gone_;
  problem untied_;
  options bounds_; // of one placement
  unit_list order_;
  least_answer out_{};
};

} // namespace

least_answer search_placed(const victim_question& q) {
  return placed_search{q}.run();
}

} // namespace tutti::placement::engine
