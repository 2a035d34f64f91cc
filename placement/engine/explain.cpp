// Runs after a refusal only, so clarity counts for more than speed.
#include "placement/engine/explain.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/tied_state.hpp"

namespace tutti::placement::engine {
namespace {

using base::reason_code;

/// Causes counted for one node and then for all: numbers first, words only at the end.
class histogram {
public:
  histogram(const snapshot& where, const problem& p) : where_(where), p_(p) {
    if (p.ties)
      ties_.emplace(*p.ties, measure::free);
  }

  base::explanation fill(base::explanation x) {
    find_keys();
    for (auto number : where_.index->in_order) {
      const auto& b = *where_.blocks[number];
      for (auto slot : b.by_name)
        look_at({number, slot}, b);
    }
    x.nodes_seen = where_.nodes;
    x.nodes_fit = fit_;
    for (const auto& [why, nodes] : nodes_of_)
      x.rejected.push_back({cause_text(why), nodes});
    merge_equal(x.rejected);
    return x;
  }

private:
  enum class kind : std::uint8_t {
    unschedulable,
    unreadable,
    name,
    taint,
    selector,
    no_key,
    ports,
    resource,
    spread_key,
    spread,
    near,
    apart,
    kept_away
  };
  struct cause {
    kind what;
    std::uint32_t detail = 0; // class, unit or dimension

    friend auto operator<=>(const cause&, const cause&) = default;
  };

  void find_keys() {
    unit_of_group_.resize(p_.groups.size(), 0);
    for (std::uint32_t u = 0; u < p_.units.size(); ++u)
      for (auto g : p_.units[u].groups)
        unit_of_group_[g] = u;
  }

  void look_at(node_ref node, const block& b) {
    causes_.clear();
    for (const auto& l : p_.lots)
      if (!find_causes(l, node, b)) {
        ++fit_;
        return;
      }
    std::sort(causes_.begin(), causes_.end());
    causes_.erase(std::unique(causes_.begin(), causes_.end()), causes_.end());
    for (const auto& c : causes_)
      ++nodes_of_[c];
  }

  /// False if a member of the lot fits on the node. As kube-scheduler does it, the first filter
  /// that refuses is named; of resources all that are short.
  bool find_causes(const lot& l, node_ref node, const block& b) {
    const auto& use = p_.shapes[l.shape];
    auto& view = use.memory->view;
    const auto unit_number = unit_of_group_[l.group];
    if (const auto refused = view.judge(where_, b, node.slot).verdict;
        refused != api::static_verdict::ok) {
      causes_.push_back(static_cause(refused, b.classes[node.slot]));
      return true;
    }
    const auto& key = p_.units[unit_number].key;
    if (!key.empty() && !joined_value(where_, node, key, text_).has) {
      causes_.push_back({kind::no_key, unit_number});
      return true;
    }
    if (ports_collide(b.ports[node.slot], view.kind().takes.ports)) {
      causes_.push_back({kind::ports, 0});
      return true;
    }
    bool is_short = false;
    for (const auto& n : use.needs)
      if (n.what >= b.free.size() || b.free[n.what][node.slot] < n.amount) {
        causes_.push_back({kind::resource, resource_number(l.shape, n)});
        is_short = true;
      }
    return is_short || (ties_ && find_tied_cause(l.shape, node));
  }

  /// Of the pods that are there; the gang's own members are not counted.
  bool find_tied_cause(std::uint32_t shape, node_ref node) {
    const auto& rules = p_.ties->rules[shape];
    const auto lacks_key = [&](std::uint32_t r) {
      return ties_->at(p_.ties->spreads[r].counter, node) < 0;
    };
    const auto is_there = [&](std::uint32_t c) { return ties_->at(c, node) > 0; };
    if (std::any_of(rules.spread.begin(), rules.spread.end(), lacks_key))
      causes_.push_back({kind::spread_key, 0});
    else if (!ties_->is_even(shape, node))
      causes_.push_back({kind::spread, 0});
    else if (!ties_->is_near(shape, node))
      causes_.push_back({kind::near, 0});
    else if (ties_->keeps_apart(shape, node))
      return false;
    else if (std::count_if(rules.forbidden.begin(), rules.forbidden.end(), is_there)
             > std::count_if(rules.by_others.begin(), rules.by_others.end(), is_there))
      causes_.push_back({kind::apart, 0});
    else
      causes_.push_back({kind::kept_away, 0});
    return true;
  }

