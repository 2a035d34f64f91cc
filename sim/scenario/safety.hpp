// What must hold in every scenario at every step, with no word in the file.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/objects.hpp"
#include "sim/scenario/tally.hpp"
#include "sim/world/world.hpp"

namespace tutti::sim::scenario {

/// Watches a world for violations. Another checker can take this one's place.
class checker : public observer {
public:
  /// The world has come to rest: what holds only then is looked at.
  virtual void settled() = 0;
  /// What was violated, oldest first; each in one line.
  virtual const std::vector<std::string>& violations() const = 0;
};

/// Judges from the API server's objects alone:
///
///   at each Binding by a scheduler   the node has room for the pod, beside all that is really on
///   it
///                                    (S1b), ports included; the members of a group with a topology
///                                    key are in one domain
///   always                           nobody is bound a second time (S6); a scheduler evicts nobody
///                                    whose priority is not below the highest that waits (S9)
///   settled                          a gang that has not started has no member bound, or its
///                                    minimum
///
/// What others put on a node, take from it or change about it while a Binding may be under way is
/// not held against the scheduler: it could not know.
std::unique_ptr<checker> make_safety(world& w, const tally& counts);

} // namespace tutti::sim::scenario
