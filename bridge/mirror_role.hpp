// Mirrors the API server's nodes, pods and groups into facts for shards and queue.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "api/dialect.hpp"
#include "base/uid.hpp"
#include "bridge/facts.hpp"
#include "bridge/node_homes.hpp"
#include "bridge/reflector.hpp"
#include "bridge/victim_book.hpp"
#include "bridge/workload_groups.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// Objects come in three watches whose order among each other means nothing: a pod may be seen on a
/// node that is not there yet, a node may come back under the same name with another uid, its rack
/// label may move it to another shard, and a pod of any scheduler takes room until it is really
/// gone. The mirror keeps just enough to tell each shard a story that fits together:
///
///   * a shard hears of a node before it hears of the pods on it; pods wait for their node;
///   * a node whose label names another shard stays where it is, as `node_leaves`, until that shard
///     says `node_idle`; then it is gone there and seen, with its pods, by the other
///     (node_homes.hpp);
///   * a terminal pod has left its node, a terminating one has not;
///   * whatever a pod's terms need guards for, a shard hears of before it hears of the pod;
///   * the queue hears of pods that name one of our schedulers or belong to a group;
///   * where the server has no PodGroups (v1alpha1), Workloads are watched instead, and the groups
///     that pods name in them are told as if they were objects (workload_groups.hpp).
///
/// The first list also shows what earlier owners wrote: the highest fence per coordinator partition
/// is told to it (`fence_found`) before the queue hears that everything is there, and again to a
/// partition that begins anew later: a fence that appears after the first list is a later owner's.
///
/// `view_trust` tells shards and queue when nodes and pods are complete and fresh (S12). At its
/// start, and when a shard (or the queue) that began anew asks with `view_wanted`, everything is
/// told again; the queue takes what it was not told by `facts_synced` for gone.
///
/// Who could be evicted is kept beside (victim_book.hpp) and told to whoever asks
/// (`offers_wanted`). Budgets have a watch of their own, and nothing waits for it: they are
/// preferences.
///
/// With several replicas only the shards that are here are told anything: those that have asked.
/// One that was another's asks for what was listed after its question (2.7): all that ask within a
/// moment share one list of nodes and pods, and hear everything when it is complete. A shard that
/// has ended here (`child_died`) is waited for no longer.
class mirror_role final : public protocol::role {
public:
  struct options {
    std::uint32_t shards = 1;
    std::vector<std::string> levels; ///< label keys, outermost first; the last decides the shard
    std::vector<std::string> scheduler_names{"tutti"};
    api::dialect spoken = api::dialect::v1beta1;
    bool streams_lists = true;         ///< try streaming lists first
    bool has_others = false;           ///< shards may be another replica's
    bool watches_budgets = false;      ///< PodDisruptionBudgets; else there are none
    api::label_selector exempt_pods{}; ///< never offered to be evicted
  };

  explicit mirror_role(options o);

  protocol::effects on(const protocol::event& e, base::time_point now) override;

  /// Synced, and every watch fresh: the view can be trusted.
  bool is_fresh() const;
  /// For tests and reports.
  std::size_t pods_kept() const { return pods_.size() - free_slots_.size(); }

private:
  enum channel : std::uint8_t {
    nodes_channel = 1,
    pods_channel = 2,
    groups_channel = 3,
    budgets_channel = 4
  };

  struct node_entry {
    std::string name;
    protocol::node_facts_ptr facts;      // null: pods wait here for their node
    std::optional<base::shard_id> shard; // that was told of it; none before all have said what
                                         // they hold
    std::uint64_t move = 0;              // as told with `node_leaves`; 0 = it is at home
    std::vector<std::uint32_t> pods;     // slots
  };
  /// What is kept of a pod that takes room or that the queue knows.
  struct pod_slot {
    base::packed_uid uid;
    footprint_ptr takes;
    base::ties_ptr ties;                         // of a pod that takes room
    node_entry* node = nullptr;                  // null: takes no room
    bool is_told = false;                        // to the queue
    bool is_finished = false;                    // will not take room any more
    std::int32_t priority = 0;                   // as told to the shard
    std::unique_ptr<workload_groups::use> group; // v1alpha1: as counted in workloads_
  };

