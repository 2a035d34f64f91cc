// The full search: every assignment of single members to nodes, until the steps run out.
#include <algorithm>
#include <numeric>

#include "base/ensure.hpp"
#include "placement/engine/search.hpp"

namespace tutti::placement::engine {
namespace {

/// Larger problems would not end within any bound worth waiting for.
constexpr std::size_t candidates_max = 128;
constexpr std::size_t members_max = 64;

/// Depth first over members, equal members in ascending order of nodes, equal nodes once. A member
/// may be left out as long as its group still reaches the minimum.
class full_search {
public:
  full_search(trial& on, const problem& p, const unit& u, const domain_view& domain,
              std::uint64_t& steps)
      : on_(on), p_(p), steps_(steps) {
    for (auto i : u.lots)
      lots_.push_back(i);
    std::stable_sort(lots_.begin(), lots_.end(), [&](auto a, auto b) {
      return p.shapes[p.lots[a].shape].weight > p.shapes[p.lots[b].shape].weight;
    });
    for (std::size_t k = 0; k < domain.blocks.size(); ++k)
      for (auto slot : on.where().blocks[domain.blocks[k]]->by_name)
        if (domain.has(k, slot) && is_of_use({domain.blocks[k], slot}))
          add({domain.blocks[k], slot});
    spare_.resize(p.groups.size());
    for (auto g : u.groups)
      spare_[g] = p.groups[g].pending - p.groups[g].required;
  }

  verdict run() {
    std::size_t members = 0;
    for (auto i : lots_)
      members += p_.lots[i].members.size();
    if (nodes_.size() > candidates_max || members > members_max)
      return verdict::undecided;
    if (place(0, 0, 0))
      return verdict::placed;
    return steps_ == 0 ? verdict::undecided : verdict::impossible;
  }

  /// The seats found: (lot, node).
  const std::vector<std::pair<std::uint32_t, node_ref>>& found() const { return found_; }

private:
  struct candidate {
    node_ref at;
    amounts left;
    base::port_list ports;           // taken by the trial and by this search
    std::vector<std::uint32_t> caps; // by shape: slots before the search
  };

  bool is_of_use(node_ref node) {
    return std::any_of(lots_.begin(), lots_.end(),
                       [&](auto i) { return on_.slots_on(p_.lots[i].shape, node) > 0; });
  }

  void add(node_ref node) {
    candidate c{node, {}, on_.ports_taken(node), {}};
    for (dimension d = 0; d < on_.where().dimensions(); ++d)
      c.left.push_back(on_.amount(d, node));
    for (std::uint32_t s = 0; s < p_.shapes.size(); ++s)
      c.caps.push_back(on_.slots_on(s, node));
    nodes_.push_back(std::move(c));
  }

  bool fits(const candidate& c, std::size_t position) const {
    if (c.caps[p_.lots[lots_[position]].shape] == 0)
      return false;
    const auto& use = p_.shapes[p_.lots[lots_[position]].shape];
    for (const auto& n : use.needs)
      if (c.left[n.what] < n.amount)
        return false;
    return !ports_collide(c.ports, use.memory->view.kind().takes.ports);
  }

  void move(candidate& c, std::size_t position, std::int64_t sign) const {
    const auto& use = p_.shapes[p_.lots[lots_[position]].shape];
    for (const auto& n : use.needs)
      c.left[n.what] += sign * n.amount;
    auto& cap = c.caps[p_.lots[lots_[position]].shape];
    cap = static_cast<std::uint32_t>(cap + sign);
    const auto& ports = use.memory->view.kind().takes.ports;
    if (sign < 0)
      c.ports.insert(c.ports.end(), ports.begin(), ports.end());
    else
      c.ports.resize(c.ports.size() - ports.size());
  }

  static bool alike(const candidate& a, const candidate& b) {
    return a.left == b.left && a.caps == b.caps && a.ports == b.ports;
  }

  /// Places member `k` of the lot at `position` on a node from `from` on, and all that follow.
  bool place(std::size_t position, std::size_t k, std::size_t from) {
    if (position == lots_.size())
      return true;
    const auto& mine = p_.lots[lots_[position]];
    if (k == mine.members.size())
      return place(position + 1, 0, 0);
    for (auto i = from; i < nodes_.size(); ++i) {
      if (steps_ == 0)
        return false;
      --steps_;
      auto& c = nodes_[i];
      if (!fits(c, position))
        continue;
      // A node that looks like one just tried in vain would fail in the same way.
      if (std::any_of(nodes_.begin() + static_cast<std::ptrdiff_t>(from),
                      nodes_.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const candidate& other) { return alike(other, c); }))
        continue;
      move(c, position, -1);
      found_.emplace_back(lots_[position], c.at);
      if (place(position, k + 1, i))
        return true;
      found_.pop_back();
      move(c, position, +1);
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
  std::uint64_t& steps_;
  std::vector<std::uint32_t> lots_;
  std::vector<candidate> nodes_;
  std::vector<std::int64_t> spare_; // per group: members that may still be left out
  std::vector<std::pair<std::uint32_t, node_ref>> found_;
};

} // namespace

verdict search_all(trial& on, const problem& p, const unit& u, const domain_view& domain,
                   std::uint64_t& steps) {
  full_search search{on, p, u, domain, steps};
  const auto out = search.run();
  if (out == verdict::placed)
    for (const auto& [lot, node] : search.found())
      on.take({lot, p.lots[lot].shape, node, 1});
  return out;
}

} // namespace tutti::placement::engine
