// The full search: every assignment of members to nodes, until the steps run out.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include <boost/unordered/unordered_flat_set.hpp>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "placement/engine/exact_room.hpp"
#include "placement/engine/tied_search.hpp"

namespace tutti::placement::engine {
namespace {

/// Larger problems would not end within any bound worth waiting for.
constexpr std::size_t candidates_max = 256;
constexpr std::size_t members_max = 64;
/// Dead ends that are remembered; each takes 16 bytes.
constexpr std::size_t dead_ends_max = 1u << 18;

/// What identifies a state of the search, whichever of equal nodes and equal members made it. Two
/// sums of 64 bits each: that two states look the same will not happen.
struct state_key {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  state_key& operator+=(std::uint64_t x) {
    a += base::hash_of(x);
    b += base::hash_combine(x, 0x51ed270b27b4f3cfULL);
    return *this;
  }
  state_key& operator-=(std::uint64_t x) {
    a -= base::hash_of(x);
    b -= base::hash_combine(x, 0x51ed270b27b4f3cfULL);
    return *this;
  }
  friend bool operator==(const state_key&, const state_key&) = default;
};
struct hash_of_key {
  std::size_t operator()(const state_key& x) const { return static_cast<std::size_t>(x.a); }
};

/// Which lot's members are placed first.
enum class lot_order : std::uint8_t { bulkiest, fewest_slots };

/// First a domain for each unit, then depth first over members, the tightest node first. Nodes that
/// look alike are tried once. What follows depends on what nodes have left, not on how it came to
/// that: a state that was a dead end once is not entered again. A member may be left out as long as
/// its group still reaches the minimum. Anti-affinity cuts at once; of a spread it is asked whether
/// the least count can still rise far enough; affinity is asked at the end.
class full_search {
public:
  using domain_lists = std::vector<std::vector<domain_view>>;

  /// `units` are numbers of those to be placed, `domains` has a list for each of them.
  full_search(trial& on, const problem& p, std::vector<std::size_t> units,
              const domain_lists& domains, bool has_ties, lot_order order, std::uint64_t& steps)
      : on_(on), p_(p), units_(std::move(units)), domains_(domains), steps_(steps) {
    if (has_ties)
      state_ = std::make_unique<tied_state>(*p.ties, on.by());
    unit_of_group_.resize(p.groups.size(), none);
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const auto& unit = p.units[units_[u]];
      lots_.insert(lots_.end(), unit.lots.begin(), unit.lots.end());
      for (auto g : unit.groups)
        unit_of_group_[g] = u;
    }
    sort_lots(order);
    for (auto l : lots_)
      members_ += p.lots[l].members.size();
    for (const auto& g : p.groups)
      spare_.push_back(g.pending - g.required);
    chosen_.assign(units_.size(), none);
    find_resources();
    map_domains();
  }

  verdict run() {
    if (members_ > members_max || !find_candidates())
      return verdict::undecided;
    if (state_) {
      find_stuck();
      find_closed();
    }
    if (choose_domain(0))
      return verdict::placed;
    return steps_ == 0 ? verdict::undecided : verdict::impossible;
  }

