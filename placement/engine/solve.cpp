// Members become units that share a domain, and each unit gets the best domain that holds it.
#include "placement/engine/solve.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/core.h>

#include "base/ensure.hpp"
#include "placement/engine/tied_search.hpp"

namespace tutti::placement::engine {
namespace {

constexpr std::size_t closest_max = 3;
/// Orders of units that are tried when a gang has several.
constexpr std::size_t unit_orders_max = 4;

double weight_of(const snapshot& where, const std::vector<need>& needs) {
  double weight = 0;
  for (const auto& n : needs) {
    std::int64_t most = 0;
    for (const auto& b : where.blocks)
      if (n.what < b->most_allocatable.size())
        most = std::max(most, b->most_allocatable[n.what]);
    weight = std::max(weight,
                      most > 0 ? static_cast<double>(n.amount) / static_cast<double>(most) : 1e9);
  }
  return weight;
}

/// The domain of the key that the group's bound members pin, nothing if there are none.
base::result<std::optional<std::string>> pinned_value(const snapshot& where, const gang_spec& what,
                                                      std::uint32_t group, const std::string& key) {
  std::optional<std::string> found;
  std::string_view holder;
  std::string memory;
  for (const auto& m : what.members) {
    if (m.group != group || m.is == member_spec::state::pending)
      continue;
    const auto value = m.is == member_spec::state::bound ? joined_value(where, m.node, key, memory)
                                                         : api::label_value{};
    if (!value.has)
      return base::error{base::code::bad_input, fmt::format("member {} is bound to {} {}", m.name,
                                                            m.is == member_spec::state::bound
                                                                ? "a node without label"
                                                                : "an unknown node under key",
                                                            key)};
    if (found && *found != value.value)
      return base::error{base::code::bad_input,
                         fmt::format("members {} and {} are bound in two domains of {}: {} and {}",
                                     holder, m.name, key, *found, value.value)};
    found = std::string{value.value};
    holder = m.name.empty() ? std::string_view{"?"} : std::string_view{m.name};
  }
  return found;
}

/// The keys of which the group is to share one value each, joined: the required ones, and so many
/// of the preferred ones.
std::string joined_key(const group_spec& g, std::size_t preferred) {
  std::vector<std::string_view> keys;
  const auto add = [&](const std::string& key) {
    if (!key.empty() && std::find(keys.begin(), keys.end(), key) == keys.end())
      keys.push_back(key);
  };
  add(g.topology_key);
  for (const auto& key : g.required_levels)
    add(key);
  ensure(preferred <= g.preferred_levels.size(), preferred);
  for (std::size_t i = 0; i < preferred; ++i)
    add(g.preferred_levels[i]);
  std::string out;
  for (auto key : keys)
    out.append(out.empty() ? 0u : 1u, key_joint).append(key);
  return out;
}

base::result<std::vector<unit>> cut_units(const snapshot& where, const gang_spec& what,
                                          const kept_levels& kept) {
  std::vector<unit> out;
  unit free;
  for (std::uint32_t g = 0; g < what.groups.size(); ++g) {
    auto key = joined_key(what.groups[g], kept.empty() ? 0 : kept[g]);
    if (key.empty()) {
      free.groups.push_back(g);
      continue;
    }
    auto value = pinned_value(where, what, g, key);
    if (!value)
      return value.error();
    out.push_back({std::move(key), *value, {g}, {}});
  }
  if (!free.groups.empty())
    out.push_back(std::move(free));
  return out;
}

struct scored {
  std::size_t domain = 0;
  std::int64_t placed = 0;   // members, at most all: exact for one lot, else a bound
  std::int64_t leftover = 0; // slots that stay free
  bool may_do = true;        // no group is bounded below its minimum
};

scored score(trial& on, const problem& p, const unit& u, const std::vector<domain_view>& domains,
             std::size_t i, const tied_state* ties) {
  scored out{i, 0, 0, true};
  std::int64_t slots = 0;
  std::int64_t wanted = 0;
  for (auto g : u.groups) {
    std::int64_t most = 0;
    for (auto l : u.lots) {
      if (p.lots[l].group != g)
        continue;
      const auto members = static_cast<std::int64_t>(p.lots[l].members.size());
      const auto here = static_cast<std::int64_t>(on.slots_in(p.lots[l].shape, domains[i]));
      most += ties ? most_tied(on, *ties, p.lots[l], domains[i]) : std::min(here, members);
      slots += here;
      wanted += members;
    }
    out.may_do = out.may_do && most >= p.groups[g].required;
    out.placed += most;
  }
  out.leftover = std::max<std::int64_t>(slots - wanted, 0);
  return out;
}

bool is_better(const scored& a, const scored& b) {
  if (a.placed != b.placed)
    return a.placed > b.placed;
  return a.leftover != b.leftover ? a.leftover < b.leftover : a.domain < b.domain;
}

std::int64_t required_of(const problem& p, const unit& u) {
  std::int64_t n = 0;
  for (auto g : u.groups)
    n += p.groups[g].required;
  return n;
}

struct unit_result {
  verdict what = verdict::impossible;
  domain_view domain;
  std::int64_t leftover = 0;
  std::int64_t most = 0;
  std::vector<scored> seen; // all domains
};

/// Tries the unit's domains, best bound first, and keeps the seats of the best that works.
class unit_placer {
public:
  /// `state`: the counters of what ties the members, if these change with what is placed.
  unit_placer(trial& on, const problem& p, const options& bounds, workspace& memory,
              tied_state* state = nullptr)
      : on_(on), p_(p), bounds_(bounds), memory_(memory), state_(state),
        steps_(bounds.search_steps) {}

