// Terms are added up here and nowhere else; a set's cost does not depend on the order of its units.
#include "placement/engine/victim_cost.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "base/resources.hpp"

namespace tutti::placement::engine {
namespace {

constexpr std::size_t violations_term = 0;
constexpr std::size_t first_priority_term = 1;
/// After the priorities.
constexpr std::size_t gangs_term = 0, work_term = 1, pods_term = 2, last_terms = 3;

std::strong_ordering compare_amounts(const auto& a, const auto& b, auto amount_of) {
  ensure(a.size() == b.size(), a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const auto x = amount_of(a[i]) <=> amount_of(b[i]); x != 0)
      return x;
  return std::strong_ordering::equal;
}

} // namespace

std::int64_t eviction_cost::of(std::string_view name) const {
  for (const auto& t : terms)
    if (t.name == name)
      return t.amount;
  return 0;
}

std::strong_ordering operator<=>(const eviction_cost& a, const eviction_cost& b) {
  return compare_amounts(a.terms, b.terms, [](const cost_term& t) { return t.amount; });
}

std::strong_ordering compare(const weight& a, const weight& b) {
  return compare_amounts(a, b, [](std::int64_t x) { return x; });
}

std::strong_ordering compare_rates(const weight& a, std::int64_t by, const weight& b,
                                   std::int64_t than) {
  ensure(a.size() == b.size() && by > 0 && than > 0, a.size(), b.size(), by, than);
  __extension__ using wide = __int128;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const auto x = wide{a[i]} * than, y = wide{b[i]} * by; x != y)
      return x < y ? std::strong_ordering::less : std::strong_ordering::greater;
  return std::strong_ordering::equal;
}

weight& operator+=(weight& a, const weight& b) {
  ensure(a.size() == b.size(), a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = base::checked_add(a[i], b[i]);
  return a;
}

weight operator-(weight a, const weight& b) {
  ensure(a.size() == b.size(), a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] -= b[i];
  return a;
}

std::string to_text(const eviction_cost& x) {
  std::string out;
  for (const auto& t : x.terms)
    if (t.amount != 0)
      out += fmt::format("{}{} {}", out.empty() ? "" : ", ", t.name, t.amount);
  return out.empty() ? "nothing" : out;
}

cost_book::cost_book(const eviction_spec& how) : how_(&how), units_(how.units.size()) {
  for (const auto& unit : how.units)
    if (may_go(unit, how) && (priorities_.empty() || priorities_.back() != unit.priority))
      priorities_.push_back(unit.priority);
  std::sort(priorities_.begin(), priorities_.end(), std::greater<>{});
  priorities_.erase(std::unique(priorities_.begin(), priorities_.end()), priorities_.end());
  names_.emplace_back("budget violations");
  for (const auto p : priorities_)
    names_.push_back(fmt::format("pods of priority {}", p));
  for (const auto* last : {"gangs", "work lost", "pods"})
    names_.emplace_back(last);
  read_units();
}

void cost_book::read_units() {
  boost::unordered_flat_map<std::string_view, std::uint32_t> number_of;
  std::vector<std::uint32_t> units_of_gang;
  for (std::uint32_t u = 0; u < how_->units.size(); ++u) {
    const auto& unit = how_->units[u];
    if (!may_go(unit, *how_))
      continue;
    auto& mine = units_[u];
    mine.gang = gangs_;
    // A unit without a gang is one by itself.
    if (!unit.gang.value.empty())
      mine.gang = number_of.try_emplace(unit.gang.value, gangs_).first->second;
    if (mine.gang == gangs_) {
      ++gangs_;
      units_of_gang.push_back(0);
    }
    ++units_of_gang[mine.gang];
    mine.priority_term = term_of_priority(unit.priority);
    mine.pods = static_cast<std::int64_t>(unit.pods.size());
    mine.work_lost = unit.work_lost;
    mine.first_budget = static_cast<std::uint32_t>(budgets_.size());
    if (!how_->budgets.empty())
      for (const auto& pod : unit.pods)
        for (const auto b : pod.budgets)
          if (b < how_->budgets.size())
            budgets_.push_back(b);
    mine.end_budget = static_cast<std::uint32_t>(budgets_.size());
  }
  read_least(units_of_gang);
}

void cost_book::read_least(const std::vector<std::uint32_t>& units_of_gang) {
  least_.assign(units_.size(), nothing());
  alone_ = least_;
  const auto gangs = names_.size() - last_terms + gangs_term;
  cost_sum sum{*this};
  for (std::uint32_t u = 0; u < units_.size(); ++u) {
    const auto& unit = units_[u];
    if (unit.pods == 0)
      continue;
    sum.add(u);
    alone_[u] = least_[u] = sum.now();
    sum.drop(u);
    least_[u][violations_term] =
        std::count_if(budgets_.begin() + unit.first_budget, budgets_.begin() + unit.end_budget,
                      [&](std::uint32_t b) { return how_->budgets[b].allowed <= 0; });
    least_[u][gangs] = units_of_gang[unit.gang] == 1;
  }
}

bool cost_book::have_equal_terms(std::uint32_t a, std::uint32_t b) const {
  const auto gangs = names_.size() - last_terms + gangs_term;
  return compare(least_[a], least_[b]) == 0 && compare(alone_[a], alone_[b]) == 0
         && (units_[a].gang == units_[b].gang || least_[a][gangs] == 1);
}

std::uint32_t cost_book::term_of_priority(std::int32_t priority) const {
  const auto pos =
      std::lower_bound(priorities_.begin(), priorities_.end(), priority, std::greater<>{});
  ensure(pos != priorities_.end() && *pos == priority, priority);
  return static_cast<std::uint32_t>(first_priority_term)
         + static_cast<std::uint32_t>(pos - priorities_.begin());
}

eviction_cost cost_book::tell(const weight& x) const {
  ensure(x.size() == names_.size(), x.size(), names_.size());
  eviction_cost out;
  for (std::size_t i = 0; i < x.size(); ++i)
    out.terms.push_back({names_[i], x[i]});
  return out;
}

weight cost_book::of(const std::vector<std::uint32_t>& units) const {
  cost_sum sum{*this};
  for (const auto u : units)
    sum.add(u);
  return sum.now();
}

cost_sum::cost_sum(const cost_book& book)
    : book_(&book), now_(book.terms(), 0), used_(book.how_->budgets.size(), 0),
      units_(book.gangs_, 0) {}

void cost_sum::change(std::uint32_t number, std::int64_t sign) {
  const auto& unit = book_->units_[number];
  ensure(unit.pods > 0, number);
  for (auto i = unit.first_budget; i < unit.end_budget; ++i) {
    auto& used = used_[book_->budgets_[i]];
    const auto allowed =
        std::max<std::int64_t>(book_->how_->budgets[book_->budgets_[i]].allowed, 0);
    now_[violations_term] -= std::max<std::int64_t>(used - allowed, 0);
    used += sign;
    now_[violations_term] += std::max<std::int64_t>(used - allowed, 0);
  }
  const auto tail = now_.size() - last_terms;
  now_[unit.priority_term] += sign * unit.pods;
  auto& of_gang = units_[unit.gang];
  now_[tail + gangs_term] -= of_gang > 0;
  of_gang += static_cast<std::int32_t>(sign);
  now_[tail + gangs_term] += of_gang > 0;
  now_[tail + work_term] += sign * unit.work_lost;
  now_[tail + pods_term] += sign * unit.pods;
}

} // namespace tutti::placement::engine