  /// Takes the seats that were found, and tells which domain each unit has.
  void take_found(std::vector<std::size_t>& chosen) {
    for (const auto& [lot, node] : found_)
      on_.take({lot, p_.lots[lot].shape, nodes_[node].at, 1});
    chosen.assign(chosen_.size(), 0);
    for (std::size_t u = 0; u < chosen.size(); ++u)
      chosen[u] = chosen_[u] == none ? 0 : chosen_[u];
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct candidate {
    node_ref at;
    base::port_list ports;
    std::vector<std::uint32_t> caps;      // by shape: slots when the search begins
    std::vector<std::uint32_t> domain_of; // by unit: index, or none
    std::vector<std::uint32_t> seats;     // by shape: taken by the search
    std::uint32_t alike = 0;              // equal for nodes that were equal before the search
    std::uint64_t key = 0;                // of what distinguishes it from others now
  };

  void sort_lots(lot_order order) {
    const auto key = [&](std::uint32_t l) {
      const auto& shape = p_.shapes[p_.lots[l].shape];
      if (order == lot_order::bulkiest)
        return -shape.weight;
      double slots = 0;
      for (const auto& domain : domains_[unit_of(l)])
        slots += static_cast<double>(on_.slots_in(p_.lots[l].shape, domain));
      return slots / static_cast<double>(p_.lots[l].members.size());
    };
    std::stable_sort(lots_.begin(), lots_.end(), [&](auto a, auto b) { return key(a) < key(b); });
  }

  /// Resources that a member needs; its needs by shape.
  void find_resources() {
    for (auto l : lots_)
      for (const auto& n : p_.shapes[p_.lots[l].shape].needs)
        resources_.push_back(n.what);
    std::sort(resources_.begin(), resources_.end());
    resources_.erase(std::unique(resources_.begin(), resources_.end()), resources_.end());
    needs_.assign(p_.shapes.size(), room_vector(resources_.size(), 0));
    for (std::size_t s = 0; s < p_.shapes.size(); ++s)
      for (const auto& n : p_.shapes[s].needs)
        if (const auto pos = std::lower_bound(resources_.begin(), resources_.end(), n.what);
            pos != resources_.end() && *pos == n.what)
          needs_[s][static_cast<std::size_t>(pos - resources_.begin())] = n.amount;
    count_ports();
    if (state_)
      count_apart();
  }

  /// What a node takes one of is a resource of which it has one: then counting sees it, too.
  void add_single(const std::vector<std::uint32_t>& shapes) {
    for (auto& needs : needs_)
      needs.push_back(0);
    for (auto s : shapes)
      needs_[s].back() = 1;
    ++singles_;
  }

  /// A port on every address of a node.
  void count_ports() {
    std::map<base::host_port, std::vector<std::uint32_t>> takers;
    for (auto s : shapes_of_lots())
      for (const auto& port : p_.shapes[s].memory->view.kind().takes.ports)
        if (const auto ip = port.ip.text(); ip.empty() || ip == "0.0.0.0")
          takers[{base::symbol{""}, port.protocol, port.port}].push_back(s);
    for (const auto& [port, shapes] : takers)
      add_single(shapes);
  }

  /// Members that keep each other off a node.
  void count_apart() {
    for (std::uint32_t c = 0; c < p_.ties->counters.size(); ++c) {
      if (!p_.ties->counters[c].key->is_per_node)
        continue;
      std::vector<std::uint32_t> shapes;
      for (auto s : shapes_of_lots()) {
        const auto& forbidden = p_.ties->rules[s].forbidden;
        if (raises(s, c) && std::find(forbidden.begin(), forbidden.end(), c) != forbidden.end())
          shapes.push_back(s);
      }
      if (!shapes.empty())
        add_single(shapes);
    }
  }

  std::vector<std::uint32_t> shapes_of_lots() const {
    std::vector<std::uint32_t> out;
    for (auto l : lots_)
      out.push_back(p_.lots[l].shape);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  void map_domains() {
    std::uint32_t places = 0;
    for (const auto& b : on_.where().blocks) {
      first_.push_back(places);
      places += static_cast<std::uint32_t>(b->size());
    }
    for (const auto& of_unit : domains_) {
      auto& map = domain_of_place_.emplace_back(places, none);
      for (std::uint32_t d = 0; d < of_unit.size(); ++d)
        for (std::size_t i = 0; i < of_unit[d].blocks.size(); ++i)
          for (auto slot : on_.where().blocks[of_unit[d].blocks[i]]->by_name)
            if (of_unit[d].has(i, slot))
              map[first_[of_unit[d].blocks[i]] + slot] = d;
    }
  }

  /// Nodes of use; of those that are alike no more than there are members. False if too many.
  bool find_candidates() {
    using likeness = std::vector<std::int64_t>;
    std::map<likeness, std::pair<std::uint32_t, std::size_t>> known; // number, how many
    for (auto number : on_.where().index->in_order)
      for (auto slot : on_.where().blocks[number]->by_name) {
        const node_ref node{number, slot};
        if (!is_in_a_domain(node))
          continue;
        candidate c = candidate_at(node);
        if (!is_of_use(c))
          continue;
        auto left = room_at(node);
        likeness like(left.begin(), left.end());
        like.insert(like.end(), c.caps.begin(), c.caps.end());
        like.insert(like.end(), c.domain_of.begin(), c.domain_of.end());
        add_ties(node, like);
        for (const auto& p : c.ports) {
          like.push_back(static_cast<std::int64_t>(base::hash_of(p.ip.text())));
          like.push_back(static_cast<std::int64_t>(base::hash_of(p.protocol.text())));
          like.push_back(p.port);
        }
        auto [pos, is_new] =
            known.try_emplace(std::move(like), static_cast<std::uint32_t>(known.size()), 0);
        if (++pos->second.second > members_)
          continue;
        if (nodes_.size() == candidates_max)
          return false;
        c.alike = pos->second.first;
        nodes_.push_back(std::move(c));
        left_.push_back(std::move(left));
      }
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].key = key_of(i);
      key_ += nodes_[i].key;
    }
    may_on_.assign(lots_.size(), std::vector<std::uint8_t>(nodes_.size(), 0));
    return true;
  }

