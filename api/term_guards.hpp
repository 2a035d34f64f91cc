// The guards of terms among pods: what a plan must keep others from while it is decided.
#pragma once

#include <string>
#include <vector>

#include "api/ties.hpp"

namespace tutti::api {

/// Names one required term so that everybody who has one like it, or whose pods it means, names it
/// alike. All that is needed to tell whom it means is in the name.
struct term_guard {
  std::string kind;  ///< "anti-affinity", "affinity" or "spread"
  std::string space; ///< namespace of the pods that it means; "*" = any
  std::string key;   ///< topology key, a space, and the selector: "zone app in (db,web)"

  friend auto operator<=>(const term_guard&, const term_guard&) = default;
};

/// Of all required terms, ascending, each once. A term over several namespaces has a guard for
/// each.
std::vector<term_guard> guards_of_terms(const pod_ties& x);

/// True if the guard's term may mean pods with these ties. False also for a name that is not of our
/// making.
bool may_mean(const term_guard& guard, const pod_ties& other);

/// The part of the key before the selector.
std::string_view topology_key_of(const term_guard& guard);

} // namespace tutti::api