  std::vector<domain_view> domains_of(const unit& u) {
    if (u.key.empty())
      return {whole(on_.where())};
    auto out = memory_.domains(on_.where(), u.key);
    if (u.pinned)
      std::erase_if(out, [&](const domain_view& d) { return d.name != *u.pinned; });
    return out;
  }

  unit_result place(const unit& u, bool all) {
    const auto domains = domains_of(u);
    unit_result out;
    out.seen.reserve(domains.size());
    for (std::size_t i = 0; i < domains.size(); ++i)
      out.seen.push_back(score(on_, p_, u, domains, i, state_));
    if (u.lots.size() > 1 || state_)
      std::sort(out.seen.begin(), out.seen.end(), is_better);
    else if (!out.seen.empty())
      std::iter_swap(out.seen.begin(),
                     std::min_element(out.seen.begin(), out.seen.end(), is_better));
    try_domains(u, all, domains, out);
    return out;
  }

  /// Bounds the unit in each of its domains. `impossible` if none can do, a proof if the trial is
  /// empty.
  unit_result count(const unit& u) {
    const auto domains = domains_of(u);
    unit_result out;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      out.seen.push_back(score(on_, p_, u, domains, i, state_));
      out.most = std::max(out.most, out.seen.back().placed);
      if (out.seen.back().may_do)
        out.what = verdict::undecided;
    }
    return out;
  }

private:
  void try_domains(const unit& u, bool all, const std::vector<domain_view>& domains,
                   unit_result& out) {
    const auto before = on_.taken().size();
    std::vector<run> best;
    std::uint32_t tried = 0;
    for (auto& s : out.seen) {
      if (!s.may_do)
        continue;
      // What comes after is bounded by what is found already, or would cost too much.
      if (out.what == verdict::placed && s.placed <= out.most)
        break;
      if (tried++ == bounds_.domains_tried) {
        if (out.what != verdict::placed)
          out.what = verdict::undecided;
        break;
      }
      const auto got = place_in(u, domains[s.domain], all);
      if (got.what == verdict::placed && (best.empty() || got.most > out.most)) {
        best.assign(on_.taken().begin() + static_cast<std::ptrdiff_t>(before), on_.taken().end());
        out.what = verdict::placed;
        out.domain = domains[s.domain];
        out.leftover = s.leftover;
        out.most = got.most;
      } else if (got.what == verdict::undecided && out.what == verdict::impossible) {
        out.what = verdict::undecided;
      }
      if (got.what != verdict::placed)
        s.placed = got.most;
      give_back(before);
      if (got.what == verdict::placed && (!all || u.lots.size() <= 1))
        break; // exact for one lot; without extras there is nothing to gain elsewhere
    }
    for (const auto& r : best) {
      on_.take(r);
      for (std::uint32_t i = 0; state_ && i < r.count; ++i)
        state_->place({r.shape, r.node});
    }
    if (out.what != verdict::placed)
      for (const auto& s : out.seen)
        out.most = std::max(out.most, s.placed);
  }

