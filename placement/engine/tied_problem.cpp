// One walk over the pods that are there fills all counters.
#include "placement/engine/tied_problem.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "base/ensure.hpp"
#include "placement/engine/trial.hpp"

namespace tutti::placement::engine {
namespace {

/// How much a pod counts; 0 = not at all.
using pod_weight = std::function<std::int64_t(const api::pod_ties&)>;

class tied_reader {
public:
  tied_reader(const snapshot& where, const tie_classes& classes,
              std::span<const std::uint32_t> class_of_shape, std::vector<shape_use>& shapes,
              workspace& memory)
      : where_(where), class_of_shape_(class_of_shape), shapes_(shapes), memory_(memory),
        out_(std::make_shared<tied_problem>()) {
    for (const auto& k : classes.example) {
      ties_.push_back(k ? memory.ties(*k).terms : nullptr);
      out_->is_readable = out_->is_readable && (!k || ties_.back());
    }
    for (auto& t : ties_) {
      is_known_.push_back(t != nullptr);
      if (!t)
        t = std::make_shared<const api::pod_ties>();
    }
    out_->rules.resize(shapes.size());
    taste_of_.assign(shapes.size(), {});
  }

  std::shared_ptr<const tied_problem> read() {
    for (std::uint32_t s = 0; s < shapes_.size(); ++s) {
      if (!is_known(s))
        continue;
      add_forbidden(s);
      add_near(s);
      add_spread(s);
      add_taste(s);
    }
    count_pods();
    for (std::uint32_t s = 0; s < shapes_.size(); ++s)
      for (std::uint32_t c = 0; c < weights_.size(); ++c)
        if (!is_taste_[c] && is_known(s) && weights_[c](of(s)) != 0)
          out_->rules[s].raises.push_back(c);
    for (std::uint32_t s = 0; s < shapes_.size(); ++s)
      find_caps(s);
    for (const auto& r : out_->rules)
      out_->is_fixed = out_->is_fixed && r.is_fixed;
    return out_;
  }

private:
  enum class purpose : std::uint8_t { forbidden, by_others, near };
  using counter_name = std::tuple<purpose, std::uint32_t, std::string>;

  /// Where nothing is known of a member's ties, no term means it.
  bool is_known(std::uint32_t shape) const { return is_known_[class_of_shape_[shape]]; }
  const api::pod_ties& of(std::uint32_t shape) const { return *ties_[class_of_shape_[shape]]; }

  std::uint32_t add_counter(const std::string& key, pod_weight weight, bool is_taste = false) {
    auto map = memory_.key(where_, key);
    const auto domains = map->domains();
    out_->counters.push_back({std::move(map), std::vector<std::int64_t>(domains, 0), 0, nullptr});
    out_->rule_of_counter.push_back(no_rule);
    weights_.push_back(std::move(weight));
    is_taste_.push_back(is_taste);
    return static_cast<std::uint32_t>(out_->counters.size() - 1);
  }

  std::uint32_t shared_counter(counter_name name, pod_weight weight) {
    const auto pos = known_.find(name);
    if (pos != known_.end())
      return pos->second;
    const auto number = add_counter(std::get<2>(name), std::move(weight));
    known_.emplace(std::move(name), number);
    return number;
  }

  /// Anti-affinity works in both directions: one counter per key of pods that this one keeps away,
  /// one of those that keep it away. Pods with the same ties are among the first already.
  void add_forbidden(std::uint32_t s) {
    const auto& mine = of(s);
    std::vector<std::string> own;
    std::vector<std::string> by_others;
    for (const auto& t : mine.anti_affinity)
      own.push_back(t.topology_key);
    const auto add_of = [&](const api::pod_ties& other) {
      for (const auto& t : other.anti_affinity)
        if (is_kept_away(where_, other, mine, t.topology_key))
          by_others.push_back(t.topology_key);
    };
    for (const auto& a : memory_.askers(where_))
      if (a->terms)
        add_of(*a->terms);
    for (const auto& t : ties_)
      if (t.get() != &mine)
        add_of(*t);
    auto& rules = out_->rules[s];
    for (const auto& key : ascending(own))
      rules.forbidden.push_back(shared_counter({purpose::forbidden, class_of_shape_[s], key},
                                               [this, &mine, key](const api::pod_ties& other) {
                                                 return static_cast<std::int64_t>(
                                                     is_kept_away(where_, mine, other, key));
                                               }));
    for (const auto& key : ascending(by_others)) {
      rules.by_others.push_back(shared_counter({purpose::by_others, class_of_shape_[s], key},
                                               [this, &mine, key](const api::pod_ties& other) {
                                                 return static_cast<std::int64_t>(
                                                     is_kept_away(where_, other, mine, key));
                                               }));
      rules.forbidden.push_back(rules.by_others.back());
    }
  }

