// The full search where members are tied to each other: all units at once, for one unit's members
// may be whom another's need.
#include <algorithm>
#include <map>

#include "base/ensure.hpp"
#include "placement/engine/tied_search.hpp"

namespace tutti::placement::engine {
namespace {

/// Larger problems would not end within any bound worth waiting for.
constexpr std::size_t candidates_max = 256;
constexpr std::size_t members_max = 64;

/// Depth first over members, equal members in ascending order of nodes, equal nodes once. A member
/// may be left out as long as its group still reaches the minimum. Anti-affinity cuts at once; of a
/// spread it is asked whether the least count can still rise far enough; affinity is asked at the
/// end.
class tied_full_search {
public:
  tied_full_search(trial& on, const problem& p,
                   const std::vector<std::vector<domain_view>>& domains, std::uint64_t& steps)
      : on_(on), p_(p), t_(*p.ties), domains_(domains), steps_(steps), state_(t_, on.by()) {
    for (std::uint32_t i = 0; i < p.lots.size(); ++i)
      lots_.push_back(i);
    std::stable_sort(lots_.begin(), lots_.end(), [&](auto a, auto b) {
      return p.shapes[p.lots[a].shape].weight > p.shapes[p.lots[b].shape].weight;
    });
    for (const auto& l : p.lots)
      members_ += l.members.size();
    unit_of_group_.resize(p.groups.size(), 0);
    for (std::uint32_t u = 0; u < p.units.size(); ++u)
      for (auto g : p.units[u].groups)
        unit_of_group_[g] = u;
    chosen_.assign(p.units.size(), none);
    seats_of_unit_.assign(p.units.size(), 0);
    for (const auto& g : p.groups)
      spare_.push_back(g.pending - g.required);
    map_domains();
  }

  verdict run() {
    if (members_ > members_max || !find_candidates())
      return verdict::undecided;
    find_stuck();
    if (place(0, 0, 0))
      return verdict::placed;
    return steps_ == 0 ? verdict::undecided : verdict::impossible;
  }

