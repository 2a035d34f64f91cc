// Nodes that are in the same domains are one cell: rules are asked once per cell, not per node.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ensure.hpp"
#include "placement/engine/tied_search.hpp"

namespace tutti::placement::engine {
namespace {

/// Domains in which the first member of an affinity is tried.
constexpr std::uint32_t anchors_max = 16;

/// Puts members of a shape on nodes of a domain, the emptiest domain of its spread first.
class tied_filler {
public:
  tied_filler(trial& on, tied_state& state, std::uint32_t shape, const domain_view& domain,
              node_order nodes)
      : on_(on), state_(state), shape_(shape), rules_(state.problem().rules[shape]), nodes_(nodes) {
    sort_rules();
    cut_cells(domain);
  }

  /// Places one member; false if no node admits it now. `rank`: where a first member goes.
  bool place_one(std::uint32_t lot, std::int64_t wanted, std::uint32_t rank) {
    const auto* anchor = find_anchor(wanted, rank);
    if (anchor == &no_anchor_)
      return false;
    for (auto& c : cells_)
      c.was_tried = false;
    while (auto* best = best_cell(anchor)) {
      best->was_tried = true;
      if (place_in(*best, lot))
        return true;
    }
    return false;
  }

  /// How many domains a first member could have been put in.
  std::uint32_t anchors() const { return static_cast<std::uint32_t>(anchors_.size()); }

private:
  struct item {
    std::int64_t level; // of the spreads over single nodes
    std::uint32_t rank; // slots: the tighter, or the roomier, the earlier
    std::uint32_t order;
    node_ref node;

    friend bool operator<(const item& a, const item& b) { // for a heap: the last comes first
      return std::tie(a.level, a.rank, a.order) > std::tie(b.level, b.rank, b.order);
    }
  };
  struct cell {
    node_ref example;
    std::vector<item> nodes; // a heap
    std::uint64_t slots = 0;
    std::int32_t taste = 0; // the best
    bool was_tried = false;
  };
  using place_of_near = std::vector<std::uint32_t>;
  struct anchor_choice {
    place_of_near domains;
    std::uint64_t slots = 0;
  };

  bool is_fine(std::uint32_t counter) const {
    return state_.problem().counters[counter].key->is_per_node
           && std::find(rules_.near.begin(), rules_.near.end(), counter) == rules_.near.end();
  }

  void sort_rules() {
    const auto& t = state_.problem();
    for (auto c : rules_.forbidden)
      if (!is_fine(c))
        cell_forbidden_.push_back(c);
    for (auto r : rules_.spread)
      (is_fine(t.spreads[r].counter) ? node_levels_ : cell_levels_).push_back(t.spreads[r].counter);
    for (auto r : rules_.spread)
      if (!is_fine(t.spreads[r].counter))
        cell_rules_.push_back(r);
    for (auto r : rules_.soft_spread)
      (is_fine(t.spreads[r].counter) ? node_levels_ : cell_levels_).push_back(t.spreads[r].counter);
  }

  void cut_cells(const domain_view& domain) {
    std::vector<const key_map*> keys;
    for (const std::vector<std::uint32_t>* list :
         {&std::as_const(cell_forbidden_), &std::as_const(cell_levels_), &rules_.near})
      for (auto c : *list)
        keys.push_back(state_.problem().counters[c].key.get());
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> number_of; // (before, domain)
    std::vector<std::uint32_t> cell_of;                                // by number
    std::uint32_t order = 0;
    for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
      const auto number = domain.blocks[i];
      const auto& counts = on_.slots(shape_, number);
      if (counts.empty())
        continue;
      for (auto slot : on_.where().blocks[number]->by_name) {
        const auto slots = counts.slots[slot];
        if (slots == 0 || !domain.has(i, slot))
          continue;
        const node_ref node{number, slot};
        std::uint32_t id = 0;
        for (const auto* k : keys)
          id = number_of
                   .try_emplace((std::uint64_t{id} << 32) | k->of(node),
                                static_cast<std::uint32_t>(number_of.size() + 1))
                   .first->second;
        if (cell_of.size() <= id)
          cell_of.resize(id + 1, 0);
        if (cell_of[id] == 0) {
          cells_.push_back({node, {}, 0, 0, false});
          cell_of[id] = static_cast<std::uint32_t>(cells_.size());
        }
        add(cells_[cell_of[id] - 1], {level_of_node(node), slots, order++, node});
      }
    }
    for (auto& c : cells_)
      std::make_heap(c.nodes.begin(), c.nodes.end());
  }

