// Changed questions to the same engine, by bisection where more of a change never hurts.
#include "placement/engine/what_if.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/explain.hpp"
#include "placement/engine/solve.hpp"

namespace tutti::placement::engine {
namespace {

/// Kinds of nodes that are thought of.
constexpr std::size_t kinds_max = 4;

bool is_placed(const answer& x) {
  return std::holds_alternative<placement>(x);
}

std::int64_t required_members(const gang_spec& what) {
  std::int64_t out = 0;
  for (const auto& g : what.groups)
    out += g.min_count;
  return out;
}

/// The least of 1 … `most` for which it holds; nothing if it does not for `most`. What holds for
/// one number holds for all above.
template <class Holds>
std::optional<std::int64_t> least_that(std::int64_t most, Holds holds) {
  if (most < 1 || !holds(most))
    return std::nullopt;
  std::int64_t low = 0; // does not hold, or was not asked
  while (most - low > 1) {
    const auto middle = low + (most - low) / 2;
    (holds(middle) ? most : low) = middle;
  }
  return most;
}

/// A row of a block again and again, as it is on an empty node.
block block_like(const block& from, std::uint32_t slot, std::uint32_t first, std::uint32_t count) {
  block out;
  out.path = from.path;
  out.only_class = from.classes[slot];
  out.classes.assign(count, out.only_class);
  out.ports.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto info = *from.nodes[slot];
    const auto more = fmt::format(" like it {:06}", first + i + 1);
    info.uid.value += more;
    info.name.value += more;
    info.host_name += more;
    out.nodes.push_back(std::make_shared<const node_info>(std::move(info)));
    out.by_name.push_back(static_cast<std::uint16_t>(i));
  }
  for (const auto& all : from.allocatable) {
    out.free.emplace_back(count, all[slot]);
    out.most_free.push_back(all[slot]);
  }
  out.allocatable = out.free;
  out.least_free = out.most_allocatable = out.least_allocatable = out.most_free;
  return out;
}

/// A node that would take a member if it were empty; how many, by shape.
struct useful_node {
  node_ref at;
  std::vector<std::int64_t> slots;
};

/// Nodes that are equal but for their place and what runs there, most frequent first; of each kind
/// one, in `near` where there is any.
std::vector<node_ref> kinds_of_nodes(const snapshot& where, const std::vector<useful_node>& of_use,
                                     const domain_view& near) {
  struct kind {
    std::int64_t nodes = 0;
    node_ref example;
    bool is_near = false;
  };
  std::vector<bool> is_near_block(where.blocks.size(), false);
  for (auto b : near.blocks)
    is_near_block[b] = true;
  std::map<std::vector<std::int64_t>, kind> kinds;
  for (const auto& [node, slots] : of_use) {
    auto like = slots;
    for (const auto& all : where.at(node).allocatable)
      like.push_back(all[node.slot]);
    auto& k = kinds.try_emplace(std::move(like), kind{0, node, false}).first->second;
    ++k.nodes;
    const auto pos = std::find(near.blocks.begin(), near.blocks.end(), node.block);
    const bool is_near =
        is_near_block[node.block]
        && near.has(static_cast<std::size_t>(pos - near.blocks.begin()), node.slot);
    if (is_near && !k.is_near) {
      k.example = node;
      k.is_near = true;
    }
  }
  std::vector<kind> out;
  for (auto& [like, k] : kinds)
    out.push_back(k);
  std::stable_sort(out.begin(), out.end(),
                   [](const kind& a, const kind& b) { return a.nodes > b.nodes; });
  out.resize(std::min(out.size(), kinds_max));
  std::vector<node_ref> nodes;
  for (const auto& k : out)
    nodes.push_back(k.example);
  return nodes;
}

domain_view nearest_domain(const snapshot& where, const std::optional<near_miss>& miss,
                           workspace& memory) {
  if (miss && !miss->level.empty())
    for (const auto& d : memory.domains(where, miss->level))
      if (d.name == miss->domain)
        return d;
  return whole(where);
}

std::vector<useful_node> nodes_of_use(const snapshot& where, const problem& p) {
  trial on{where, measure::allocatable, p.shapes};
  std::vector<useful_node> out;
  for (auto number : where.index->in_order)
    for (auto slot : where.blocks[number]->by_name) {
      useful_node x{{number, slot}, {}};
      for (std::uint32_t s = 0; s < p.shapes.size(); ++s)
        x.slots.push_back(on.slots_on(s, x.at));
      if (std::any_of(x.slots.begin(), x.slots.end(), [](auto n) { return n > 0; }))
        out.push_back(std::move(x));
    }
  return out;
}

std::optional<remedy> nodes_of_some_kind(const snapshot& where, const gang_spec& what,
                                         const std::optional<near_miss>& miss,
                                         const options& bounds, workspace& memory) {
  const auto p = read_gang(where, what, memory);
  if (!p)
    return std::nullopt;
  std::optional<remedy> best;
  for (auto like :
       kinds_of_nodes(where, nodes_of_use(where, *p), nearest_domain(where, miss, memory))) {
    const auto count = nodes_to_add(where, what, like, bounds);
    if (count && (!best || *count < best->count))
      best = remedy{remedy::kind::add_nodes, 0, *count, where.node(like).name.value};
  }
  return best;
}

} // namespace