  /// A resource that no node has has no number of its own: the amounts tell it apart.
  std::uint32_t resource_number(std::uint32_t shape, const need& n) {
    if (n.what < where_.dimensions())
      return n.what;
    const auto& use = p_.shapes[shape];
    for (const auto& e : use.memory->view.kind().takes.amounts.extended)
      if (dimension_of(where_, e.name) == where_.dimensions() && e.amount == n.amount) {
        auto pos = std::find(unknown_.begin(), unknown_.end(), e.name);
        if (pos == unknown_.end())
          pos = unknown_.insert(unknown_.end(), e.name);
        return static_cast<std::uint32_t>(where_.dimensions()
                                          + static_cast<std::size_t>(pos - unknown_.begin()));
      }
    return n.what;
  }

  cause static_cause(api::static_verdict refused, std::uint32_t class_number) const {
    if (!(*where_.classes)[class_number].terms)
      return {kind::unreadable, 0};
    switch (refused) {
    case api::static_verdict::ok:
    case api::static_verdict::unschedulable:
      return {kind::unschedulable, 0};
    case api::static_verdict::wrong_name:
      return {kind::name, 0};
    case api::static_verdict::tainted:
      return {kind::taint, class_number};
    case api::static_verdict::selector:
      return {kind::selector, 0};
    }
    return {kind::unschedulable, 0};
  }

  std::string cause_text(const cause& c) {
    switch (c.what) {
    case kind::unschedulable:
      return "node(s) were unschedulable";
    case kind::unreadable:
      return "node(s) were described by a newer version";
    case kind::name:
      return "node(s) didn't match the requested node name";
    case kind::taint:
      return taint_text(c.detail);
    case kind::selector:
      return "node(s) didn't match Pod's node affinity/selector";
    case kind::no_key:
      return fmt::format("node(s) didn't have the topology label {}", p_.units[c.detail].key);
    case kind::ports:
      return "node(s) didn't have free ports for the requested pod ports";
    case kind::resource:
      return resource_text(c.detail);
    case kind::spread_key:
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    case kind::spread:
      return "node(s) didn't match pod topology spread constraints";
    case kind::near:
      return "node(s) didn't match pod affinity rules";
    case kind::apart:
      return "node(s) didn't match pod anti-affinity rules";
    case kind::kept_away:
      return "node(s) didn't satisfy existing pods anti-affinity rules";
    }
    return {};
  }

  std::string resource_text(std::uint32_t number) const {
    if (number == pods_dimension)
      return "Too many pods";
    if (number < where_.dimensions())
      return fmt::format("Insufficient {}", name_of(where_, number));
    const auto i = number - where_.dimensions();
    return fmt::format("Insufficient {}", i < unknown_.size() ? unknown_[i].text() : "resource");
  }

  std::string taint_text(std::uint32_t class_number) {
    const auto& kind_terms = *(*where_.classes)[class_number].terms;
    for (const auto& s : p_.shapes)
      if (const auto* t = api::untolerated(s.memory->view.terms(), kind_terms))
        return fmt::format("node(s) had untolerated taint(s) {{{}: {}}}", t->key, t->value);
    return "node(s) had untolerated taint(s)";
  }