  void take_found(std::vector<std::size_t>& chosen) {
    for (const auto& [lot, node] : found_)
      on_.take({lot, p_.lots[lot].shape, nodes_[node].at, 1});
    chosen.assign(p_.units.size(), 0);
    for (std::size_t u = 0; u < chosen.size(); ++u)
      chosen[u] = chosen_[u] == none ? 0 : chosen_[u];
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct candidate {
    node_ref at;
    amounts left;
    base::port_list ports;
    std::vector<std::uint32_t> caps;      // by shape: slots when empty-handed, at most the cap
    std::vector<std::uint32_t> domain_of; // by unit: index, or none
    std::uint32_t alike = 0;              // equal for nodes that were equal before the search
  };

  /// Nodes of use; of those that are alike no more than there are members. False if too many.
  bool find_candidates() {
    using likeness = std::vector<std::int64_t>;
    std::map<likeness, std::pair<std::uint32_t, std::size_t>> known; // number, how many
    for (auto number : on_.where().index->in_order)
      for (auto slot : on_.where().blocks[number]->by_name) {
        const node_ref node{number, slot};
        auto c = candidate_at(node);
        if (!is_of_use(c))
          continue;
        likeness like(c.left.begin(), c.left.end());
        like.insert(like.end(), c.caps.begin(), c.caps.end());
        like.insert(like.end(), c.domain_of.begin(), c.domain_of.end());
        for (const auto& counter : t_.counters) {
          const auto i = static_cast<std::uint32_t>(&counter - t_.counters.data());
          like.push_back(counter.key->is_per_node ? state_.at(i, node)
                                                  : std::int64_t{counter.key->of(node)});
          like.push_back(!counter.only_on || (*counter.only_on)[counter.key->places->of(node)]);
        }
        auto [pos, is_new] =
            known.try_emplace(std::move(like), static_cast<std::uint32_t>(known.size()), 0);
        if (++pos->second.second > members_)
          continue;
        if (nodes_.size() == candidates_max)
          return false;
        c.alike = pos->second.first;
        nodes_.push_back(std::move(c));
      }
    return true;
  }

  candidate candidate_at(node_ref node) {
    candidate c{node, {}, {}, {}, {}, 0};
    for (dimension d = 0; d < on_.where().dimensions(); ++d)
      c.left.push_back(on_.amount(d, node));
    for (std::uint32_t s = 0; s < p_.shapes.size(); ++s)
      c.caps.push_back(on_.slots_on(s, node));
    for (std::uint32_t u = 0; u < p_.units.size(); ++u)
      c.domain_of.push_back(domain_at(u, node));
    return c;
  }

  std::uint32_t domain_at(std::uint32_t unit, node_ref node) const {
    return domain_of_place_[unit][first_[node.block] + node.slot];
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

  bool is_of_use(const candidate& c) const {
    return std::any_of(p_.lots.begin(), p_.lots.end(), [&](const lot& l) {
      return c.caps[l.shape] > 0 && c.domain_of[unit_of_group_[l.group]] != none;
    });
  }

  /// Per spread rule: the least count of eligible domains that no member can raise.
  void find_stuck() {
    stuck_.resize(t_.spreads.size());
    for (std::uint32_t r = 0; r < t_.spreads.size(); ++r) {
      const auto& rule = t_.spreads[r];
      const auto& c = t_.counters[rule.counter];
      std::vector<bool> has_node(c.key->domains(), false);
      for (const auto& n : nodes_)
        if (const auto d = c.key->of(n.at); d != no_domain)
          has_node[d] = true;
      stuck_[r] = most_slots;
      for (std::uint32_t d = 0; d < c.key->domains(); ++d)
        if (rule.eligible[d] && !has_node[d])
          stuck_[r] = std::min(stuck_[r], state_.in_domain(rule.counter, d));
    }
  }

  bool fits(const candidate& c, const lot& l) const {
    const auto unit = unit_of_group_[l.group];
    if (c.caps[l.shape] == 0 || c.domain_of[unit] == none)
      return false;
    if (chosen_[unit] != none && chosen_[unit] != c.domain_of[unit])
      return false;
    const auto& use = p_.shapes[l.shape];
    for (const auto& n : use.needs)
      if (c.left[n.what] < n.amount)
        return false;
    return !ports_collide(c.ports, use.memory->view.kind().takes.ports)
           && state_.keeps_apart(l.shape, c.at) && can_end_even(l.shape, c.at);
  }

  /// With this member more: can the least count still come near enough?
  bool can_end_even(std::uint32_t shape, node_ref node) const {
    const auto left = static_cast<std::int64_t>(members_ - found_.size());
    for (auto r : t_.rules[shape].spread) {
      const auto& rule = t_.spreads[r];
      const auto pods = state_.at(rule.counter, node);
      const auto best = rule.least_is_zero ? 0 : std::min(state_.least(r) + left, stuck_[r]);
      if (pods < 0 || pods + (rule.counts_itself ? 1 : 0) - best > rule.max_skew)
        return false;
    }
    return true;
  }

  void move(std::uint32_t node, std::uint32_t lot_number, bool is_there) {
    auto& c = nodes_[node];
    const auto& l = p_.lots[lot_number];
    const auto& use = p_.shapes[l.shape];
    const std::int64_t sign = is_there ? -1 : +1;
    for (const auto& n : use.needs)
      c.left[n.what] += sign * n.amount;
    c.caps[l.shape] = static_cast<std::uint32_t>(c.caps[l.shape] + sign);
    const auto& ports = use.memory->view.kind().takes.ports;
    auto& seats = seats_of_unit_[unit_of_group_[l.group]];
    if (is_there) {
      c.ports.insert(c.ports.end(), ports.begin(), ports.end());
      state_.place({l.shape, c.at});
      found_.emplace_back(lot_number, node);
      chosen_[unit_of_group_[l.group]] = c.domain_of[unit_of_group_[l.group]];
      ++seats;
    } else {
      c.ports.resize(c.ports.size() - ports.size());
      state_.remove({l.shape, c.at});
      found_.pop_back();
      if (--seats == 0)
        chosen_[unit_of_group_[l.group]] = none;
    }
  }

  /// Equal before the search, and the same has happened to both since.
  bool are_alike(const candidate& a, const candidate& b) const {
    if (a.alike != b.alike || a.left != b.left || a.caps != b.caps || a.ports != b.ports)
      return false;
    for (std::uint32_t i = 0; i < t_.counters.size(); ++i)
      if (t_.counters[i].key->is_per_node && state_.at(i, a.at) != state_.at(i, b.at))
        return false;
    return true;
  }

  bool is_solution() const {
    std::vector<tied_seat> seats;
    for (const auto& [lot, node] : found_)
      seats.push_back({p_.lots[lot].shape, nodes_[node].at});
    return state_.all_even(seats) && state_.can_come_in_order(seats);
  }

  bool was_tried(std::uint32_t from, std::uint32_t node) const {
    for (auto i = from; i < node; ++i)
      if (are_alike(nodes_[i], nodes_[node]))
        return true;
    return false;
  }

  /// Places member `k` of the lot at `position` on a node from `from` on, and all that follow.
  bool place(std::size_t position, std::size_t k, std::uint32_t from) {
    if (position == lots_.size())
      return is_solution();
    const auto number = lots_[position];
    const auto& mine = p_.lots[number];
    if (k == mine.members.size())
      return place(position + 1, 0, 0);
    for (auto i = from; i < nodes_.size(); ++i) {
      if (steps_ == 0)
        return false;
      --steps_;
      if (!fits(nodes_[i], mine) || was_tried(from, i))
        continue;
      move(i, number, true);
      if (place(position, k + 1, i))
        return true;
      move(i, number, false);
    }
    // Equal members: if this one is left out, so are the rest of its lot.
    const auto rest = static_cast<std::int64_t>(mine.members.size() - k);
    if (spare_[mine.group] < rest)
      return false;
    spare_[mine.group] -= rest;
    if (place(position + 1, 0, 0))
      return true;
    spare_[mine.group] += rest;
    return false;
  }

  trial& on_;
  const problem& p_;
  const tied_problem& t_;
  const std::vector<std::vector<domain_view>>& domains_;
  std::uint64_t& steps_;
  tied_state state_;
  std::vector<std::uint32_t> lots_;
  std::size_t members_ = 0;
  std::vector<candidate> nodes_;
  std::vector<std::uint32_t> first_;                        // by block: place of slot 0
  std::vector<std::vector<std::uint32_t>> domain_of_place_; // by unit and place
  std::vector<std::int64_t> stuck_;                         // by spread rule
  std::vector<std::uint32_t> unit_of_group_;
  std::vector<std::uint32_t> chosen_; // by unit: index of the domain
  std::vector<std::uint32_t> seats_of_unit_;
  std::vector<std::int64_t> spare_; // per group: members that may still be left out
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found_; // lot, candidate
};

} // namespace

verdict search_all_tied(trial& on, const problem& p,
                        const std::vector<std::vector<domain_view>>& domains, std::uint64_t& steps,
                        std::vector<std::size_t>& chosen) {
  ensure(on.taken().empty(), on.taken().size());
  tied_full_search search{on, p, domains, steps};
  const auto out = search.run();
  if (out == verdict::placed)
    search.take_found(chosen);
  return out;
}

} // namespace tutti::placement::engine
