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

/// S1a to S14, L1 to L5, and E1: no role reports an error that no fault explains.
const std::vector<invariant>& invariants();
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
