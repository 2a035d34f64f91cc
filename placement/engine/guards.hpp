// Which guards a plan needs: terms that span nodes are in no node's ledger.
#pragma once

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "base/kinds.hpp"
#include "placement/engine/gang_spec.hpp"
#include "placement/engine/snapshot.hpp"

namespace tutti::placement::engine {

/// Two plans that are decided at the same time do not see each other's pods. A guard makes them: a
/// plan with a required term takes the term's guard exclusively, plans whose pods such a term may
/// select take it shared.
struct guard_need {
  std::string kind;  ///< "affinity", "anti-affinity" or "spread"
  std::string space; ///< namespace of the pods that the term means; "*" where labels choose it
  std::string key;   ///< topology key
  bool is_exclusive = false;

  friend auto operator<=>(const guard_need&, const guard_need&) = default;
};

/// Ascending, each guard once. Looks at the terms of the gang's pending members, of the pods in the
/// snapshot, and of `others`: ties of gangs that may be planned elsewhere at the same time. Labels
/// of namespaces are not asked: they may change, so a term that goes by them may mean any. Empty if
/// nobody asks anything of anybody, which costs nothing to find out.
std::vector<guard_need> guards_of(const snapshot& where, const gang_spec& what,
                                  std::span<const base::ties_ptr> others = {});

} // namespace tutti::placement::engine
