// The promises of the protocol by number, and a broken one as a value.
//
// What is judged when.
//
//     at each step      whatever a step can break: S1a, S1b, S2, S3, S4, S6, S7, S8, S9, S12, L3,
//                       the rules of roles (R), S5 when a decision is called done, and E1 where
//                       nothing fails on purpose
//     every 1,000       from scratch: decisions as the log holds them against those that were seen
//     deliveries, and   written (S2); the sums of what is on nodes and promised against those that
//     at the end        are kept up (J1), and against the most that a node has ever offered (S1a,
//                       S1b); all plans among themselves (S5, S6, S7, S9); who is bound, by
//                       whose word and in which domain (S3, P2); that no queue lists a gang twice
//                       (S13); what shards hold, for whom, and whether they take their view for
//                       fresh (S10, S12)
//     every 5 s of a    what may lag for a moment, and not for longer: half a minute for the queue
//     calm world, and   (S13, S14), a topology that believes in other nodes (L4) and room in doubt
//     at the end        (L2), two minutes for room whose decision is done (S10: a view must have
//                       been fresh for 90 s). Calm: everybody is up, and nothing has failed for as
//                       long as that; an exchange that was lost fails for a minute
//     at each crash,    S11: each shard's disk replayed twice, and from its own snapshot, against
//     and at the end    the judge's own reading of the journal
//     at each begin     S11: what a shard begins with against the same
//     at the end        what comes right in minutes: L1, L5, L6, P1, and members that wait (S5)
//
// From scratch S8 is not counted: which epochs a shard has obeyed stands in its journal only as far
// as it was synced. Those of owners are followed in the partition map.
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
