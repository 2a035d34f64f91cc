// Who runs and could be evicted, as the API server shows it: what preemptions are chosen from.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/disruption_budget.hpp"
#include "api/objects.hpp"
#include "api/selector.hpp"
#include "protocol/messages.hpp"

namespace tutti::bridge {

/// Nobody asks for victims while everybody fits, and then one question needs all of them at once:
/// so they are kept where pods, groups and budgets are seen anyway, and told when somebody asks. A
/// pod counts for what its group says: its priority is that of the group (P-8), and where the
/// group goes whole it is one of a unit (P-7). A group that is not there (any more) says nothing,
/// and the pod counts for itself.
///
/// Pods are named by the numbers that their owner gives them; where each runs is asked of the
/// owner. A part of the mirror, and of `tutti plan`: plain state.
class victim_book {
public:
  using number = std::uint32_t;

  struct options {
    api::label_selector exempt{}; ///< pods that the operator lets nobody evict
    /// Groups say their own priority; else that of the pod counts.
    bool has_group_priorities = true;
  };
  explicit victim_book(options how) : how_(std::move(how)) {}

  /// The pod takes room on a node; again if it has changed. `group_name` is in its
  /// namespace, empty for a lone pod.
  void put(number pod, const api::pod& p, const std::string& group_name);
  /// It takes none any more. An unknown one changes nothing.
  void remove(number pod);

  /// Whoever is above this may count on the pod's room: its priority, and the lowest there is if it
  /// is leaving anyway. 0 if it is not here.
  std::int32_t standing_of(number pod) const;

  /// Returns the pods whose priority may be another now.
  const std::vector<number>& put_group(const protocol::group_facts& g);
  const std::vector<number>& drop_group(const protocol::object_name& name);

  void put_budget(api::disruption_budget x);
  void drop_budget(const protocol::object_name& name);

  /// Where a pod runs, as its owner knows.
  struct place {
    base::pod_uid uid;
    base::node_uid node; ///< empty = its node is not known yet
    std::shared_ptr<const base::footprint> takes;
    base::ties_ptr ties; ///< its labels
  };
  using place_of = std::function<place(number)>;

  /// All that run below the asked priority, and those of any that are leaving, in pieces of some
  /// thousand pods: at least one. A unit is told whole or not at all.
  std::vector<protocol::offers> tell(const protocol::offers_wanted& asked,
                                     const place_of& where) const;

private:
  struct group {
    protocol::object_name name;
    std::string uid; ///< empty = the object is not there
    std::optional<std::int32_t> priority;
    bool goes_whole = false;
    std::vector<number> pods;
  };
  struct runner {
    protocol::object_name name;
    group* of = nullptr;
    std::int32_t priority = 0;
    std::int64_t started_ms = 0;
    std::int64_t grace_ms = 0;
    bool is_leaving = false;
  };
  /// What labels say of a pod.
  struct by_labels {
    bool is_exempt = false;
    std::vector<std::uint32_t> budgets;
  };
  class teller;

  void leave_group(number pod, runner& x);
  void count(number pod, const runner& x, int change);
  group& group_of(const protocol::object_name& name);
  static std::int32_t priority_of(const runner& x);
  by_labels read(const base::ties& x) const;

  options how_;
  std::vector<std::unique_ptr<runner>> pods_;     ///< by number; null = not here
  std::map<protocol::object_name, group> groups_; ///< entries do not move
  std::map<protocol::object_name, api::disruption_budget> budgets_;
  /// A gang that asks in vain, on a cluster where nobody is below it, must cost next to nothing.
  std::map<std::int32_t, std::size_t> by_priority_; ///< how many run that are not leaving
  std::set<number> leaving_;
};

} // namespace tutti::bridge
