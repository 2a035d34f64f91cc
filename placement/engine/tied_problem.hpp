// What the members of a gang ask of other pods, and others of them, in the engine's numbers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "placement/engine/gang_spec.hpp"
#include "placement/engine/key_map.hpp"
#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

struct shape_use;

/// Terms that span nodes speak of pods in the same domain. So everything is counted: per term and
/// domain, the pods that the term means. A term then asks for a number that is zero
/// (anti-affinity), not zero (affinity), or not far above the least (spread).
struct tied_counter {
  std::shared_ptr<const key_map> key;
  std::vector<std::int64_t> base; ///< by domain: pods that are there
  std::int64_t total = 0;         ///< of `base`
  /// By place: only pods on these nodes count. Null = on all nodes.
  std::shared_ptr<const std::vector<std::uint8_t>> only_on;
};

inline constexpr std::uint32_t no_rule = ~std::uint32_t{0};

struct spread_rule {
  std::uint32_t counter = 0;
  std::int64_t max_skew = 1;
  bool least_is_zero = false;         ///< fewer eligible domains than asked for
  bool counts_itself = false;         ///< a pod with this rule is one of those it counts
  std::vector<std::uint8_t> eligible; ///< by domain
};

/// Of pods with equal shape and equal ties.
struct tied_rules {
  std::vector<std::uint32_t> forbidden;   ///< counters that must be zero in the node's domain
  std::vector<std::uint32_t> by_others;   ///< those of them that count who keeps this one away
  std::vector<std::uint32_t> near;        ///< counters that must not be; all terms jointly
  bool is_near_itself = false;            ///< it is one of the pods that its own affinity means
  std::vector<std::uint32_t> spread;      ///< numbers of required rules
  std::vector<std::uint32_t> soft_spread; ///< numbers of rules that are wishes
  std::vector<std::uint32_t> raises;      ///< counters in which a pod of these counts
  bool is_fixed = true; ///< the gang's other members change nothing: `node_caps` says it all
};

/// What ties leave of the nodes, each node by itself, whatever the gang's other members do.
struct node_caps {
  static constexpr std::uint8_t unlimited = 255;
  std::shared_ptr<const place_map> places;
  std::vector<std::uint8_t> now;   ///< by place: the most pods of the shape
  std::vector<std::uint8_t> empty; ///< … if no pod were there
  std::vector<std::int32_t> taste; ///< by place: preferred terms; empty = none
};

struct tied_problem {
  std::vector<tied_counter> counters;
  std::vector<std::uint32_t> rule_of_counter; ///< number of the spread rule, or `no_rule`
  std::vector<spread_rule> spreads;
  std::vector<tied_rules> rules; ///< by number of the shape in use
  bool is_fixed = true;          ///< all rules are
  bool is_readable = true;       ///< false: a member's ties are written by a newer version
  bool has_soft_spread = false;
};

/// Members that are equal in what they ask of others and in who asks for them: a number each, from
/// 0 on. Empty if no member is tied to anybody: then nothing here needs to be looked at.
struct tie_classes {
  std::vector<std::uint32_t> of_member; ///< by member; bound ones have any
  std::vector<base::ties_ptr> example;  ///< by class; null = nothing known

  bool empty() const { return of_member.empty(); }
};
tie_classes find_tie_classes(const snapshot& where, const gang_spec& what, workspace& memory);

/// Counts who is there, and fills in `shape_use::caps`. `class_of_shape`: by number of the shape in
/// use.
std::shared_ptr<const tied_problem> read_ties(const snapshot& where, const tie_classes& classes,
                                              std::span<const std::uint32_t> class_of_shape,
                                              std::vector<shape_use>& shapes, workspace& memory);

/// True if a required anti-affinity of `asker` with this key means the other; all keys if empty.
bool is_kept_away(const snapshot& where, const api::pod_ties& asker, const api::pod_ties& other,
                  std::string_view key);
/// True if all required affinity terms of `asker` mean the other.
bool is_near_enough(const snapshot& where, const api::pod_ties& asker, const api::pod_ties& other);

} // namespace tutti::placement::engine
