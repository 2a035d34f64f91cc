// The promises of the protocol by number, and a broken one as a value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace tutti::chaos {

struct invariant {
  std::string_view id;       ///< "S6": as in protocol/README.md
  std::string_view sentence; ///< what holds
};

/// What the judge looks at: promises of protocol/README.md by number, rules of its coordinators and
/// shards (R), what is owed to gangs (P), and errors of the program (E).
const std::vector<invariant>& invariants();
/// Promises of protocol/README.md that no judge looks at, and why.
const std::vector<invariant>& not_judged();
/// Null if there is none of this id.
const invariant* find_invariant(std::string_view id);

/// One promise that did not hold.
struct violation {
  std::string id;
  base::time_point at;
  std::string what; ///< the entities and numbers
};

/// "S6 at 1.204s: No pod is bound twice …: pod a-1 was on n1 and is on n2".
std::string to_text(const violation& x);

} // namespace tutti::chaos
