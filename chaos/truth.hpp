// What is really there, as the API server's own store has it: the judge's memory, kept apart from
// everything that the scheduler believes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/ties.hpp"
#include "base/limits.hpp"
#include "base/resources.hpp"
#include "base/time.hpp"
#include "sim/api_server/control_plane.hpp"

namespace tutti::chaos {

struct pod_truth {
  std::string uid;
  std::string name;  ///< "namespace/name"
  std::string group; ///< "namespace/name"; empty = none
  std::string node;  ///< name; empty = not bound
  std::string touch; ///< the mark of the last touch
  base::footprint takes;
  std::shared_ptr<const api::pod_ties> ties; ///< never null
  std::int32_t priority = 0;
  bool is_ours = false; ///< names the scheduler under test
  bool is_gated = false;
  bool is_finished = false;
  bool is_deleting = false;
  bool came_bound = false; ///< was on a node when it was made
  base::time_point bound_since{};

  bool is_live() const { return !is_finished && !is_deleting; }
};

struct node_truth {
  std::string uid;
  std::string name;
  base::resources allocatable;
  bool is_open = true; ///< schedulable
  std::map<std::string, std::string> labels;
  bool has_moved = false;   ///< its labels are not what a node of this name has come with
  base::time_point since{}; ///< of its uid
};

struct group_truth {
  std::string uid;
  std::string name; ///< "namespace/name"
  std::uint32_t min_count = 1;
  std::string topology_key;
  std::int32_t priority = 0;
  bool is_deleting = false;
  bool has_condition = false; ///< its condition is True
  bool is_degraded = false;   ///< its condition tutti.dev/Degraded is True
  base::time_point since{};   ///< of its uid: pods may have been bound for one of its name before
};

/// A view may lag behind the truth so long: then it is stale, and nobody votes or binds by it.
inline constexpr base::duration view_lag =
    base::limits::view_stale_after + std::chrono::seconds{10};

/// Follows the store's history; nothing is missed, and nothing is asked of the scheduler.
class truth {
public:
  /// What changed, in order: `before` is null for a new pod, `now` for one that is gone.
  using pod_change = std::function<void(const pod_truth* before, const pod_truth* now)>;

  explicit truth(std::string scheduler) : scheduler_(std::move(scheduler)) {}

  /// Takes up everything that happened since the last call.
  void follow(const sim::api_server::control_plane& plane, base::time_point now,
              const pod_change& tell);

  const std::map<std::string, pod_truth>& pods() const { return pods_; }       ///< by uid
  const std::map<std::string, node_truth>& nodes() const { return nodes_; }    ///< by name
  const std::map<std::string, group_truth>& groups() const { return groups_; } ///< by name
  std::vector<const pod_truth*> members(const std::string& group) const;
  /// The group, or the lone pod, that has this uid is there.
  bool has_root(const std::string& gang) const;

  /// What the pods on a node take together; finished ones take nothing.
  base::resources used(const std::string& node) const;
  base::resources free(const std::string& node) const;
  /// The most that the node has offered in the time that a view may lag behind.
  base::resources offered_lately(const std::string& node, base::time_point now) const;
  /// The most that any node of this name has ever offered.
  base::resources offered_ever(const std::string& node) const;

private:
  void take_pod(const sim::api_server::event& e, base::time_point now, const pod_change& tell);
  void take_node(const sim::api_server::event& e, base::time_point now);
  void take_group(const sim::api_server::event& e, base::time_point now);

  const std::string scheduler_;
  std::size_t pods_seen_ = 0;
  std::size_t nodes_seen_ = 0;
  std::size_t groups_seen_ = 0;
  std::map<std::string, pod_truth> pods_;
  std::map<std::string, node_truth> nodes_;
  std::map<std::string, std::map<std::string, std::string>> first_labels_; ///< by node, ever
  std::map<std::string, group_truth> groups_;
  /// Until when a node offered what: appended when that ends.
  std::map<std::string, std::vector<std::pair<base::time_point, base::resources>>> past_offers_;
};

} // namespace tutti::chaos
