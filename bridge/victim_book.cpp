// Facts by pod, group and budget; units are made when somebody asks.
#include "bridge/victim_book.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/ties.hpp"
#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::bridge {

namespace {

/// Pods in one piece of an answer: some hundred kilobytes.
constexpr std::size_t pods_per_piece = 2'000;

} // namespace

void victim_book::put(number pod, const api::pod& p, const std::string& group_name) {
  if (pod >= pods_.size())
    pods_.resize(pod + 1);
  auto& kept = pods_[pod];
  if (kept)
    count(pod, *kept, -1);
  else
    kept = std::make_unique<runner>();
  auto& x = *kept;
  x.name = {p.meta.space, p.meta.name};
  x.priority = p.priority.value_or(0);
  x.started_ms = p.started.value_or(p.meta.created).unix_ms;
  x.grace_ms =
      p.grace_seconds > std::numeric_limits<std::int32_t>::max() ? 0 : p.grace_seconds * 1000;
  x.is_leaving = p.meta.is_deleting();
  const bool is_same = x.of ? x.of->name.name == group_name : group_name.empty();
  if (!is_same) {
    leave_group(pod, x);
    if (!group_name.empty()) {
      x.of = &group_of({p.meta.space, group_name});
      x.of->pods.push_back(pod);
    }
  }
  count(pod, x, 1);
}

void victim_book::count(number pod, const runner& x, int change) {
  if (x.is_leaving && change > 0)
    leaving_.insert(pod);
  else if (x.is_leaving)
    leaving_.erase(pod);
  else if (change > 0)
    ++by_priority_[priority_of(x)];
  else if (const auto pos = by_priority_.find(priority_of(x)); --pos->second == 0)
    by_priority_.erase(pos);
}

void victim_book::remove(number pod) {
  if (pod >= pods_.size() || !pods_[pod])
    return;
  count(pod, *pods_[pod], -1);
  leave_group(pod, *pods_[pod]);
  pods_[pod].reset();
}

void victim_book::leave_group(number pod, runner& x) {
  auto* g = std::exchange(x.of, nullptr);
  if (g == nullptr)
    return;
  std::erase(g->pods, pod);
  if (g->pods.empty() && g->uid.empty())
    groups_.erase(protocol::object_name{g->name});
}

victim_book::group& victim_book::group_of(const protocol::object_name& name) {
  auto& g = groups_[name];
  g.name = name;
  return g;
}

std::int32_t victim_book::priority_of(const runner& x) {
  return x.of && x.of->priority ? *x.of->priority : x.priority;
}

std::int32_t victim_book::standing_of(number pod) const {
  if (pod >= pods_.size() || !pods_[pod])
    return 0;
  const auto& x = *pods_[pod];
  return x.is_leaving ? std::numeric_limits<std::int32_t>::min() : priority_of(x);
}

const std::vector<victim_book::number>& victim_book::put_group(const protocol::group_facts& x) {
  auto& g = group_of(x.name);
  for (const auto pod : g.pods)
    count(pod, *pods_[pod], -1);
  g.uid = x.uid;
  g.priority = how_.has_group_priorities ? std::optional{x.priority} : std::nullopt;
  g.goes_whole = x.evicts_whole;
  for (const auto pod : g.pods)
    count(pod, *pods_[pod], 1);
  return g.pods;
}

const std::vector<victim_book::number>& victim_book::drop_group(const protocol::object_name& name) {
  static const std::vector<number> nobody;
  const auto pos = groups_.find(name);
  if (pos == groups_.end())
    return nobody;
  auto& g = pos->second;
  if (g.pods.empty()) {
    groups_.erase(pos);
    return nobody;
  }
  for (const auto pod : g.pods)
    count(pod, *pods_[pod], -1);
  g.uid.clear();
  g.priority.reset();
  g.goes_whole = false;
  for (const auto pod : g.pods)
    count(pod, *pods_[pod], 1);
  return g.pods;
}

void victim_book::put_budget(api::disruption_budget x) {
  protocol::object_name name{x.meta.space, x.meta.name};
  budgets_.insert_or_assign(std::move(name), std::move(x));
}

void victim_book::drop_budget(const protocol::object_name& name) {
  budgets_.erase(name);
}

victim_book::by_labels victim_book::read(const base::ties& x) const {
  by_labels out;
  const auto decoded = api::decode_ties(x.blob);
  ensure(decoded.has_value(), x.blob.size());
  out.is_exempt = api::matches_list(how_.exempt, decoded->labels);
  std::uint32_t index = 0;
  for (const auto& [name, budget] : budgets_) {
    if (name.space == decoded->space && api::matches_list(budget.pods, decoded->labels))
      out.budgets.push_back(index);
    ++index;
  }
  return out;
}