  static std::vector<std::string> ascending(std::vector<std::string> x) {
    std::sort(x.begin(), x.end());
    x.erase(std::unique(x.begin(), x.end()), x.end());
    return x;
  }

  void add_near(std::uint32_t s) {
    const auto& mine = of(s);
    auto& rules = out_->rules[s];
    for (const auto& t : mine.affinity) {
      const auto c =
          shared_counter({purpose::near, class_of_shape_[s], t.topology_key},
                         [this, &mine](const api::pod_ties& other) {
                           return static_cast<std::int64_t>(is_near_enough(where_, mine, other));
                         });
      if (std::find(rules.near.begin(), rules.near.end(), c) == rules.near.end())
        rules.near.push_back(c);
    }
    rules.is_near_itself = !rules.near.empty() && is_near_enough(where_, mine, mine);
  }

  void add_spread(std::uint32_t s) {
    const auto& mine = of(s);
    for (const auto& t : mine.spread) {
      spread_rule rule;
      rule.counter = add_counter(t.topology_key, [&mine, &t](const api::pod_ties& other) {
        return static_cast<std::int64_t>(api::selects(t, mine.space, other));
      });
      rule.max_skew = t.max_skew;
      rule.counts_itself = api::selects(t, mine.space, mine);
      find_eligible(s, t, rule);
      const auto number = static_cast<std::uint32_t>(out_->spreads.size());
      if (t.is_required)
        out_->rule_of_counter[rule.counter] = number;
      out_->has_soft_spread = out_->has_soft_spread || !t.is_required;
      auto& rules = out_->rules[s];
      (t.is_required ? rules.spread : rules.soft_spread).push_back(number);
      out_->spreads.push_back(std::move(rule));
    }
  }

  /// Nodes whose pods count: they have all keys of the pod's rules of the same kind, and the pod's
  /// demands on nodes admit them as far as the rule's policies honour them.
  void find_eligible(std::uint32_t s, const api::spread_term& t, spread_rule& rule) {
    std::vector<std::shared_ptr<const key_map>> keys;
    for (const auto& other : of(s).spread)
      if (other.is_required == t.is_required)
        keys.push_back(memory_.key(where_, other.topology_key));
    auto& counter = out_->counters[rule.counter];
    const auto& view = shapes_[s].memory->view;
    const auto& places = *counter.key->places;
    std::vector<std::uint8_t> on(places.places, 0);
    std::vector<std::int8_t> of_class(where_.classes->size(), -1);
    rule.eligible.assign(counter.key->domains(), 0);
    for (auto number : where_.index->in_order) {
      const auto& b = *where_.blocks[number];
      for (auto slot : b.by_name) {
        const auto place = places.of({number, slot});
        if (std::any_of(keys.begin(), keys.end(),
                        [&](const auto& k) { return k->of_place[place] == no_domain; }))
          continue;
        auto& verdict = of_class[b.classes[slot]];
        if (verdict < 0 || view.depends_on_name())
          verdict = honours(view, t, b, slot) ? 1 : 0;
        if (verdict == 0)
          continue;
        on[place] = 1;
        rule.eligible[counter.key->of_place[place]] = 1;
      }
    }
    counter.only_on = std::make_shared<const std::vector<std::uint8_t>>(std::move(on));
    rule.least_is_zero = std::count(rule.eligible.begin(), rule.eligible.end(), 1) < t.min_domains;
  }

