// What is missing for a gang that was refused: the nearest miss, and the smallest change of each
// kind that would let it in. Every answer is one that `plan` gives for the changed question.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "placement/engine/plan.hpp"

namespace tutti::placement::engine {

/// How near the best domain comes for the part of the gang that was refused.
struct near_miss {
  std::string level;          ///< label key, several joined by "+"; empty = the whole cluster
  std::string domain;         ///< the value; empty = the whole cluster
  std::int64_t wanted = 0;    ///< members that must be placed there
  std::int64_t fit_now = 0;   ///< members that can be
  std::int64_t fit_empty = 0; ///< … without the pods that are there, at most
};
/// Nothing if the gang can be placed, or if no domain was looked at (members are missing, a label
/// is).
std::optional<near_miss> nearest_miss(const snapshot& where, const gang_spec& what,
                                      const options& bounds, workspace& memory);

/// One change that would let the gang in.
struct remedy {
  enum class kind : std::uint8_t { add_nodes, drop_members, relax_level };
  kind what = kind::add_nodes;
  std::uint32_t group = 0; ///< of `drop_members` and `relax_level`
  std::int64_t count = 0;  ///< nodes, or members less in the group's minimum
  std::string name; ///< the node they are like, or the label key that is not required any more

  friend bool operator==(const remedy&, const remedy&) = default;
};

/// The cluster with `count` nodes more, each as empty, labelled and placed as `like`, which must be
/// a node. Only for a memory that has seen no other snapshot.
snapshot with_nodes_like(const snapshot& where, node_ref like, std::uint32_t count);

/// The fewest nodes like this one that let the gang in; nothing if as many nodes as members must be
/// placed do not.
std::optional<std::int64_t> nodes_to_add(const snapshot& where, const gang_spec& what,
                                         node_ref like, const options& bounds);
/// Of the groups whose minimum alone could be lower: the one for which it must be lowered least,
/// the first of several. No minimum is lowered to 0.
std::optional<remedy> members_to_drop(const snapshot& where, const gang_spec& what,
                                      const options& bounds, workspace& memory);
/// The first required level without which the gang can be placed, from the innermost of each group
/// on; if none alone is enough, nothing.
std::optional<remedy> level_to_relax(const snapshot& where, const gang_spec& what,
                                     const options& bounds, workspace& memory);

/// At most one of each kind, nodes first; nodes like one of the four most frequent kinds that could
/// take a member, in the nearest domain where it has any. Empty if the gang can be placed, if its
/// members are too few, or if nothing of this helps.
std::vector<remedy> smallest_changes(const snapshot& where, const gang_spec& what,
                                     const options& bounds, workspace& memory);

/// "needs 64 in one rack, r7 has room for 56, for 16 more without the pods that are there".
std::string to_text(const near_miss& x);
/// "add 2 nodes like n7", "drop 3 of the 8 members that group a must have", "do not ask group a to
/// stay in one rack".
std::string to_text(const remedy& x, const gang_spec& what);

} // namespace tutti::placement::engine