snapshot with_nodes_like(const snapshot& where, node_ref like, std::uint32_t count) {
  const auto& from = where.at(like);
  ensure(like.slot < from.size() && from.nodes[like.slot], like.block, like.slot);
  auto out = where;
  auto index = *where.index;
  for (std::uint32_t first = 0; first < count; first += block_nodes_max) {
    const auto n = std::min<std::uint32_t>(count - first, block_nodes_max);
    const auto number = static_cast<std::uint32_t>(out.blocks.size());
    auto added = block_like(from, like.slot, first, n);
    added.version = added.layout_version = where.version + 1 + number;
    out.blocks.push_back(std::make_shared<const block>(std::move(added)));
    // Behind the block of the same path, in the whole and in each domain.
    const auto put = [&](std::vector<std::uint32_t>& list) {
      const auto pos = std::find(list.begin(), list.end(), like.block);
      if (pos != list.end())
        list.insert(pos + 1, number);
    };
    put(index.in_order);
    for (auto& level : index.domains)
      for (auto& domain : level)
        put(domain.blocks);
  }
  out.index = std::make_shared<const block_index>(std::move(index));
  out.nodes += count;
  return out;
}

std::optional<near_miss> nearest_miss(const snapshot& where, const gang_spec& what,
                                      const options& bounds, workspace& memory) {
  const auto got = plan(where, what, bounds, memory);
  const auto* why = std::get_if<base::explanation>(&got);
  if (why == nullptr || why->closest.empty())
    return std::nullopt;
  const auto& best = why->closest.front();
  near_miss out{best.level, best.domain, best.wanted, best.placed, best.placed};
  const auto p = read_gang(where, what, memory);
  if (!p)
    return out;
  const auto domain = nearest_domain(where, out, memory);
  trial on{where, measure::allocatable, p->shapes};
  for (const auto& u : p->units) {
    if (u.key != out.level)
      continue;
    std::int64_t most = 0;
    for (auto g : u.groups)
      most += most_of_group(on, *p, u, g, domain);
    out.fit_empty = std::max(out.fit_empty, most);
  }
  return out;
}

std::optional<std::int64_t> nodes_to_add(const snapshot& where, const gang_spec& what,
                                         node_ref like, const options& bounds) {
  return least_that(required_members(what), [&](std::int64_t count) {
    workspace memory; // knows blocks by version: these have versions of their own
    const auto more = with_nodes_like(where, like, static_cast<std::uint32_t>(count));
    return is_placed(plan(more, what, bounds, memory));
  });
}

std::optional<remedy> members_to_drop(const snapshot& where, const gang_spec& what,
                                      const options& bounds, workspace& memory) {
  std::optional<remedy> best;
  for (std::uint32_t g = 0; g < what.groups.size(); ++g) {
    const auto minimum = std::int64_t{what.groups[g].min_count};
    auto less = what;
    const auto count = least_that(minimum - 1, [&](std::int64_t dropped) {
      less.groups[g].min_count = static_cast<std::uint32_t>(minimum - dropped);
      return is_placed(plan(where, less, bounds, memory));
    });
    if (count && (!best || *count < best->count))
      best = remedy{remedy::kind::drop_members, g, *count, {}};
  }
  return best;
}

std::optional<remedy> level_to_relax(const snapshot& where, const gang_spec& what,
                                     const options& bounds, workspace& memory) {
  auto less = what;
  for (std::uint32_t g = 0; g < what.groups.size(); ++g) {
    auto& group = less.groups[g];
    for (auto i = group.required_levels.size(); i-- > 0;) {
      const auto key = group.required_levels[i];
      std::erase(group.required_levels, key);
      if (group.topology_key != key && is_placed(plan(where, less, bounds, memory)))
        return remedy{remedy::kind::relax_level, g, 0, key};
      group = what.groups[g];
    }
    if (group.topology_key.empty())
      continue;
    std::erase(group.required_levels, group.topology_key);
    group.topology_key.clear();
    if (is_placed(plan(where, less, bounds, memory)))
      return remedy{remedy::kind::relax_level, g, 0, what.groups[g].topology_key};
    group = what.groups[g];
  }
  return std::nullopt;
}

std::vector<remedy> smallest_changes(const snapshot& where, const gang_spec& what,
                                     const options& bounds, workspace& memory) {
  const auto got = plan(where, what, bounds, memory);
  const auto* why = std::get_if<base::explanation>(&got);
  if (why == nullptr || why->primary == base::reason_code::waiting_for_members
      || why->primary == base::reason_code::scheduler_error)
    return {};
  std::vector<remedy> out;
  const auto miss = nearest_miss(where, what, bounds, memory);
  if (auto x = nodes_of_some_kind(where, what, miss, bounds, memory))
    out.push_back(std::move(*x));
  if (auto x = members_to_drop(where, what, bounds, memory))
    out.push_back(std::move(*x));
  if (auto x = level_to_relax(where, what, bounds, memory))
    out.push_back(std::move(*x));
  return out;
}

std::string to_text(const near_miss& x) {
  auto out = x.level.empty() ? fmt::format("needs {}, there is room for {}", x.wanted, x.fit_now)
                             : fmt::format("needs {} in one {}, {} has room for {}", x.wanted,
                                           x.level, x.domain, x.fit_now);
  if (x.fit_empty > x.fit_now)
    out += fmt::format(", for {} more without the pods that are there", x.fit_empty - x.fit_now);
  return out;
}

std::string to_text(const remedy& x, const gang_spec& what) {
  switch (x.what) {
  case remedy::kind::add_nodes:
    return fmt::format("add {} node{} like {}", x.count, x.count == 1 ? "" : "s", x.name);
  case remedy::kind::drop_members:
    return fmt::format("drop {} of the {} members that group {} must have", x.count,
                       what.groups[x.group].min_count, what.groups[x.group].name);
  case remedy::kind::relax_level:
    return fmt::format("do not ask group {} to stay in one {}", what.groups[x.group].name, x.name);
  }
  return {};
}

} // namespace tutti::placement::engine