  bool honours(const shape_view& view, const api::spread_term& t, const block& b,
               std::uint32_t slot) const {
    const auto& kind = (*where_.classes)[b.classes[slot]].terms;
    if (!kind || !view.is_readable())
      return false;
    const auto& node = *b.nodes[slot];
    return (!t.honors_affinity
            || api::is_selected(view.terms(), *kind, node.name.value, node.host_name))
           && (!t.honors_taints || !api::untolerated(view.terms(), *kind));
  }

  /// Wishes look at the pods that are there, not at those that the gang brings.
  void add_taste(std::uint32_t s) {
    const auto& mine = of(s);
    for (const auto& p : mine.preferred)
      taste_of_[s].push_back(add_counter(
          p.term.topology_key,
          [this, &p](const api::pod_ties& other) {
            const bool is_meant = api::selects(p.term, other, where_.labels_of_space(other.space));
            return is_meant ? std::int64_t{p.weight} : 0;
          },
          true));
  }

  struct effect {
    std::uint32_t counter;
    std::int64_t weight;
  };
  struct known_kind {
    bool is_known = false;
    std::vector<effect> effects;
  };

  void count_pods() {
    std::vector<known_kind> kinds;
    for (auto number : where_.index->in_order) {
      const auto& b = *where_.blocks[number];
      if (b.tied.empty())
        continue;
      for (auto slot : b.by_name) {
        if (!b.tied[slot])
          continue;
        for (const auto& row : *b.tied[slot]) {
          if (row.kind->number >= kinds.size())
            kinds.resize(row.kind->number + 1);
          auto& kind = kinds[row.kind->number];
          if (!kind.is_known)
            weigh(*row.kind, kind);
          for (const auto& e : kind.effects)
            count(e, {number, slot}, row.count);
        }
      }
    }
  }

  void weigh(const tied_kind& kind, known_kind& out) {
    out.is_known = true;
    if (!kind.terms)
      return;
    for (std::uint32_t c = 0; c < weights_.size(); ++c)
      if (const auto weight = weights_[c](*kind.terms); weight != 0)
        out.effects.push_back({c, weight});
  }

  void count(const effect& e, node_ref node, std::uint32_t pods) {
    auto& c = out_->counters[e.counter];
    const auto place = c.key->places->of(node);
    const auto domain = c.key->of_place[place];
    if (domain == no_domain || (c.only_on && !(*c.only_on)[place]))
      return;
    c.base[domain] += e.weight * pods;
    c.total += e.weight * pods;
  }

  bool is_raised_by(std::uint32_t counter, std::uint32_t shape) const {
    const auto& list = out_->rules[shape].raises;
    return std::binary_search(list.begin(), list.end(), counter);
  }
  /// Does any member of the gang change the counter? Only this shape?
  struct raisers {
    bool any = false;
    bool others = false;
  };
  raisers raisers_of(std::uint32_t counter, std::uint32_t s) const {
    raisers out;
    for (std::uint32_t other = 0; other < shapes_.size(); ++other)
      if (is_raised_by(counter, other)) {
        out.any = true;
        out.others = out.others || other != s;
      }
    return out;
  }

  /// What no member can change is a matter of each node by itself. So is "one per node".
  void find_caps(std::uint32_t s) {
    auto& rules = out_->rules[s];
    if (rules.forbidden.empty() && rules.near.empty() && rules.spread.empty()
        && taste_of_[s].empty())
      return;
    auto caps = std::make_shared<node_caps>();
    caps->places = memory_.places(where_);
    caps->now.assign(caps->places->places, node_caps::unlimited);
    caps->empty = caps->now;
    for (auto c : rules.forbidden)
      cap_forbidden(s, c, *caps);
    if (!rules.near.empty())
      cap_near(s, *caps);
    for (auto r : rules.spread)
      cap_spread(s, r, *caps);
    for (auto c : taste_of_[s])
      add_taste_of(c, *caps);
    shapes_[s].caps = std::move(caps);
  }