  bool is_in_a_domain(node_ref node) const {
    return std::any_of(domain_of_place_.begin(), domain_of_place_.end(), [&](const auto& map) {
      return map[first_[node.block] + node.slot] != none;
    });
  }

  room_vector room_at(node_ref node) {
    room_vector out;
    for (auto d : resources_)
      out.push_back(on_.amount(d, node));
    out.insert(out.end(), singles_, 1);
    return out;
  }

  candidate candidate_at(node_ref node) {
    candidate c{node, on_.ports_taken(node), {}, {}, {}, 0, 0};
    std::sort(c.ports.begin(), c.ports.end());
    c.caps.assign(p_.shapes.size(), 0);
    for (auto l : lots_)
      c.caps[p_.lots[l].shape] = on_.slots_on(p_.lots[l].shape, node);
    for (const auto& map : domain_of_place_)
      c.domain_of.push_back(map[first_[node.block] + node.slot]);
    c.seats.assign(p_.shapes.size(), 0);
    return c;
  }

  /// Where the terms of members count.
  void add_ties(node_ref node, std::vector<std::int64_t>& like) const {
    if (!state_)
      return;
    const auto& counters = p_.ties->counters;
    for (std::uint32_t i = 0; i < counters.size(); ++i) {
      const auto& c = counters[i];
      like.push_back(c.key->is_per_node ? state_->at(i, node) : std::int64_t{c.key->of(node)});
      like.push_back(!c.only_on || (*c.only_on)[c.key->places->of(node)]);
    }
  }

  bool is_of_use(const candidate& c) const {
    return std::any_of(lots_.begin(), lots_.end(), [&](auto l) {
      return c.caps[p_.lots[l].shape] > 0 && c.domain_of[unit_of(l)] != none;
    });
  }

  std::uint32_t unit_of(std::uint32_t lot) const { return unit_of_group_[p_.lots[lot].group]; }

  /// Per spread rule: the least count of eligible domains that no member can raise.
  void find_stuck() {
    const auto& t = *p_.ties;
    stuck_.resize(t.spreads.size());
    for (std::uint32_t r = 0; r < t.spreads.size(); ++r) {
      const auto& rule = t.spreads[r];
      const auto& c = t.counters[rule.counter];
      std::vector<bool> has_node(c.key->domains(), false);
      for (const auto& n : nodes_)
        if (const auto d = c.key->of(n.at); d != no_domain)
          has_node[d] = true;
      stuck_[r] = most_slots;
      for (std::uint32_t d = 0; d < c.key->domains(); ++d)
        if (rule.eligible[d] && !has_node[d])
          stuck_[r] = std::min(stuck_[r], state_->in_domain(rule.counter, d));
    }
  }

  /// Equal for nodes between which the rest of the search cannot tell: they were alike, and have as
  /// much left. Who sits there matters only to terms, caps and ports.
  std::uint64_t key_of(std::uint32_t node) const {
    const auto& c = nodes_[node];
    auto out = base::hash_of(std::uint64_t{c.alike});
    for (auto amount : left_[node])
      out = base::hash_combine(out, static_cast<std::uint64_t>(amount));
    for (std::size_t s = 0; s < c.seats.size(); ++s)
      if (state_ || p_.shapes[s].caps || !p_.shapes[s].memory->view.kind().takes.ports.empty())
        out = base::hash_combine(out, c.seats[s]);
    return out;
  }

  state_key key_of_state(std::size_t position, std::size_t k) const {
    auto out = key_;
    auto rest = base::hash_combine(base::hash_of(std::uint64_t{position}), k);
    for (auto s : spare_)
      rest = base::hash_combine(rest, static_cast<std::uint64_t>(s));
    for (auto d : chosen_)
      rest = base::hash_combine(rest, d);
    out += rest;
    return out;
  }