  fill_result place_in(const unit& u, const domain_view& domain, bool all) {
    return state_ ? place_tied(on_, *state_, p_, u, domain, all)
                  : place_minimum(on_, p_, u, domain, all, steps_);
  }

  void give_back(std::size_t keep) {
    if (state_)
      undo(on_, *state_, keep);
    else
      on_.undo(keep);
  }

  trial& on_;
  const problem& p_;
  const options& bounds_;
  workspace& memory_;
  tied_state* state_;
  std::uint64_t steps_;
};

std::vector<base::domain_fit> nearest(const unit& u, std::int64_t wanted, std::vector<scored> seen,
                                      const std::vector<domain_view>& domains) {
  const auto n = std::min(seen.size(), closest_max);
  std::partial_sort(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(n), seen.end(),
                    [](const scored& a, const scored& b) {
                      return a.placed != b.placed ? a.placed > b.placed : a.domain < b.domain;
                    });
  std::vector<base::domain_fit> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back({u.key, std::string{domains[seen[i].domain].name}, wanted, seen[i].placed});
  return out;
}

void fail(solution& out, const problem& p, std::size_t number, const unit_result& got,
          unit_placer& placer) {
  const auto& u = p.units[number];
  out.what = got.what;
  out.unit = number;
  out.most = got.most;
  out.closest =
      nearest(u, std::max<std::int64_t>(required_of(p, u), 1), got.seen, placer.domains_of(u));
}

/// One pass over the units in `order`; false if one could not be placed. The trial keeps the seats.
bool place_units(trial& on, const problem& p, const std::vector<std::size_t>& order,
                 unit_placer& placer, tied_state* state, solution& out) {
  std::vector<domain_view> chosen(p.units.size());
  const bool is_alone = order.size() == 1;
  std::int64_t left = 0;
  for (auto i : order) {
    const auto got = placer.place(p.units[i], is_alone);
    if (got.what != verdict::placed) {
      fail(out, p, i, got, placer);
      return false;
    }
    chosen[i] = got.domain;
    left += got.leftover;
  }
  for (auto i : order) {
    if (is_alone)
      break; // has taken the extras along
    if (state)
      place_tied_extras(on, *state, p, p.units[i], chosen[i]);
    else
      place_extras(on, p, p.units[i], chosen[i]);
  }
  out.what = verdict::placed;
  out.score = -left;
  out.domains.assign(p.groups.size(), {});
  for (auto i : order)
    for (auto g : p.units[i].groups)
      out.domains[g] = std::string{chosen[i].name};
  out.runs = on.taken();
  return true;
}

/// Equal pending members become lots. Equal means: of one group, one shape, and one in what ties
/// them to others.
void cut_lots(const snapshot& where, const gang_spec& what, workspace& memory, problem& p) {
  const auto ties = find_tie_classes(where, what, memory);
  const auto class_of = [&](std::uint32_t i) { return ties.empty() ? 0 : ties.of_member[i]; };
  using kind = std::pair<base::shape_id, std::uint32_t>; // shape and tie class
  std::map<std::pair<std::uint32_t, kind>, std::size_t> lot_of;
  std::map<kind, std::uint32_t> shape_of;
  std::vector<std::uint32_t> class_of_shape;
  for (std::uint32_t i = 0; i < what.members.size(); ++i) {
    const auto& m = what.members[i];
    ensure(m.group < what.groups.size() && m.kind, i, m.group);
    auto& g = p.groups[m.group];
    if (m.is != member_spec::state::pending) {
      ++g.bound;
      continue;
    }
    ++g.pending;
    // Neighbours are mostly equal: look them up once.
    if (!p.lots.empty() && p.lots.back().group == m.group
        && class_of_shape[p.lots.back().shape] == class_of(i)
        && p.shapes[p.lots.back().shape].memory->view.kind().id == m.kind->id) {
      p.lots.back().members.push_back(i);
      continue;
    }
    const kind mine{m.kind->id, class_of(i)};
    auto [shape, is_new] = shape_of.try_emplace(mine, static_cast<std::uint32_t>(p.shapes.size()));
    if (is_new) {
      auto known = memory.shape(m.kind);
      auto needs = known->view.needs(where);
      const auto weight = weight_of(where, needs);
      p.shapes.push_back({std::move(known), std::move(needs), weight, nullptr});
      class_of_shape.push_back(mine.second);
    }
    auto [pos, is_first] = lot_of.try_emplace({m.group, mine}, p.lots.size());
    if (is_first)
      p.lots.push_back({m.group, shape->second, {}});
    p.lots[pos->second].members.push_back(i);
  }
  if (!ties.empty() && !p.lots.empty())
    p.ties = read_ties(where, ties, class_of_shape, p.shapes, memory);
}

} // namespace