  void add(cell& c, item x) {
    c.slots += x.rank;
    const auto taste = on_.taste_of(shape_, x.node);
    c.taste = c.nodes.empty() ? taste : std::max(c.taste, taste);
    if (nodes_ == node_order::roomiest)
      x.rank = most_slots - x.rank;
    c.nodes.push_back(x);
  }

  std::int64_t level_of_node(node_ref node) const {
    std::int64_t out = 0;
    for (auto c : node_levels_)
      out += std::max<std::int64_t>(state_.at(c, node), 0);
    return out;
  }

  place_of_near near_of(node_ref node) const {
    place_of_near out;
    for (auto c : rules_.near)
      out.push_back(state_.problem().counters[c].key->of(node));
    return out;
  }

  /// Where nobody is yet to whom its affinity leads, the first member decides for all that follow:
  /// into the domain that takes them with the least room left over, or the roomiest if none does.
  const place_of_near* find_anchor(std::int64_t wanted, std::uint32_t rank) {
    if (!state_.wants_near(shape_) || !state_.may_be_first(shape_))
      return nullptr;
    if (anchors_.empty()) {
      std::map<place_of_near, std::uint64_t> slots;
      for (const auto& c : cells_)
        slots[near_of(c.example)] += c.slots;
      for (auto& [domains, n] : slots)
        anchors_.push_back({domains, n});
      const auto want = static_cast<std::uint64_t>(wanted);
      std::stable_sort(anchors_.begin(), anchors_.end(),
                       [&](const anchor_choice& a, const anchor_choice& b) {
                         const bool enough_a = a.slots >= want;
                         const bool enough_b = b.slots >= want;
                         if (enough_a != enough_b)
                           return enough_a;
                         return enough_a ? a.slots < b.slots : a.slots > b.slots;
                       });
    }
    return rank < anchors_.size() ? &anchors_[rank].domains : &no_anchor_;
  }

  bool admits(const cell& c) const {
    const auto& t = state_.problem();
    for (auto number : cell_forbidden_)
      if (state_.at(number, c.example) > 0)
        return false;
    for (auto number : cell_rules_) {
      const auto& r = t.spreads[number];
      const auto pods = state_.at(r.counter, c.example);
      if (pods < 0 || pods + (r.counts_itself ? 1 : 0) - state_.least(number) > r.max_skew)
        return false;
    }
    return state_.is_near(shape_, c.example);
  }

  bool is_better(const cell& a, const cell& b) const {
    for (auto c : cell_levels_) {
      const auto of_a = state_.at(c, a.example);
      const auto of_b = state_.at(c, b.example);
      if (of_a != of_b)
        return of_a < of_b;
    }
    if (a.taste != b.taste)
      return a.taste > b.taste;
    return b.nodes.front() < a.nodes.front();
  }

  cell* best_cell(const place_of_near* anchor) {
    cell* best = nullptr;
    for (auto& c : cells_)
      if (!c.was_tried && !c.nodes.empty() && admits(c)
          && (!anchor || near_of(c.example) == *anchor) && (!best || is_better(c, *best)))
        best = &c;
    return best;
  }

  /// Room and anti-affinity only get worse: a node that fails by them is dropped.
  bool place_in(cell& c, std::uint32_t lot) {
    while (!c.nodes.empty()) {
      std::pop_heap(c.nodes.begin(), c.nodes.end());
      auto x = c.nodes.back();
      c.nodes.pop_back();
      if (on_.slots_on(shape_, x.node) == 0 || !state_.keeps_apart(shape_, x.node))
        continue;
      const auto level = level_of_node(x.node);
      const bool is_stale = level != x.level;
      x.level = level;
      if (is_stale) {
        push(c, x);
        continue;
      }
      const bool may = state_.is_even(shape_, x.node);
      if (may) {
        on_.take({lot, shape_, x.node, 1});
        state_.place({shape_, x.node});
        x.level = level_of_node(x.node);
      }
      push(c, x);
      return may; // the nodes behind it have a higher level still
    }
    return false;
  }