  /// A domain for each unit from number `u` on, those with most room for it first; then the
  /// members.
  bool choose_domain(std::uint32_t u) {
    if (u == units_.size())
      return begin_members();
    const auto& of_unit = domains_[u];
    std::vector<std::pair<std::int64_t, std::uint32_t>> order; // slots, domain
    for (std::uint32_t d = 0; d < of_unit.size(); ++d) {
      std::int64_t slots = 0;
      for (const auto& n : nodes_)
        for (auto l : p_.units[units_[u]].lots)
          slots += n.domain_of[u] == d ? n.caps[p_.lots[l].shape] : 0;
      if (slots > 0)
        order.emplace_back(-slots, d);
    }
    std::sort(order.begin(), order.end());
    if (order.empty())
      order.emplace_back(0, none); // nobody of this unit can be placed; perhaps nobody must
    for (const auto& [slots, d] : order) {
      chosen_[u] = d;
      if (choose_domain(u + 1))
        return true;
      if (steps_ == 0)
        break;
    }
    chosen_[u] = none;
    return false;
  }

  bool begin_members() {
    for (std::size_t i = 0; i < lots_.size(); ++i)
      for (std::size_t n = 0; n < nodes_.size(); ++n)
        may_on_[i][n] = nodes_[n].caps[p_.lots[lots_[i]].shape] > 0
                        && nodes_[n].domain_of[unit_of(lots_[i])] == chosen_[unit_of(lots_[i])]
                        && chosen_[unit_of(lots_[i])] != none;
    return place(0, 0);
  }

  bool fits(std::uint32_t node, std::size_t position) const {
    const auto& c = nodes_[node];
    const auto& l = p_.lots[lots_[position]];
    if (may_on_[position][node] == 0 || c.caps[l.shape] <= c.seats[l.shape])
      return false;
    const auto& needs = needs_[l.shape];
    for (std::size_t r = 0; r < needs.size(); ++r)
      if (needs[r] > 0 && left_[node][r] < needs[r])
        return false;
    return !ports_collide(c.ports, p_.shapes[l.shape].memory->view.kind().takes.ports)
           && (!state_
               || (state_->keeps_apart(l.shape, c.at) && can_end_even(l.shape, c.at)
                   && (!is_closed_[l.shape] || state_->is_near(l.shape, c.at))));
  }

  /// With this member more: can the least count still come near enough?
  bool can_end_even(std::uint32_t shape, node_ref node) const {
    const auto left = static_cast<std::int64_t>(members_ - found_.size());
    for (auto r : p_.ties->rules[shape].spread) {
      const auto& rule = p_.ties->spreads[r];
      const auto pods = state_->at(rule.counter, node);
      const auto best = rule.least_is_zero ? 0 : std::min(state_->least(r) + left, stuck_[r]);
      if (pods < 0 || pods + (rule.counts_itself ? 1 : 0) - best > rule.max_skew)
        return false;
    }
    return true;
  }

  /// Of the members that were placed: are enough open to raise all domains that are too low?
  bool may_end_even(std::size_t position, std::size_t k) const {
    const auto& t = *p_.ties;
    for (std::uint32_t r = 0; r < t.spreads.size(); ++r) {
      const auto& rule = t.spreads[r];
      std::int64_t most = 0;
      for (const auto& [lot, node] : found_) {
        const auto& of_shape = t.rules[p_.lots[lot].shape].spread;
        if (std::find(of_shape.begin(), of_shape.end(), r) != of_shape.end())
          most = std::max(most, state_->at(rule.counter, nodes_[node].at));
      }
      const auto wanted = most - rule.max_skew;
      if (wanted <= 0)
        continue;
      if (rule.least_is_zero)
        return false;
      if (state_->least(r) < wanted && missing(rule, wanted) > raisers(rule.counter, position, k))
        return false;
    }
    return true;
  }

  /// Pods that eligible domains lack to have so many each.
  std::int64_t missing(const spread_rule& rule, std::int64_t wanted) const {
    std::int64_t out = 0;
    for (std::uint32_t d = 0; d < rule.eligible.size(); ++d)
      if (rule.eligible[d])
        out += std::max<std::int64_t>(wanted - state_->in_domain(rule.counter, d), 0);
    return out;
  }