/// One answer in the making.
class victim_book::teller {
public:
  teller(const victim_book& book, const protocol::offers_wanted& asked, const place_of& where)
      : book_(book), asked_(asked), where_(where) {
    begin_piece();
    for (const auto& [name, x] : book.budgets_)
      pieces_.back().budgets.push_back({name, x.allowed});
  }

  void tell_pod(number pod, const runner& x) {
    if (!x.is_leaving && x.of && x.of->goes_whole)
      return; // with its group
    if (!x.is_leaving && !is_below(priority_of(x)))
      return;
    protocol::offer_unit unit;
    unit.name = x.name;
    unit.is_leaving = x.is_leaving;
    unit.priority = priority_of(x);
    const auto uid = add(unit, pod, x);
    unit.gang = x.of ? gang_of(*x.of) : base::gang_uid{uid.value};
    put(std::move(unit));
  }

  /// Those of it that are leaving go by themselves, each for itself.
  void tell_group(const group& g) {
    if (!g.goes_whole || !g.priority || !is_below(*g.priority))
      return;
    protocol::offer_unit unit;
    unit.name = g.name;
    unit.is_group = true;
    unit.priority = *g.priority;
    unit.gang = gang_of(g);
    for (const auto pod : g.pods)
      if (const auto& x = *book_.pods_[pod]; !x.is_leaving) {
        add(unit, pod, x);
        if (base::is_planted(base::mutant::offer_a_part))
          break;
      }
    if (!unit.pods.empty())
      put(std::move(unit));
  }

  std::vector<protocol::offers> take() {
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
      pieces_[i].piece = i;
      pieces_[i].pieces = static_cast<std::uint32_t>(pieces_.size());
    }
    return std::move(pieces_);
  }

private:
  bool is_below(std::int32_t priority) const {
    return base::is_planted(base::mutant::offer_equals) ? priority <= asked_.below
                                                        : priority < asked_.below;
  }
  static base::gang_uid gang_of(const group& g) {
    return {g.uid.empty() ? to_text(g.name) : g.uid};
  }
  void begin_piece() {
    pieces_.emplace_back().attempt = asked_.attempt;
    room_ = pods_per_piece;
  }
  void put(protocol::offer_unit unit) {
    if (room_ == 0)
      begin_piece();
    room_ -= std::min(room_, unit.pods.size());
    pieces_.back().units.push_back(std::move(unit));
  }

  base::pod_uid add(protocol::offer_unit& unit, number pod, const runner& x) {
    auto at = where_(pod);
    protocol::evictable out;
    out.pod = at.uid;
    out.name = x.name;
    out.node = at.node;
    if (at.takes)
      out.takes = *at.takes;
    out.ties = at.ties;
    out.started_ms = x.started_ms;
    out.grace_ms = x.grace_ms;
    // Where it runs is not known: what its unit would free is not either.
    unit.is_exempt |= at.node.value.empty();
    if (at.ties) {
      const auto& said = said_by(*at.ties);
      unit.is_exempt |= said.is_exempt;
      for (const auto budget : said.budgets) {
        const auto& of = std::next(book_.budgets_.begin(), budget)->second;
        if (!of.disrupted.contains(x.name.name)) // P-9: it is counted as gone already
          out.budgets.push_back(budget);
      }
    }
    unit.pods.push_back(std::move(out));
    return at.uid;
  }

  const by_labels& said_by(const base::ties& x) {
    if (book_.budgets_.empty() && book_.how_.exempt == api::label_selector{})
      return nothing_;
    auto [pos, is_new] = said_.try_emplace(x.id.value);
    if (is_new)
      pos->second = book_.read(x);
    return pos->second;
  }

  const victim_book& book_;
  const protocol::offers_wanted& asked_;
  const place_of& where_;
  const by_labels nothing_;
  boost::unordered_flat_map<std::uint64_t, by_labels> said_; ///< by ties
  std::vector<protocol::offers> pieces_;
  std::size_t room_ = 0; ///< for pods in the last piece
};

std::vector<protocol::offers> victim_book::tell(const protocol::offers_wanted& asked,
                                                const place_of& where) const {
  teller out{*this, asked, where};
  const bool is_anybody_below = !by_priority_.empty() && by_priority_.begin()->first < asked.below;
  if (!is_anybody_below && !base::is_planted(base::mutant::offer_equals)) {
    for (const auto pod : leaving_)
      out.tell_pod(pod, *pods_[pod]);
    return out.take();
  }
  for (number pod = 0; pod < pods_.size(); ++pod)
    if (pods_[pod])
      out.tell_pod(pod, *pods_[pod]);
  for (const auto& [name, g] : groups_)
    out.tell_group(g);
  return out.take();
}

} // namespace tutti::bridge