  void cap_forbidden(std::uint32_t s, std::uint32_t number, node_caps& caps) {
    const auto& c = out_->counters[number];
    const auto by = raisers_of(number, s);
    const bool is_once = by.any && !by.others && c.key->is_per_node;
    if (by.any && !is_once)
      out_->rules[s].is_fixed = false;
    for (std::uint32_t place = 0; place < caps.now.size(); ++place) {
      const auto domain = c.key->of_place[place];
      if (domain == no_domain)
        continue;
      if (is_once) {
        caps.now[place] = std::min<std::uint8_t>(caps.now[place], 1);
        caps.empty[place] = std::min<std::uint8_t>(caps.empty[place], 1);
      }
      if (c.base[domain] > 0)
        caps.now[place] = 0;
    }
  }

  /// Members that ask for the same pods and are such pods themselves can only follow those that are
  /// there. Where nobody is there yet, or other members may open a domain, it is not fixed.
  void cap_near(std::uint32_t s, node_caps& caps) {
    auto& rules = out_->rules[s];
    bool any_there = false;
    bool others = false;
    for (auto c : rules.near) {
      any_there = any_there || out_->counters[c].total > 0;
      others = others || raisers_of(c, s).others;
    }
    const bool follows = !others && (any_there || !rules.is_near_itself);
    rules.is_fixed = rules.is_fixed && follows;
    for (auto number : rules.near) {
      const auto& c = out_->counters[number];
      for (std::uint32_t place = 0; place < caps.now.size(); ++place) {
        const auto domain = c.key->of_place[place];
        if (domain == no_domain)
          caps.now[place] = caps.empty[place] = 0;
        else if (follows && c.base[domain] == 0)
          caps.now[place] = 0;
      }
    }
  }

  void cap_spread(std::uint32_t s, std::uint32_t number, node_caps& caps) {
    const auto& rule = out_->spreads[number];
    const auto& c = out_->counters[rule.counter];
    const bool is_fixed = !raisers_of(rule.counter, s).any;
    out_->rules[s].is_fixed = out_->rules[s].is_fixed && is_fixed;
    std::int64_t least = 0;
    if (!rule.least_is_zero) {
      bool is_first = true;
      for (std::uint32_t d = 0; d < c.base.size(); ++d)
        if (rule.eligible[d] && (is_first || c.base[d] < least)) {
          least = c.base[d];
          is_first = false;
        }
    }
    for (std::uint32_t place = 0; place < caps.now.size(); ++place) {
      const auto domain = c.key->of_place[place];
      if (domain == no_domain)
        caps.now[place] = caps.empty[place] = 0;
      else if (is_fixed && c.base[domain] - least > rule.max_skew)
        caps.now[place] = 0;
    }
  }

  void add_taste_of(std::uint32_t number, node_caps& caps) {
    const auto& c = out_->counters[number];
    caps.taste.resize(caps.now.size(), 0);
    for (std::uint32_t place = 0; place < caps.taste.size(); ++place)
      if (const auto domain = c.key->of_place[place]; domain != no_domain)
        caps.taste[place] += static_cast<std::int32_t>(c.base[domain]);
  }

  const snapshot& where_;
  std::span<const std::uint32_t> class_of_shape_;
  std::vector<shape_use>& shapes_;
  workspace& memory_;
  std::vector<std::shared_ptr<const api::pod_ties>> ties_; // by class
  std::vector<bool> is_known_;                             // by class
  std::shared_ptr<tied_problem> out_;
  std::map<counter_name, std::uint32_t> known_;
  std::vector<pod_weight> weights_;                  // by counter
  std::vector<bool> is_taste_;                       // by counter
  std::vector<std::vector<std::uint32_t>> taste_of_; // by shape: counters
};

} // namespace

std::shared_ptr<const tied_problem> read_ties(const snapshot& where, const tie_classes& classes,
                                              std::span<const std::uint32_t> class_of_shape,
                                              std::vector<shape_use>& shapes, workspace& memory) {
  ensure(class_of_shape.size() == shapes.size(), class_of_shape.size(), shapes.size());
  return tied_reader{where, classes, class_of_shape, shapes, memory}.read();
}

} // namespace tutti::placement::engine