  /// Open members that count in it.
  std::int64_t raisers(std::uint32_t counter, std::size_t position, std::size_t k) const {
    std::int64_t out = 0;
    for (auto i = position; i < lots_.size(); ++i) {
      const auto& l = p_.lots[lots_[i]];
      if (raises(l.shape, counter))
        out += static_cast<std::int64_t>(l.members.size() - (i == position ? k : 0));
    }
    return out;
  }

  bool raises(std::uint32_t shape, std::uint32_t counter) const {
    const auto& list = p_.ties->rules[shape].raises;
    return std::binary_search(list.begin(), list.end(), counter);
  }

  /// Shapes that are whom their own affinity means, as is nobody but pods that have the same: where
  /// one of them is, all are.
  void find_closed() {
    const auto& rules = p_.ties->rules;
    is_closed_.assign(p_.shapes.size(), 0);
    for (auto l : lots_) {
      const auto shape = p_.lots[l].shape;
      const auto& near = rules[shape].near;
      is_closed_[shape] =
          state_->wants_near(shape) && std::all_of(near.begin(), near.end(), [&](auto counter) {
            return raises(shape, counter)
                   && std::all_of(lots_.begin(), lots_.end(), [&](auto other) {
                        const auto& theirs = rules[p_.lots[other].shape].near;
                        return !raises(p_.lots[other].shape, counter)
                               || std::find(theirs.begin(), theirs.end(), counter) != theirs.end();
                      });
          });
    }
  }

  void move(std::uint32_t node, std::uint32_t lot, bool is_there) {
    auto& c = nodes_[node];
    const auto shape = p_.lots[lot].shape;
    key_ -= c.key;
    for (std::size_t r = 0; r < needs_[shape].size(); ++r)
      left_[node][r] += (is_there ? -1 : +1) * needs_[shape][r];
    c.seats[shape] += is_there ? 1u : ~0u;
    const auto& ports = p_.shapes[shape].memory->view.kind().takes.ports;
    if (is_there) {
      c.ports.insert(c.ports.end(), ports.begin(), ports.end());
      found_.emplace_back(lot, node);
      if (state_)
        state_->place({shape, c.at});
    } else {
      c.ports.resize(c.ports.size() - ports.size());
      found_.pop_back();
      if (state_)
        state_->remove({shape, c.at});
    }
    c.key = key_of(node);
    key_ += c.key;
  }

  bool is_solution() const {
    if (!state_)
      return true;
    std::vector<tied_seat> seats;
    for (const auto& [lot, node] : found_)
      seats.push_back({p_.lots[lot].shape, nodes_[node].at});
    return state_->all_even(seats) && state_->can_come_in_order(seats);
  }

  /// False if counting says that what is open will not come out.
  bool may_come_out(std::size_t position, std::size_t k) {
    // It looks at all nodes, too, and takes a part of the time that trying them takes.
    steps_ -= std::min<std::uint64_t>(steps_, nodes_.size() / 4);
    open_.clear();
    for (auto i = position; i < lots_.size(); ++i) {
      const auto& l = p_.lots[lots_[i]];
      const auto placed = i == position ? k : 0;
      open_.push_back({l.group, static_cast<std::int64_t>(l.members.size() - placed),
                       needs_[l.shape], may_on_[i]});
    }
    return count_.may_do(open_, spare_, left_) && (!state_ || may_end_even(position, k));
  }

  /// Nodes for the next member of the lot, of those that look alike one; the tightest first.
  std::vector<std::uint32_t> nodes_for(std::size_t position) {
    struct choice {
      double left;
      std::uint32_t node;
    };
    boost::container::small_vector<choice, 32> found;
    boost::container::small_vector<std::uint64_t, 32> seen;
    const auto& needs = needs_[p_.lots[lots_[position]].shape];
    for (std::uint32_t i = 0; i < nodes_.size() && steps_ > 0; ++i) {
      --steps_;
      if (!fits(i, position) || std::find(seen.begin(), seen.end(), nodes_[i].key) != seen.end())
        continue;
      seen.push_back(nodes_[i].key);
      double left = 0;
      for (std::size_t r = 0; r < needs.size(); ++r)
        if (needs[r] > 0)
          left += static_cast<double>(left_[i][r]) / static_cast<double>(needs[r]);
      found.push_back({left, i});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const choice& a, const choice& b) { return a.left < b.left; });
    std::vector<std::uint32_t> out;
    for (const auto& c : found)
      out.push_back(c.node);
    return out;
  }