  static void push(cell& c, const item& x) {
    c.nodes.push_back(x);
    std::push_heap(c.nodes.begin(), c.nodes.end());
  }

  trial& on_;
  tied_state& state_;
  std::uint32_t shape_;
  const tied_rules& rules_;
  node_order nodes_;
  std::vector<std::uint32_t> cell_forbidden_;
  std::vector<std::uint32_t> cell_rules_;
  std::vector<std::uint32_t> cell_levels_; // counters of spreads, wishes last
  std::vector<std::uint32_t> node_levels_; // … over single nodes
  std::vector<cell> cells_;
  std::vector<anchor_choice> anchors_;
  place_of_near no_anchor_;
};

using counts = std::vector<std::int64_t>;

struct tied_pass {
  trial& on;
  tied_state& state;
  const problem& p;
  const unit& u;
  const domain_view& domain;
};

struct pass_order {
  std::vector<std::uint32_t> lots;
  node_order nodes;
  std::uint32_t anchor;
};

/// Goes round the lots until none gets any further: some wait for others to come first. Returns how
/// many of each lot were placed, and raises `anchors` to how many could be tried.
counts go_round(const tied_pass& in, const pass_order& order, const counts& want,
                std::uint32_t& anchors) {
  counts got(in.p.lots.size(), 0);
  std::vector<std::unique_ptr<tied_filler>> fillers(in.p.shapes.size());
  for (bool is_moving = true; is_moving;) {
    is_moving = false;
    bool is_waiting = false;
    for (auto l : order.lots) {
      const auto shape = in.p.lots[l].shape;
      while (got[l] < want[l]) {
        auto& filler = fillers[shape];
        if (!filler)
          filler = std::make_unique<tied_filler>(in.on, in.state, shape, in.domain, order.nodes);
        if (!filler->place_one(l, want[l], order.anchor)) {
          is_waiting = true;
          break;
        }
        ++got[l];
        is_moving = true;
      }
      if (fillers[shape])
        anchors = std::max(anchors, fillers[shape]->anchors());
    }
    if (!is_waiting)
      break;
  }
  return got;
}

counts of_groups(const problem& p, const counts& of_lots) {
  counts out(p.groups.size(), 0);
  for (std::size_t l = 0; l < of_lots.size(); ++l)
    out[p.lots[l].group] += of_lots[l];
  return out;
}

bool reaches_minimum(const problem& p, const unit& u, const counts& of_lots) {
  const auto got = of_groups(p, of_lots);
  return std::all_of(u.groups.begin(), u.groups.end(),
                     [&](auto g) { return got[g] >= p.groups[g].required; });
}

/// Hardest first: fewest slots, then bulkiest. The second order begins with those that ask for
/// nobody, for they may be whom the others ask for; the third is the other way round.
std::vector<std::vector<std::uint32_t>> lot_orders(const tied_pass& in) {
  auto hardest = in.u.lots;
  std::vector<std::uint64_t> slots(in.p.lots.size(), 0);
  for (auto l : hardest)
    slots[l] = in.on.slots_in(in.p.lots[l].shape, in.domain);
  std::stable_sort(hardest.begin(), hardest.end(), [&](auto a, auto b) {
    return slots[a] != slots[b]
               ? slots[a] < slots[b]
               : in.p.shapes[in.p.lots[a].shape].weight > in.p.shapes[in.p.lots[b].shape].weight;
  });
  std::vector<std::vector<std::uint32_t>> out{hardest};
  if (hardest.size() == 1)
    return out;
  auto bulkiest = hardest;
  std::stable_sort(bulkiest.begin(), bulkiest.end(), [&](auto a, auto b) {
    return in.p.shapes[in.p.lots[a].shape].weight > in.p.shapes[in.p.lots[b].shape].weight;
  });
  out.push_back(std::move(bulkiest));
  auto asked = hardest;
  const auto asks = [&](std::uint32_t l) {
    const auto& r = in.p.ties->rules[in.p.lots[l].shape];
    return !r.near.empty();
  };
  std::stable_partition(asked.begin(), asked.end(), [&](auto l) { return !asks(l); });
  out.push_back(asked);
  std::stable_partition(asked.begin(), asked.end(), asks);
  out.push_back(std::move(asked));
  return out;
}

/// Per group only as many as required, the easiest of them.
counts easiest(const problem& p, const std::vector<std::uint32_t>& hardest_first) {
  counts out(p.lots.size(), 0);
  std::vector<std::int64_t> left;
  for (const auto& g : p.groups)
    left.push_back(g.required);
  for (auto pos = hardest_first.rbegin(); pos != hardest_first.rend(); ++pos) {
    const auto& l = p.lots[*pos];
    out[*pos] = std::min(left[l.group], static_cast<std::int64_t>(l.members.size()));
    left[l.group] -= out[*pos];
  }
  return out;
}

std::int64_t sum(const counts& x) {
  return std::accumulate(x.begin(), x.end(), std::int64_t{0});
}

/// All orders for one choice of members; the seats stay if it comes out.
bool try_orders(const tied_pass& in, const std::vector<std::vector<std::uint32_t>>& orders,
                const counts& want, fill_result& out) {
  const auto before = in.on.taken().size();
  std::uint32_t anchors = 1;
  for (std::uint32_t anchor = 0; anchor < std::min(anchors, anchors_max); ++anchor)
    for (auto nodes : {node_order::tightest, node_order::roomiest})
      for (const auto& lots : orders) {
        const auto got = go_round(in, {lots, nodes, anchor}, want, anchors);
        // Members may have unbalanced a spread that is not theirs.
        const bool all_hold = in.state.all_even(seats_since(in.on, 0));
        if (all_hold)
          out.most = std::max(out.most, sum(got));
        if (all_hold && reaches_minimum(in.p, in.u, got)) {
          out.what = verdict::placed;
          return true;
        }
        undo(in.on, in.state, before);
      }
  return false;
}

} // namespace

