// Facts of pods and groups as they come, in any order, and the gangs that they add up to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/uid.hpp"
#include "protocol/facts.hpp"
#include "protocol/messages.hpp"
#include "queue/gang_state.hpp"
#include "queue/options.hpp"

namespace tutti::queue {

struct gang_entry;

/// What is kept of one pod. There may be a hundred thousand of them: shapes are shared, a bound pod
/// forgets its resourceVersion, a member does not repeat its namespace.
struct pod_entry {
  base::packed_uid uid;
  std::unique_ptr<const std::string> space; ///< of a lone pod; null = a member: it is its group's
  std::string name;
  gang_entry* gang = nullptr;      ///< never null once registered
  std::unique_ptr<gang_entry> own; ///< the gang of one that a lone pod is
  protocol::shape_ptr kind;
  protocol::ties_ptr ties;
  std::string place; ///< of a pod that has a node, its name; else the pod's resourceVersion
  std::int64_t created_ms = 0;
  std::uint64_t told = 0; ///< hash of the condition last asked for; 0 = none
  /// Why it cannot be scheduled at all; null = it can. Of a member that is not ours, the name of
  /// its scheduler.
  std::unique_ptr<const std::string> refused;
  std::int32_t priority = 0;
  std::int16_t scheduler = -1; ///< index into options::schedulers; -1 = not ours
  bool has_node : 1 = false;
  bool never_preempts : 1 = false;
  bool is_gated : 1 = false;
  bool is_terminal : 1 = false;
  bool is_deleting : 1 = false;
  bool is_owed : 1 = false;   ///< bound, as its attempt has said, and not shown so by the watch yet
  bool is_retold : 1 = false; ///< since the mirror last began to tell everything anew
  /// Joined, with scheduling gates, a gang that waited for room: the others wait for it.
  bool holds_back : 1 = false;

  bool is_live() const { return !is_terminal && !is_deleting; }
  bool is_bound() const { return is_live() && has_node; }
  bool is_pending() const { return is_live() && !is_gated && !has_node; }
  bool is_holding_back() const { return holds_back && is_live() && is_gated; }
  std::string node() const { return has_node ? place : std::string{}; }
  std::string resource_version() const { return has_node ? std::string{} : place; }
};

/// A PodGroup's name, and the object once it has been seen. Pods may come first.
struct group_part {
  protocol::object_name name;
  std::optional<protocol::group_facts> facts;
  bool is_retold = false;            ///< as of a pod
  bool is_start_said = false;        ///< as far as this life knows; the object itself is truth
  std::optional<bool> degraded_said; ///< the same of its other condition; null = nothing
};

/// One gang: a group with its members, or a lone pod. What it needs while it is not at rest stands
/// in `life`; a fully bound gang keeps none.
struct gang_entry {
  std::unique_ptr<group_part> group;                     ///< null = lone pod
  boost::container::small_vector<pod_entry*, 1> members; ///< by (created, name)
  std::unique_ptr<gang_life> life;                       ///< null = at rest
  /// The place among all pods, in the order in which they were heard of, of the one that ended its
  /// time without members; 0 = it has none. Objects say only in which second they were created.
  std::uint64_t came = 0;
  std::uint32_t attempts = 0; ///< ever made
  bool has_run = false;       ///< its minimum was bound once, as far as this life knows
  bool is_degraded = false;   ///< started, and below its minimum for longer than repair may take

  bool is_lone_pod() const { return !group; }
  /// Empty for a group that has not been seen.
  base::gang_uid uid() const;
  const std::string& space() const;
  const std::string& short_name() const;
  protocol::object_name name() const { return {space(), short_name()}; }
  std::int32_t priority() const;
  std::int64_t created_ms() const;
  std::uint32_t min_count() const;
  /// Members that are bound and not shown so yet.
  std::uint32_t owed() const;
};

/// Members by what they are to the quorum.
struct tally {
  std::uint32_t pending = 0;
  std::uint32_t bound = 0;
  std::uint32_t gated = 0;
  std::uint32_t finished = 0;
  std::uint32_t ours = 0; ///< name one of our schedulers, whatever their state

