// What ties pods to each other across nodes: labels by which they are selected, and the terms that
// select. Required and preferred (anti-)affinity between pods, topology spread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/selector.hpp"
#include "api/terms.hpp"
#include "base/kinds.hpp"
#include "base/result.hpp"

namespace tutti::api {

/// Other pods in the same domain of a topology key: of an affinity, these must be there; of an
/// anti-affinity, they must not.
struct pod_term {
  std::string topology_key;
  label_selector pods;             ///< matchLabelKeys and mismatchLabelKeys already merged in
  std::vector<std::string> spaces; ///< namespaces, ascending; the pod's own if the term names none
  /// Namespaces by their labels, besides `spaces`; nothing if the term has no namespaceSelector.
  /// An empty selector means every namespace.
  std::optional<label_selector> space_labels;

  friend bool operator==(const pod_term&, const pod_term&) = default;
};

struct weighted_pod_term {
  std::int32_t weight = 0; ///< negative: to be kept away from
  pod_term term;

  friend bool operator==(const weighted_pod_term&, const weighted_pod_term&) = default;
};

/// One topologySpreadConstraint, over pods of the own namespace.
struct spread_term {
  std::int32_t max_skew = 1;
  std::string topology_key;
  label_selector pods;          ///< matchLabelKeys already merged in
  std::int32_t min_domains = 1; ///< with fewer eligible domains the least count is taken as 0
  bool is_required = true;      ///< DoNotSchedule; else ScheduleAnyway
  bool honors_affinity = true;  ///< only nodes that the pod's selector and affinity allow count
  bool honors_taints = false;   ///< only nodes whose taints the pod tolerates count

  friend bool operator==(const spread_term&, const spread_term&) = default;
};

/// All that ties one pod to others.
struct pod_ties {
  std::string space;
  std::vector<std::pair<std::string, std::string>> labels; ///< ascending by key
  std::vector<pod_term> affinity;                          ///< required, all of them
  std::vector<pod_term> anti_affinity;                     ///< required, all of them
  std::vector<spread_term> spread;
  std::vector<weighted_pod_term> preferred;

  bool has_required() const; ///< a term that may refuse a node
  friend bool operator==(const pod_ties&, const pod_ties&) = default;
};

/// With canonical blob and its hash as id: equal ties give equal ids whatever the order of labels
/// and terms in the manifest.
base::ties_ptr make_ties(const pod_ties& x);
/// Reads a blob back. `corrupt` if it is none of ours, `newer_format` if of a later version.
base::result<pod_ties> decode_ties(std::string_view blob);

/// True if the term means pods with these ties, namespace included. `space_labels` of the other
/// pod's namespace; null where they are not known: then only an empty namespace selector matches.
bool selects(const pod_term& term, const pod_ties& other, const string_map* space_labels);
bool selects(const spread_term& term, std::string_view own_space, const pod_ties& other);

} // namespace tutti::api
