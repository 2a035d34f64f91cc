// Options are priced again only where somebody went since.
#include "placement/engine/victim_greedy.hpp"

#include <algorithm>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Exchanges tried: each fills the room once more, and prices every node for it.
constexpr std::size_t exchanges_max = 24;
constexpr std::size_t prices_max = 20'000;

} // namespace

bool victim_greedy::is_dearer::operator()(const option& a, const option& b) const {
  const auto x = compare_rates(a.cost, a.gain, b.cost, b.gain);
  if (x != 0)
    return x > 0;
  return a.gain != b.gain ? a.gain < b.gain : a.place > b.place;
}

victim_greedy::victim_greedy(const victim_question& q, victim_counts& room, std::uint32_t domain,
                             std::int64_t required)
    : q_(q), room_(room), domain_(domain), required_(required), sum_(q.book),
      is_barred_(q.how.units.size(), false) {
  std::uint32_t places = 0;
  for (const auto place : room.places(domain))
    places = std::max(places, place + 1);
  versions_.assign(places, 0);
}

void victim_greedy::take(std::uint32_t unit) {
  room_.remove(unit);
  sum_.add(unit);
  chosen_.push_back(unit);
}

void victim_greedy::give_back(std::uint32_t unit) {
  room_.put_back(unit);
  sum_.drop(unit);
  std::erase(chosen_, unit);
}

/// Cost and gain of the option's units with those that are gone already. `gain` is what they give
/// on their place.
void victim_greedy::price(option& x) {
  const auto before = sum_.now();
  for (const auto u : x.units)
    sum_.add(u);
  x.cost = sum_.now() - before;
  for (const auto u : x.units)
    sum_.drop(u);
  const auto had = room_.total(domain_);
  const auto is_wide = [this](std::uint32_t u) { return room_.parts_of(u).size() > 1; };
  if (std::any_of(x.units.begin(), x.units.end(), is_wide)) {
    for (const auto u : x.units)
      room_.remove(u);
    x.gain = room_.total(domain_) - had;
    for (const auto u : x.units)
      room_.put_back(u);
  }
  x.gain = std::min(x.gain, required_ - had);
}

/// Leaves out parts, the dearest first, as long as there are `slots`.
void victim_greedy::thin_out(std::uint32_t place, std::vector<std::uint32_t>& parts,
                             std::vector<std::int64_t>& free, std::int64_t slots) const {
  ensure(place < versions_.size(), place);
  for (auto i = parts.size() - 1; i-- > 0;) { // without the last there are not enough
    const auto given = room_.row(room_.part(parts[i]).row);
    for (std::size_t k = 0; k < free.size(); ++k)
      free[k] -= given[k];
    if (room_.slots(free) >= slots) {
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    for (std::size_t k = 0; k < free.size(); ++k)
      free[k] += given[k];
  }
}

/// The best way to get slots on this node: parts from the cheapest up, for one slot, for more, as
/// long as the price per slot falls.
void victim_greedy::offer(std::uint32_t place) {
  const auto all = room_.slots_emptied(place);
  auto reached = room_.slots_now(place);
  if (all <= reached || is_done())
    return;
  option best;
  const auto given = room_.free(place);
  std::vector<std::int64_t> free(given.begin(), given.end());
  std::vector<std::uint32_t> parts;
  for (const auto i : room_.parts_on(place)) {
    const auto& p = room_.part(i);
    if (room_.is_gone(p.unit) || is_barred_[p.unit])
      continue;
    const auto row = room_.row(p.row);
    for (std::size_t k = 0; k < free.size(); ++k)
      free[k] += row[k];
    parts.push_back(i);
    const auto slots = room_.slots(free);
    if (slots <= reached)
      continue;
    reached = slots;
    auto fewer = parts;
    auto left = free;
    thin_out(place, fewer, left, slots);
    option x;
    x.gain = slots - room_.slots_now(place);
    for (const auto f : fewer)
      x.units.push_back(room_.part(f).unit);
    price(x);
    const bool is_better =
        best.gain == 0 || compare_rates(x.cost, x.gain, best.cost, best.gain) < 0;
    if (!is_better)
      break;
    best = std::move(x);
    if (room_.total(domain_) + best.gain >= required_)
      break;
  }
  if (best.gain == 0)
    return;
  best.place = place;
  best.version = versions_[place];
  options_.push(std::move(best));
}

/// False if the barred units would be needed.
bool victim_greedy::fill() {
  options_ = {};
  for (const auto place : room_.places(domain_))
    offer(place);
  while (!is_done()) {
    if (options_.empty())
      return false;
    auto best = options_.top();
    options_.pop();
    if (best.version != versions_[best.place])
      continue;
    // Near the end an option gives more than is missing, and others may be cheaper.
    if (room_.total(domain_) + best.gain > required_) {
      best.gain = required_ - room_.total(domain_);
      price(best);
      if (!options_.empty() && is_dearer{}(best, options_.top())) {
        options_.push(std::move(best));
        continue;
      }
    }
    for (const auto u : best.units)
      take(u);
    for (const auto u : best.units)
      for (const auto& p : room_.parts_of(u))
        if (room_.domain_of(p.place) == domain_)
          ++versions_[p.place];
    for (const auto u : best.units)
      for (const auto& p : room_.parts_of(u))
        if (room_.domain_of(p.place) == domain_)
          offer(p.place);
  }
  return true;
}

void victim_greedy::drop_unneeded() {
  auto order = chosen_;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    const auto x = compare(q_.book.alone(a), q_.book.alone(b));
    return x != 0 ? x > 0 : a < b;
  });
  for (const auto u : order) {
    room_.put_back(u);
    if (is_done()) {
      sum_.drop(u);
      std::erase(chosen_, u);
    } else {
      room_.remove(u);
    }
  }
}

/// Does without the unit, if that is cheaper.
bool victim_greedy::exchange_one(std::uint32_t unit) {
  const auto before = chosen_;
  const auto cost = sum_.now();
  give_back(unit);
  is_barred_[unit] = true;
  const bool is_full = fill();
  if (is_full)
    drop_unneeded();
  is_barred_[unit] = false;
  if (is_full && compare(sum_.now(), cost) < 0)
    return true;
  for (const auto u : unit_list{chosen_})
    give_back(u);
  for (const auto u : before)
    take(u);
  return false;
}

void victim_greedy::exchange() {
  auto order = chosen_;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    const auto x = compare(q_.book.alone(a), q_.book.alone(b));
    return x != 0 ? x > 0 : a < b;
  });
  const auto affordable = prices_max / std::max<std::size_t>(room_.places(domain_).size(), 1);
  order.resize(std::min({order.size(), exchanges_max, affordable}));
  for (const auto u : order)
    if (room_.is_gone(u))
      exchange_one(u);
}

std::optional<priced_set> victim_greedy::run(const weight& bound) {
  if (room_.emptied(domain_) < required_)
    return std::nullopt;
  const bool is_full = fill();
  ensure(is_full, domain_, required_, room_.total(domain_));
  drop_unneeded();
  if (compare(sum_.now(), bound) > 0)
    exchange();
  priced_set out{chosen_, sum_.now()};
  std::sort(out.units.begin(), out.units.end());
  for (const auto u : chosen_)
    room_.put_back(u);
  chosen_.clear();
  return out;
}

} // namespace tutti::placement::engine