  std::uint32_t live() const { return pending + bound + gated; }
};
tally count(const gang_entry& g);

/// The gang of this moment as an attempt sees it: gated, finished and terminating members are left
/// out. Pending ones come first, in the order in which they are to be tried: by priority,
/// then equal shapes beside each other by their oldest member, then by age and name.
protocol::gang assemble(const gang_entry& g);

/// "w-2" before "w-10": pods of one second are tried in the order of their ranks.
bool rank_less(std::string_view a, std::string_view b);

/// Owns all pods and gangs. A gang of a group lives as long as its object or a member does; a lone
/// pod's as long as the pod. Not thread-safe.
class registry {
public:
  explicit registry(const options& how) : how_(how) {}
  registry(registry&&) = delete;

  pod_entry* find_pod(const base::pod_uid& uid);
  gang_entry* find_gang(const base::gang_uid& uid);
  gang_entry* find_group(const protocol::object_name& name);
  /// The group of this name, else the lone pod of this name, else null. Linear in the lone pods.
  const gang_entry* find_named(const protocol::object_name& name) const;

  /// What a pod's news means for the gang it belongs to.
  struct pod_news {
    gang_entry* gang = nullptr;
    bool may_help = false; ///< a new pending member, one less, or other requirements
  };
  /// Adds or updates a pod. The caller has removed it before if it changes its group.
  pod_news put(const protocol::pod_facts& x);
  /// Forgets a pod that is there. A lone pod's gang dies with it; an unseen group's with its last
  /// member: `gang` is null then.
  pod_news drop(pod_entry& pod);

  /// Adds or updates a group. A known group of another uid has been dropped before.
  gang_entry& put(const protocol::group_facts& x);
  /// The object is gone; its pods wait for another. Null if nothing is left of it.
  gang_entry* drop_group(gang_entry& g);

  /// From here on everything is told anew.
  void expect_everything();
  /// Groups and pods that have not been told since, ascending.
  struct untold {
    std::vector<protocol::group_gone> groups;
    std::vector<base::pod_uid> pods;
  };
  untold not_retold() const;

  /// All gangs, ascending by name, groups first.
  std::vector<gang_entry*> all() const;
  std::size_t pod_count() const { return pods_.size(); }

private:
  gang_entry& group_named(const protocol::object_name& name);
  void fill(pod_entry& pod, const protocol::pod_facts& x) const;
  void follow_members(gang_entry& g) const;
  void forget_if_empty(gang_entry*& g);

  const options& how_;
  std::uint64_t heard_of_ = 0; ///< pods, ever
  using pod_ptr = std::unique_ptr<pod_entry>;
  struct by_uid {
    using is_transparent = void;
    static const base::packed_uid& of(const base::packed_uid& x) { return x; }
    static const base::packed_uid& of(const pod_ptr& x) { return x->uid; }
    std::size_t operator()(const auto& x) const { return of(x).hash(); }
    bool operator()(const auto& x, const auto& y) const { return of(x) == of(y); }
  };
  struct by_name {
    using is_transparent = void;
    static const protocol::object_name& of(const protocol::object_name& x) { return x; }
    static const protocol::object_name& of(const std::unique_ptr<gang_entry>& x) {
      return x->group->name;
    }
    bool operator()(const auto& x, const auto& y) const { return of(x) < of(y); }
  };
  boost::unordered_flat_set<pod_ptr, by_uid, by_uid> pods_; // lookups only
  std::set<std::unique_ptr<gang_entry>, by_name> groups_;
  boost::unordered_flat_map<base::packed_uid, gang_entry*, base::packed_uid_hash>
      by_uid_; // lookups only
};

} // namespace tutti::queue