  void on_node(const change& c, protocol::effects& out);
  void on_pod(const change& c, protocol::effects& out);
  void on_group(const change& c, protocol::effects& out);
  void on_workload(const change& c, protocol::effects& out);
  void on_budget(const change& c, protocol::effects& out);
  void tell_priorities(const std::vector<std::uint32_t>& pods, protocol::effects& out);
  void tell_pod(const pod_slot& s, protocol::effects& out) const;
  void node_is(const protocol::node_facts_ptr& facts, protocol::effects& out);
  void node_is_gone(node_entry& n, protocol::effects& out);
  void put_node(node_entry& n, protocol::effects& out);
  void put_nodes(protocol::effects& out);
  void tell_node(node_entry& n, protocol::effects& out);
  void tell_pods(const node_entry& n, protocol::effects& out) const;

  struct pod_place {
    node_entry* node = nullptr;
    footprint_ptr takes;
    base::ties_ptr ties;
  };
  void place(std::uint32_t slot, pod_place where, protocol::effects& out);
  void note_guards(const base::ties& x, protocol::effects& out);
  void tell_queue(pod_slot& s, const api::pod& p, protocol::effects& out);
  void leave_group(pod_slot& s, protocol::effects& out);
  void pod_is_gone(std::uint64_t tag, protocol::effects& out);
  std::uint32_t slot_of(std::uint64_t& tag, const std::string& uid);
  void free_slot(std::uint32_t slot, std::uint64_t& tag);
  node_entry& entry_of(const std::string& name);
  void drop_if_empty(node_entry& n);
  bool is_ours(const api::pod& p) const;

  void hear(const protocol::received& e, protocol::effects& out);
  void hear(const protocol::nodes_held& x, protocol::effects& out);
  void hear(const protocol::pods_awaited& x, protocol::effects& out) const;
  void hear(base::shard_id from, const protocol::node_idle& x, protocol::effects& out);
  void hear(const protocol::address& from, const protocol::offers_wanted& x,
            protocol::effects& out) const;
  void tell_shard_again(base::shard_id shard, protocol::effects& out);
  void serve(base::shard_id shard, bool after_a_list, protocol::effects& out);
  void shard_has_ended(base::shard_id shard, protocol::effects& out);
  void list_for_shards(protocol::effects& out);
  bool waits_for_list(base::shard_id shard) const;
  /// Nothing goes to a shard that is another replica's.
  template <class M>
  void tell_shard(base::shard_id shard, M what, protocol::effects& out) const {
    if (!options_.has_others || served_.contains(shard))
      out.tell(protocol::to_shard(shard), std::move(what));
  }
  void tell_queue_again(protocol::effects& out);
  void after_event(protocol::effects& out);
  void note_fence(const api::pod& p);
  void tell_fences(protocol::effects& out);
  void tell_fence(base::partition_id whom, protocol::effects& out) const;
  void tell_trust(bool fresh, bool is_anew, protocol::effects& out) const;
  std::string describe() const;
  void complain(const change& c, const base::error& why, protocol::effects& out) const;

  options options_;
  fact_maker facts_;
  reflector nodes_;
  reflector pods_seen_;
  reflector groups_;
  reflector budgets_;
  victim_book victims_;                       // by slot
  std::map<std::string, node_entry> by_name_; // entries do not move
  node_homes homes_;
  std::set<base::shard_id> served_;              // several replicas: those that are here
  std::set<base::shard_id> list_wanted_;         // they wait for a list that has not been asked for
  std::set<base::shard_id> list_asked_;          // they wait for the list that runs
  bool list_runs_ = false;                       // for some who may have begun anew meanwhile
  std::map<std::uint64_t, node_entry*> leaving_; // by move
  std::uint64_t last_move_ = 0;
  std::vector<pod_slot> pods_;
  std::vector<std::uint32_t> free_slots_;
  boost::unordered_flat_map<std::uint64_t, base::packed_uid> group_uids_; // by tag
  workload_groups workloads_;                                             // v1alpha1 only
  std::uint64_t last_group_tag_ = 0;
  std::map<base::partition_id, base::epoch_no> fences_; // highest seen in the first list
  bool has_told_fences_ = false;
  std::set<protocol::guard_id> guards_;           // of all terms seen
  boost::unordered_flat_set<std::uint64_t> read_; // ties whose guards are among them, by id
  bool has_told_queue_ = false;                   // anything, in this life
  bool was_fresh_ = false;
  bool was_synced_ = false;
  bool is_started_ = false;
  base::time_point now_{};
};

} // namespace tutti::bridge