base::result<void> keep_levels(const snapshot& where, const gang_spec& what,
                               const kept_levels& kept, problem& p) {
  auto units = cut_units(where, what, kept);
  if (!units)
    return units.error();
  p.units = std::move(*units);
  for (auto& u : p.units)
    for (std::uint32_t l = 0; l < p.lots.size(); ++l)
      if (std::find(u.groups.begin(), u.groups.end(), p.lots[l].group) != u.groups.end())
        u.lots.push_back(l);
  std::erase_if(p.units, [&](const unit& u) { return u.lots.empty(); });
  return {};
}

base::result<problem> read_gang(const snapshot& where, const gang_spec& what, workspace& memory) {
  memory.follow(where);
  problem p;
  p.groups.resize(what.groups.size());
  cut_lots(where, what, memory, p);
  if (auto ok = keep_levels(where, what, {}, p); !ok)
    return ok.error();
  for (std::size_t g = 0; g < p.groups.size(); ++g) {
    auto& d = p.groups[g];
    d.required = std::max<std::int64_t>(what.groups[g].min_count - d.bound, 0);
    p.required += d.required;
    p.pending += d.pending;
  }
  return p;
}

problem without_topology(const problem& p) {
  auto out = p;
  unit all;
  for (const auto& u : p.units) {
    all.groups.insert(all.groups.end(), u.groups.begin(), u.groups.end());
    all.lots.insert(all.lots.end(), u.lots.begin(), u.lots.end());
  }
  out.units = {std::move(all)};
  return out;
}

namespace {

/// Bulky units first: the others find room more easily around them.
std::vector<std::size_t> order_of_units(const problem& p) {
  std::vector<std::size_t> order(p.units.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return required_of(p, p.units[a]) > required_of(p, p.units[b]);
  });
  return order;
}

/// Several units failed in every order that was tried. One that fails alone is a proof.
bool fails_alone(const snapshot& where, const problem& p, measure by, const options& bounds,
                 workspace& memory, solution& out) {
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    trial on{where, by, p.shapes, p.rule.get()};
    unit_placer placer{on, p, bounds, memory};
    const auto got = placer.place(p.units[i], false);
    if (got.what == verdict::impossible) {
      fail(out, p, i, got, placer);
      return true;
    }
  }
  return false;
}