  /// Places member `k` of the lot at `position`, and all that follow.
  bool place(std::size_t position, std::size_t k) {
    if (position == lots_.size())
      return is_solution();
    const auto& mine = p_.lots[lots_[position]];
    if (k == mine.members.size())
      return place(position + 1, 0);
    const auto key = key_of_state(position, k);
    if (dead_.contains(key))
      return false;
    if (may_come_out(position, k)) {
      for (auto i : nodes_for(position)) {
        move(i, lots_[position], true);
        if (place(position, k + 1))
          return true;
        move(i, lots_[position], false);
      }
      // Equal members: if this one is left out, so are the rest of its lot.
      const auto rest = static_cast<std::int64_t>(mine.members.size() - k);
      if (spare_[mine.group] >= rest) {
        spare_[mine.group] -= rest;
        if (place(position + 1, 0))
          return true;
        spare_[mine.group] += rest;
      }
    }
    if (steps_ > 0 && dead_.size() < dead_ends_max)
      dead_.insert(key); // it was looked at whole
    return false;
  }

  trial& on_;
  const problem& p_;
  std::vector<std::size_t> units_;
  const domain_lists& domains_;
  std::uint64_t& steps_;
  std::unique_ptr<tied_state> state_; // null: terms do not count
  std::vector<std::uint32_t> lots_;
  std::size_t members_ = 0;
  std::vector<dimension> resources_;
  std::size_t singles_ = 0;
  std::vector<room_vector> needs_; // by shape: of resources, then of what each node has one of
  std::vector<candidate> nodes_;
  std::vector<room_vector> left_;                           // by node
  std::vector<std::uint32_t> first_;                        // by block: place of slot 0
  std::vector<std::vector<std::uint32_t>> domain_of_place_; // by unit and place
  std::vector<std::vector<std::uint8_t>> may_on_;           // by position of the lot, and node
  std::vector<std::uint8_t> is_closed_;                     // by shape
  std::vector<std::int64_t> stuck_;                         // by spread rule
  std::vector<std::uint32_t> unit_of_group_;
  std::vector<std::uint32_t> chosen_; // by unit: index of the domain
  std::vector<std::int64_t> spare_;   // per group: members that may still be left out
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found_; // lot, candidate
  state_key key_;                                              // of all nodes
  boost::unordered_flat_set<state_key, hash_of_key> dead_;
  std::vector<open_lot> open_;
  room_count count_;
};

/// One order with half of the steps, then another: what is hard for the one may be easy for the
/// other.
verdict search(trial& on, const problem& p, const std::vector<std::size_t>& units,
               const full_search::domain_lists& domains, bool has_ties, std::uint64_t& steps,
               std::vector<std::size_t>& chosen) {
  auto what = verdict::undecided;
  for (auto order : {lot_order::bulkiest, lot_order::fewest_slots}) {
    auto allowed = order == lot_order::bulkiest ? steps - steps / 2 : steps;
    const auto before = allowed;
    full_search one{on, p, units, domains, has_ties, order, allowed};
    what = one.run();
    steps -= before - allowed;
    if (what == verdict::placed)
      one.take_found(chosen);
    if (what != verdict::undecided)
      break;
  }
  return what;
}

} // namespace

verdict search_all(trial& on, const problem& p, const unit& u, const domain_view& domain,
                   std::uint64_t& steps) {
  const auto number = static_cast<std::size_t>(&u - p.units.data());
  ensure(number < p.units.size(), number);
  std::vector<std::size_t> chosen;
  return search(on, p, {number}, {{domain}}, false, steps, chosen);
}

verdict search_units(trial& on, const problem& p,
                     const std::vector<std::vector<domain_view>>& domains, std::uint64_t& steps,
                     std::vector<std::size_t>& chosen) {
  ensure(on.taken().empty() && domains.size() == p.units.size(), on.taken().size());
  std::vector<std::size_t> all(p.units.size());
  std::iota(all.begin(), all.end(), 0);
  const bool has_ties = p.ties && !p.ties->is_fixed && on.by() != measure::free_anyhow;
  return search(on, p, all, domains, has_ties, steps, chosen);
}

} // namespace tutti::placement::engine