  /// Several classes may have the same taint. Most nodes first, then by text.
  static void merge_equal(std::vector<base::node_count>& list) {
    std::map<std::string, std::int64_t> sums;
    for (const auto& x : list)
      sums[x.cause] += x.nodes;
    list.clear();
    for (const auto& [text, nodes] : sums)
      list.push_back({text, nodes});
    std::stable_sort(list.begin(), list.end(),
                     [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  }

  const snapshot& where_;
  const problem& p_;
  std::optional<tied_state> ties_;
  std::vector<std::uint32_t> unit_of_group_;
  std::vector<base::symbol> unknown_;
  std::string text_;
  std::vector<cause> causes_; // of the node looked at
  std::map<cause, std::int64_t> nodes_of_;
  std::int64_t fit_ = 0;
};

/// The topology key that keeps the failed unit away from every node; empty if there is none.
/// Nothing else is short then, as far as anybody can say: no node was good enough to be looked at.
std::string_view missing_key(const snapshot& where, const problem& p, const solution& refused,
                             workspace& memory) {
  const auto& u = p.units[refused.unit];
  const bool is_missing = !u.key.empty() && where.nodes > 0 && memory.domains(where, u.key).empty();
  return is_missing ? std::string_view{u.key} : std::string_view{};
}

/// The resource that limits most nodes of the nearest domain, for the bulkiest lot of the unit.
/// None if as many as are wanted would fit by resources alone: then it is something else that is
/// short.
void find_shortage(const snapshot& where, const problem& p, const solution& refused,
                   workspace& memory, base::explanation& x) {
  const auto& u = p.units[refused.unit];
  const auto& l = p.lots[*std::max_element(u.lots.begin(), u.lots.end(), [&](auto a, auto b) {
    return p.shapes[p.lots[a].shape].weight < p.shapes[p.lots[b].shape].weight;
  })];
  const auto& use = p.shapes[l.shape];
  domain_view domain = whole(where);
  const auto domains = u.key.empty() ? std::vector<domain_view>{} : memory.domains(where, u.key);
  for (const auto& d : domains)
    if (!refused.closest.empty() && d.name == refused.closest.front().domain)
      domain = d;
  struct limit {
    std::int64_t nodes = 0; // that it limits
    std::int64_t slots = 0;
  };
  std::vector<limit> limits(use.needs.size());
  bool any = false;
  std::int64_t fit_together = 0;
  for (std::size_t i = 0; i < domain.blocks.size(); ++i) {
    const auto& b = *where.blocks[domain.blocks[i]];
    for (auto slot : b.by_name) {
      if (!domain.has(i, slot) || !use.memory->view.allows(where, b, slot))
        continue;
      any = true;
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      amounts fit;
      for (const auto& n : use.needs) {
        const auto have = n.what < b.free.size() ? b.free[n.what][slot] : 0;
        fit.push_back(std::max<std::int64_t>(have, 0) / n.amount);
        least = std::min(least, fit.back());
      }
      fit_together = base::checked_add(fit_together, least);
      for (std::size_t k = 0; k < fit.size(); ++k) {
        limits[k].nodes += fit[k] == least;
        limits[k].slots = base::checked_add(limits[k].slots, fit[k]);
      }
    }
  }
  if (!any || fit_together >= x.wanted)
    return;
  const auto worst = std::max_element(limits.begin(), limits.end(), [](auto& a, auto& b) {
    return a.nodes != b.nodes ? a.nodes < b.nodes : a.slots > b.slots;
  });
  const auto& n = use.needs[static_cast<std::size_t>(worst - limits.begin())];
  if (n.what < where.dimensions()) {
    x.dimension = name_of(where, n.what);
  } else {
    for (const auto& e : use.memory->view.kind().takes.amounts.extended)
      if (e.amount == n.amount && dimension_of(where, e.name) == where.dimensions())
        x.dimension = e.name.text();
  }
  x.short_by = n.amount * std::max<std::int64_t>(x.wanted - x.placed, 0);
}

bool has_topology(const problem& p) {
  return std::any_of(p.units.begin(), p.units.end(), [](const unit& u) { return !u.key.empty(); });
}

} // namespace

base::explanation explain(const snapshot& where, const gang_spec& what, const problem& p,
                          const solution& refused, const options& bounds, workspace& memory) {
  ensure(refused.what != verdict::placed);
  base::explanation x;
  x.view_version = where.version;
  x.wanted = std::max<std::int64_t>(p.required, 1);
  x.placed = std::min(refused.most, x.wanted);
  x.closest = refused.closest;
  x = histogram{where, p}.fill(std::move(x));
  const auto missing = missing_key(where, p, refused, memory);
  if (missing.empty())
    find_shortage(where, p, refused, memory, x);
  if (what.groups.size() > 1)
    x.detail = fmt::format("group {}", what.groups[p.units[refused.unit].groups.front()].name);

  if (refused.what == verdict::undecided) {
    x.primary = reason_code::undecided; // the other questions would be as hard as this one
    x.detail =
        fmt::format("no placement found within {} steps, none excluded", bounds.search_steps);
    return x;
  }
  const auto empty = solve(where, p, measure::allocatable, bounds, memory);
  const bool is_fragmented =
      has_topology(p)
      && solve(where, without_topology(p), measure::free, bounds, memory).what == verdict::placed;
  const auto& anywhere = missing.empty() ? p : without_topology(p);
  const bool is_constrained =
      (missing.empty() || !is_fragmented)
      && solve(where, anywhere, measure::free_anyhow, bounds, memory).what == verdict::placed;
  std::vector<reason_code> reasons;
  if (empty.what == verdict::impossible)
    reasons.push_back(reason_code::never_fits);
  if (is_fragmented)
    reasons.push_back(reason_code::topology_too_fragmented);
  if (is_constrained)
    reasons.push_back(reason_code::node_constraints_unmet);
  if (!is_fragmented && !is_constrained)
    reasons.push_back(reason_code::insufficient_resources);
  x.primary = reasons.front();
  x.others.assign(reasons.begin() + 1, reasons.end());
  if (x.primary == reason_code::never_fits)
    x.detail += (x.detail.empty() ? "" : ": ")
                + (missing.empty() ? fmt::format("{} of {} would fit with every pod removed",
                                                 std::min(empty.most, x.wanted), x.wanted)
                                   : fmt::format("no node has the topology label {}", missing));
  return x;
}

} // namespace tutti::placement::engine
