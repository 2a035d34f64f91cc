// What is taken of each node, and promised of it by plans that are decided: sums that are kept up
// with every event, so that a look at one node does not ask all pods of the world.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/ids.hpp"
#include "base/resources.hpp"
#include "chaos/truth.hpp"
#include "protocol/decision.hpp"

namespace tutti::chaos {

/// A sum that is kept can go wrong without a sound. So the judge makes a second book from scratch
/// every now and then, and asks for the `difference` (invariant.hpp says when).
///
///     here      all pods on a node that are not finished
///     promised  seats of live plans on a node, whose pods are there and on no node yet: each pod
///               once, however many plans name it
class room_book {
public:
  /// As `truth::pod_change`: `before` is null for a new pod, `now` for one that is gone.
  void pod_changed(const pod_truth* before, const pod_truth* now);
  /// A live plan holds a seat.
  void hold(const base::slot_id& by, const protocol::seat& what);
  /// … and does not any more: the member was cancelled, or its plan is done, lost or over.
  void let_go(const base::slot_id& by, const base::pod_uid& pod);
  /// Every seat of this plan.
  void let_go(const base::slot_id& by);
  void clear_plans();

  base::resources here(const std::string& node_name) const;
  base::resources promised(const std::string& node_uid) const;
  /// Of `here`, what pods take that were on the node when they came, since `t` or at any time.
  base::resources brought(const std::string& node_name,
                          std::optional<base::time_point> since) const;
  /// The pods on a node that are not finished, by uid.
  const std::set<std::string>& pods_on(const std::string& node_name) const;

  /// The first sum in which the books differ, for people; empty if none does.
  std::string difference(const room_book& from_scratch) const;

private:
  struct pod_entry {
    std::string node; ///< name; empty = not bound
    base::resources takes;
    bool is_finished = false;
    bool came_bound = false;
    base::time_point bound_since{};
  };
  using seats =
      std::map<std::pair<base::slot_id, std::string>, base::resources>; ///< slot, node uid
  using sums = std::map<std::string, base::resources>;

  void promise(const std::string& pod, bool is_added);
  static void change(sums& of, const std::string& node, const base::resources& by, bool is_added);
  static std::string first_difference(const char* what, const sums& kept, const sums& made);

  std::map<std::string, pod_entry> pods_; ///< by uid
  std::map<std::string, seats> seats_;    ///< by pod uid
  std::map<base::slot_id, std::set<std::string>> plans_;
  std::map<std::string, std::set<std::string>> on_node_; ///< pod uids by node name
  sums here_;                                            ///< by node name; no entry = nothing
  sums promised_;                                        ///< by node uid
};

} // namespace tutti::chaos
