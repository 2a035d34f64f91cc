// What a set of victims costs, and the one place that says in which order costs count.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/victim_units.hpp"

namespace tutti::placement::engine {

/// One amount of a cost, for people: "pods of priority 5", 3.
struct cost_term {
  std::string name;
  std::int64_t amount = 0;

  friend bool operator==(const cost_term&, const cost_term&) = default;
};

/// Terms in the order in which they count: an earlier one outweighs all later ones. Costs of one
/// `eviction_spec` have the same terms and may be compared.
struct eviction_cost {
  std::vector<cost_term> terms;

  /// 0 if there is no such term.
  std::int64_t of(std::string_view name) const;
  friend bool operator==(const eviction_cost&, const eviction_cost&) = default;
};
std::strong_ordering operator<=>(const eviction_cost& a, const eviction_cost& b);
/// "budget violations 1, pods of priority 5 3, gangs 1": what is not zero.
std::string to_text(const eviction_cost& x);

/// The amounts alone, in the same order.
using weight = boost::container::small_vector<std::int64_t, 8>;
std::strong_ordering compare(const weight& a, const weight& b);
/// a / by compared with b / than: what is paid for one slot. Both divisors are positive.
std::strong_ordering compare_rates(const weight& a, std::int64_t by, const weight& b,
                                   std::int64_t than);
weight& operator+=(weight& a, const weight& b);
weight operator-(weight a, const weight& b);

/// The order of cost:
///
///   1. budget violations: pods beyond what each budget allows, over the whole set
///   2. pods of the highest priority, then of the next, … down to the lowest
///   3. gangs that lose a pod
///   4. work lost
///   5. pods
///
/// (5 follows from 2 and never decides; it is there to be read.) Every term grows with the set. A
/// new term is added in victim_cost.cpp alone: its name in the constructor, its sum in
/// `cost_sum::change`; and in `read_least`, if what a unit adds depends on who else goes.
class cost_book {
public:
  explicit cost_book(const eviction_spec& how);

  std::size_t terms() const { return names_.size(); }
  /// What the unit adds to every set, whoever else is in it: sums of these are bounds.
  const weight& least(std::uint32_t unit) const { return least_[unit]; }
  /// What it costs if nobody else goes.
  const weight& alone(std::uint32_t unit) const { return alone_[unit]; }
  /// Either may stand for the other in any set, as far as costs go.
  bool have_equal_terms(std::uint32_t a, std::uint32_t b) const;
  weight nothing() const { return weight(names_.size(), 0); }
  eviction_cost tell(const weight& x) const;
  weight of(const std::vector<std::uint32_t>& units) const;

private:
  friend class cost_sum;
  std::uint32_t term_of_priority(std::int32_t priority) const;

  const eviction_spec* how_;
  std::vector<std::string> names_;
  std::vector<std::int32_t> priorities_; // of units that may go, highest first
  std::vector<weight> least_, alone_;    // by unit; of units that may not go: zeros
  std::uint32_t gangs_ = 0;
  /// All that sums need of a unit, apart from its pods: these are far away in memory.
  struct summary {
    std::uint32_t gang = 0; // a number for each
    std::uint32_t priority_term = 0;
    std::int64_t pods = 0;
    std::int64_t work_lost = 0;
    std::uint32_t first_budget = 0; // in `budgets_`: one entry for each pod that a budget counts
    std::uint32_t end_budget = 0;
  };
  std::vector<summary> units_;
  std::vector<std::uint32_t> budgets_;
  void read_units();
  void read_least(const std::vector<std::uint32_t>& units_of_gang);
};

/// The cost of a set that changes. Dropping a unit undoes its adding exactly, in any order.
class cost_sum {
public:
  explicit cost_sum(const cost_book& book);

  void add(std::uint32_t unit) { change(unit, +1); }
  void drop(std::uint32_t unit) { change(unit, -1); }
  const weight& now() const { return now_; }

private:
  void change(std::uint32_t unit, std::int64_t sign);

  const cost_book* book_;
  weight now_;
  std::vector<std::int64_t> used_;  // by budget
  std::vector<std::int32_t> units_; // by gang
};

} // namespace tutti::placement::engine
