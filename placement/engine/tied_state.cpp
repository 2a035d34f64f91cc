// The least count of a spread is kept up to date: it is asked for each member and node.
#include "placement/engine/tied_state.hpp"

#include <algorithm>

#include "base/ensure.hpp"

namespace tutti::placement::engine {

tied_state::tied_state(const tied_problem& t, measure by)
    : t_(&t), with_pods_(by == measure::free), least_(t.spreads.size()) {
  now_.reserve(t.counters.size());
  for (const auto& c : t.counters) {
    if (with_pods_)
      now_.push_back(c.base);
    else
      now_.emplace_back(c.base.size(), 0);
    total_.push_back(with_pods_ ? c.total : 0);
  }
  for (std::uint32_t r = 0; r < t.spreads.size(); ++r)
    find_least(r);
}

void tied_state::find_least(std::uint32_t rule) {
  const auto& r = t_->spreads[rule];
  const auto& counts = now_[r.counter];
  low_mark out;
  for (std::uint32_t d = 0; d < counts.size(); ++d) {
    if (!r.eligible[d])
      continue;
    if (out.domains == 0 || counts[d] < out.value)
      out = {counts[d], 0};
    out.domains += counts[d] == out.value;
  }
  least_[rule] = out;
}

bool tied_state::keeps_apart(std::uint32_t shape, node_ref node) const {
  for (auto c : t_->rules[shape].forbidden)
    if (at(c, node) > 0)
      return false;
  return true;
}

bool tied_state::may_be_first(std::uint32_t shape) const {
  const auto& rules = t_->rules[shape];
  if (!rules.is_near_itself)
    return false;
  for (auto c : rules.near)
    if (total_[c] > 0)
      return false;
  return true;
}

bool tied_state::is_near(std::uint32_t shape, node_ref node) const {
  if (!wants_near(shape))
    return true;
  bool found = true;
  for (auto c : t_->rules[shape].near) {
    const auto pods = at(c, node);
    if (pods < 0)
      return false;
    found = found && pods > 0;
  }
  return found || may_be_first(shape);
}

bool tied_state::is_even(std::uint32_t shape, node_ref node) const {
  for (auto number : t_->rules[shape].spread) {
    const auto& r = t_->spreads[number];
    const auto pods = at(r.counter, node);
    if (pods < 0 || pods + (r.counts_itself ? 1 : 0) - least(number) > r.max_skew)
      return false;
  }
  return true;
}

void tied_state::change(const tied_seat& x, std::int64_t by) {
  for (auto number : t_->rules[x.shape].raises) {
    const auto& c = t_->counters[number];
    const auto place = c.key->places->of(x.node);
    const auto domain = c.key->of_place[place];
    if (domain == no_domain || (c.only_on && !(*c.only_on)[place]))
      continue;
    auto& here = now_[number][domain];
    const auto before = here;
    here += by;
    total_[number] += by;
    ensure_slow(here >= 0, here, number);
    const auto rule = t_->rule_of_counter[number];
    if (rule == no_rule || !t_->spreads[rule].eligible[domain])
      continue;
    auto& low = least_[rule];
    if (before == low.value && --low.domains == 0)
      find_least(rule);
    else if (here < low.value)
      low = {here, 1};
    else if (here == low.value)
      ++low.domains;
  }
}

bool tied_state::all_even(std::span<const tied_seat> seats) const {
  for (const auto& s : seats)
    for (auto number : t_->rules[s.shape].spread) {
      const auto& r = t_->spreads[number];
      const auto pods = at(r.counter, s.node);
      if (pods < 0 || pods - least(number) > r.max_skew)
        return false;
    }
  return true;
}

namespace {

/// Lets members come one by one. What a member needs only grows, except that nobody else may have
/// come before a first one: so whatever spoils no first one comes without further thought.
class arrival {
public:
  arrival(const tied_problem& t, std::vector<tied_seat> waiting)
      : t_(t), state_(t, measure::free), waiting_(std::move(waiting)) {
    std::sort(waiting_.begin(), waiting_.end());
  }

  bool all_come() {
    while (come_freely()) {
    }
    if (waiting_.empty())
      return true;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const auto next = waiting_[i];
      if ((i > 0 && waiting_[i - 1] == next) || !state_.is_near(next.shape, next.node))
        continue;
      const auto keep = waiting_;
      const auto keep_state = state_;
      take(i);
      if (all_come())
        return true;
      waiting_ = keep;
      state_ = keep_state;
    }
    return come_at_once() && all_come();
  }

private:
  void take(std::size_t i) {
    state_.place(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  /// Somebody who still waits could be the first of its kind, unless this one comes before.
  bool spoils_a_first(const tied_seat& x) const {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const tied_seat& other) {
      if (!state_.may_be_first(other.shape) || !state_.wants_near(other.shape))
        return false;
      const auto& raises = t_.rules[x.shape].raises;
      return std::any_of(
          t_.rules[other.shape].near.begin(), t_.rules[other.shape].near.end(),
          [&](auto c) { return std::binary_search(raises.begin(), raises.end(), c); });
    });
  }

  bool come_freely() {
    for (std::size_t i = 0; i < waiting_.size(); ++i)
      if (state_.is_near(waiting_[i].shape, waiting_[i].node) && !spoils_a_first(waiting_[i])) {
        take(i);
        return true;
      }
    return false;
  }

  /// The largest set of those that are no such pods themselves and are content with each other.
  bool come_at_once() {
    std::vector<tied_seat> group;
    std::vector<tied_seat> rest;
    for (const auto& x : waiting_)
      (t_.rules[x.shape].is_near_itself ? rest : group).push_back(x);
    for (const auto& x : group)
      state_.place(x);
    for (bool is_stable = false; !is_stable;) {
      const auto lost = std::find_if(group.begin(), group.end(), [&](const tied_seat& x) {
        return !state_.is_near(x.shape, x.node);
      });
      is_stable = lost == group.end();
      if (is_stable)
        break;
      state_.remove(*lost);
      rest.push_back(*lost);
      group.erase(lost);
    }
    std::sort(rest.begin(), rest.end());
    waiting_ = std::move(rest);
    return !group.empty();
  }

  const tied_problem& t_;
  tied_state state_;
  std::vector<tied_seat> waiting_;
};

} // namespace

bool tied_state::can_come_in_order(std::span<const tied_seat> seats) const {
  if (std::none_of(seats.begin(), seats.end(),
                   [&](const tied_seat& s) { return wants_near(s.shape); }))
    return true;
  return arrival{*t_, {seats.begin(), seats.end()}}.all_come();
}

} // namespace tutti::placement::engine
