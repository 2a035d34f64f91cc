// The snapshot that is being kept up to date: nodes come, go and change, and room is marked.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.hpp"
#include "base/resources.hpp"
#include "placement/engine/snapshot.hpp"
#include "placement/engine/tied_book.hpp"

namespace tutti::placement::engine {

/// A node as its shard reports it.
struct node_state {
  node_info_ptr info;
  base::node_class_ptr kind;
  base::resources allocatable;
  base::resources free;
  base::port_list ports;
  std::vector<base::tied_pods> pods = {}; ///< bound and promised; ascending by ties id
};

/// Room that one attempt was offered on one node.
struct marked_seat {
  base::node_uid node;
  base::footprint takes;
  base::ties_ptr ties = nullptr; ///< null: no term selects the pod
};

/// Between the proposal of a placement and the shard's word that it holds the room, the room looks
/// free: two gangs would be offered the same seats and one of them would be refused. The view
/// therefore subtracts *marks*: what is offered to an attempt is taken until the attempt's shard
/// has settled it. Marks follow the node, not the slot, and survive every new report of the node.
///
/// Not thread-safe; `now()` may be copied and read elsewhere while the view goes on changing.
class capacity_view {
public:
  explicit capacity_view(std::vector<std::string> levels);

  /// The state of this moment. The reference is good until the next change; copy to keep it.
  const snapshot& now() {
    if (index_is_stale_)
      rebuild_index();
    return state_;
  }

  /// Adds the node, or replaces what was known of it. Returns true if a pod that did not fit
  /// before may fit now: the node is new, grew, freed room or a port, lost a taint, or other pods
  /// are there than before.
  bool upsert(const node_state& x);
  /// As `upsert` for a node whose facts did not change. An unknown node changes nothing.
  bool set_free(const base::node_uid& node, const base::resources& free,
                const base::port_list& ports, const std::vector<base::tied_pods>& pods);
  /// Forgets the node and the marks on it. An unknown one changes nothing.
  void remove(const base::node_uid& node);

  /// Labels of a namespace, by which terms may mean it; nothing = it is gone.
  void set_space(const std::string& space, const std::optional<api::string_map>& labels);

  /// Null if there is no such node.
  std::optional<node_ref> find(const base::node_uid& node) const;
  std::optional<node_ref> find(const base::node_name& node) const;

  /// Takes room for an attempt, in addition to what it has. Seats on unknown nodes are left out.
  void mark(const base::attempt_id& attempt, const std::vector<marked_seat>& seats);
  /// Gives back what the attempt was offered, on the nodes for which `here` holds. Returns how
  /// many nodes have room again.
  std::size_t unmark(const base::attempt_id& attempt,
                     const std::function<bool(const node_info&)>& here);
  std::size_t unmark(const base::attempt_id& attempt);
  bool has_marks(const base::attempt_id& attempt) const { return marks_.contains(attempt); }
  /// Nodes on which the attempt has marks, ascending; some may be gone since.
  std::vector<base::node_uid> marked_nodes(const base::attempt_id& attempt) const;
  std::size_t marked_attempts() const { return marks_.size(); }

private:
  struct held_mark {
    base::attempt_id attempt;
    base::footprint takes;
    base::ties_ptr ties;
  };
  struct record {
    node_ref at;
    base::resources free; // as reported, marks not subtracted
    base::port_list ports;
    std::vector<held_mark> marks;
    std::shared_ptr<const tied_rows> pods;     // as reported, marks not added; null = none
    std::shared_ptr<const tied_rows> combined; // with marks, while a mark has ties
  };

  block& writable(std::uint32_t number);
  std::vector<class_entry>& writable_classes();
  std::uint32_t class_number(const base::node_class_ptr& kind);
  void drop_class(std::uint32_t number);
  std::uint32_t block_with_room(const topology_path& path);
  void rebuild_index();
  amounts flat(const base::resources& x);
  topology_path path_of(const node_info& info, std::uint32_t kind) const;
  node_ref insert(const node_info_ptr& info, std::uint32_t kind);
  void vacate(node_ref at);
  void write_allocatable(node_ref at, const base::resources& x);
  void write_free(const record& x);
  void write_tied(record& x);
  void show_tied(node_ref at, const std::shared_ptr<const tied_rows>& rows);
  void follow_book();
  bool replace_pods(record& x, const std::vector<base::tied_pods>& pods);
  bool replace_facts(record& known, const node_state& x);

  snapshot state_;
  boost::unordered_flat_map<base::node_uid, record, std::hash<base::node_uid>> nodes_;
  boost::unordered_flat_map<base::node_name, base::node_uid, std::hash<base::node_name>> names_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> class_numbers_;
  std::map<topology_path, std::vector<std::uint32_t>> blocks_by_path_;
  std::map<base::attempt_id, std::vector<base::node_uid>> marks_;
  tied_book tied_;
  std::uint64_t last_block_version_ = 0;
  bool index_is_stale_ = true; // a block was added: thousands come at once when a cluster is read
};

} // namespace tutti::placement::engine