/// What the full search over all units found.
void take_searched(trial& on, const problem& p, const options& bounds, workspace& memory,
                   solution& out) {
  unit_placer placer{on, p, bounds, memory};
  std::vector<std::vector<domain_view>> domains;
  for (const auto& u : p.units)
    domains.push_back(placer.domains_of(u));
  auto steps = bounds.search_steps;
  std::vector<std::size_t> chosen;
  out.what = search_units(on, p, domains, steps, chosen);
  if (out.what != verdict::placed)
    return;
  std::unique_ptr<tied_state> state;
  if (p.ties && !p.ties->is_fixed && on.by() != measure::free_anyhow)
    state = std::make_unique<tied_state>(*p.ties, on.by());
  for (const auto& s : seats_since(on, 0))
    if (state)
      state->place(s);
  out.score = 0;
  out.domains.assign(p.groups.size(), {});
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    if (domains[i].empty())
      continue;
    const auto& domain = domains[i][chosen[i]];
    if (state)
      place_tied_extras(on, *state, p, p.units[i], domain);
    else
      place_extras(on, p, p.units[i], domain);
    for (auto g : p.units[i].groups)
      out.domains[g] = std::string{domain.name};
  }
  out.runs = on.taken();
  if (out.runs.empty())
    out.what = verdict::impossible; // nothing is required and nothing fits
}

solution solve_untied(const snapshot& where, const problem& p, measure by, const options& bounds,
                      workspace& memory) {
  auto order = order_of_units(p);
  solution out;
  const auto tries = std::min(order.size(), unit_orders_max);
  auto each = bounds; // of several units most steps go to the search of all together
  if (order.size() > 1)
    each.search_steps /= 2 * unit_orders_max;
  for (std::size_t i = 0; i < tries; ++i) {
    trial on{where, by, p.shapes, p.rule.get()};
    unit_placer placer{on, p, each, memory};
    if (place_units(on, p, order, placer, nullptr, out)) {
      if (out.runs.empty())
        out.what = verdict::impossible; // nothing is required and nothing fits
      return out;
    }
    if (order.size() == 1)
      return out;
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  if (fails_alone(where, p, by, each, memory, out))
    return out;
  trial on{where, by, p.shapes, p.rule.get()};
  take_searched(on, p, bounds, memory, out);
  return out;
}

/// Greedy orders, the count of each unit alone, then the full search over all units.
solution solve_tied(const snapshot& where, const problem& p, measure by, const options& bounds,
                    workspace& memory) {
  auto order = order_of_units(p);
  solution out;
  const auto tries = std::min(order.size(), unit_orders_max);
  for (std::size_t i = 0; i < tries; ++i) {
    trial on{where, by, p.shapes, p.rule.get()};
    tied_state state{*p.ties, by};
    unit_placer placer{on, p, bounds, memory, &state};
    if (place_units(on, p, order, placer, &state, out)) {
      if (!out.runs.empty() && state.all_even(seats_since(on, 0)))
        return out;
      out.what = verdict::undecided;
    } else if (order.size() == 1 && out.what == verdict::impossible) {
      return out; // by counting
    }
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  for (std::size_t i = 0; i < p.units.size(); ++i) {
    trial on{where, by, p.shapes, p.rule.get()};
    tied_state state{*p.ties, by};
    unit_placer placer{on, p, bounds, memory, &state};
    const auto got = placer.count(p.units[i]);
    if (got.what == verdict::impossible) {
      fail(out, p, i, got, placer);
      return out;
    }
  }
  trial on{where, by, p.shapes, p.rule.get()};
  take_searched(on, p, bounds, memory, out);
  return out;
}

} // namespace

solution solve(const snapshot& where, const problem& p, measure by, const options& bounds,
               workspace& memory) {
  ensure(!p.units.empty());
  if (!p.ties || by == measure::free_anyhow)
    return solve_untied(where, p, by, bounds, memory);
  if (!p.ties->is_fixed)
    return solve_tied(where, p, by, bounds, memory);
  if (p.ties->has_soft_spread && by == measure::free) {
    // A wish decides where members go, not whether.
    trial on{where, by, p.shapes, p.rule.get()};
    tied_state state{*p.ties, by};
    unit_placer placer{on, p, bounds, memory, &state};
    solution out;
    if (place_units(on, p, order_of_units(p), placer, &state, out) && !out.runs.empty()
        && out.runs.size() == static_cast<std::size_t>(p.pending))
      return out;
  }
  return solve_untied(where, p, by, bounds, memory);
}

} // namespace tutti::placement::engine