std::vector<tied_seat> seats_since(const trial& on, std::size_t keep) {
  std::vector<tied_seat> out;
  const auto& taken = on.taken();
  for (std::size_t i = keep; i < taken.size(); ++i)
    out.insert(out.end(), taken[i].count, {taken[i].shape, taken[i].node});
  return out;
}

void undo(trial& on, tied_state& state, std::size_t keep) {
  for (const auto& s : seats_since(on, keep))
    state.remove(s);
  on.undo(keep);
}

fill_result place_tied(trial& on, tied_state& state, const problem& p, const unit& u,
                       const domain_view& domain, bool all) {
  const tied_pass in{on, state, p, u, domain};
  const auto before = on.taken().size();
  fill_result out;
  out.what = verdict::undecided;
  const auto orders = lot_orders(in);
  counts everything(p.lots.size(), 0);
  for (auto l : u.lots)
    everything[l] = static_cast<std::int64_t>(p.lots[l].members.size());
  const auto minimum = easiest(p, orders.front());
  const bool may_all = all && try_orders(in, orders, everything, out);
  const bool has_less = !all || sum(minimum) < sum(everything);
  if (!may_all && (!has_less || !try_orders(in, orders, minimum, out)))
    return out;
  if (all)
    place_tied_extras(on, state, p, u, domain);
  out.most = static_cast<std::int64_t>(seats_since(on, before).size());
  return out;
}

std::int64_t place_tied_extras(trial& on, tied_state& state, const problem& p, const unit& u,
                               const domain_view& domain) {
  const tied_pass in{on, state, p, u, domain};
  counts left(p.lots.size(), 0);
  for (auto l : u.lots)
    left[l] = static_cast<std::int64_t>(p.lots[l].members.size());
  for (const auto& r : on.taken())
    left[r.lot] -= r.count;
  if (std::none_of(u.lots.begin(), u.lots.end(), [&](auto l) { return left[l] > 0; }))
    return 0;
  const auto before = on.taken().size();
  std::uint32_t anchors = 1;
  std::int64_t placed = 0;
  const auto orders = lot_orders(in);
  for (auto l : orders.front()) {
    counts want(p.lots.size(), 0);
    want[l] = left[l];
    const auto keep = on.taken().size();
    const auto got = sum(go_round(in, {{l}, node_order::tightest, 0}, want, anchors));
    if (state.all_even(seats_since(on, 0)))
      placed += got;
    else
      undo(on, state, keep);
  }
  ensure(placed == static_cast<std::int64_t>(on.taken().size() - before), placed);
  return placed;
}

} // namespace tutti::placement::engine
