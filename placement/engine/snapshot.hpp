// What is free where, as columns: the one thing that a placement is computed from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "api/terms.hpp"
#include "api/ties.hpp"
#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "base/resources.hpp"

namespace tutti::placement::engine {

/// Planning looks at every node of the cluster, thousands of times a minute. Objects per node would
/// be chased through memory; so one resource of many nodes is one column, and a request is compared
/// with a column in a straight loop. Two more things are asked of the layout: a planner on another
/// thread must see a state that does not move, and taking that state must cost next to nothing. So
/// the columns are cut into *blocks* of nodes that share their whole topology path, at most
/// `block_nodes_max` each. A snapshot is a list of shared blocks; whoever writes copies the one
/// block it writes, and only if somebody else still holds it.
inline constexpr std::size_t block_nodes_max = 256;

/// Resources by number: four that every node has, then extended ones in the order of appearance.
using dimension = std::uint32_t;
inline constexpr dimension cpu_dimension = 0;
inline constexpr dimension memory_dimension = 1;
inline constexpr dimension ephemeral_dimension = 2;
inline constexpr dimension pods_dimension = 3;
inline constexpr dimension first_extended = 4;

/// Where a node sits. Stable for the life of the node, unless its topology path changes.
struct node_ref {
  std::uint32_t block = 0;
  std::uint32_t slot = 0;

  friend auto operator<=>(const node_ref&, const node_ref&) = default;
};

/// Value per topology level, outermost first; nothing where a node does not have the label. An
/// empty value is a value: such nodes are a domain of their own.
using topology_path = std::vector<std::optional<std::string>>;

/// What is known of a node besides numbers. Immutable, shared.
struct node_info {
  base::node_uid uid;
  base::node_name name;
  std::string host_name;
  /// Value per topology level, outermost first. "" = none, or an empty value: the labels of the
  /// node's class tell which.
  std::vector<std::string> domains;
  std::uint64_t facts_hash = 0; ///< opaque here: what a plan quotes

  friend bool operator==(const node_info&, const node_info&) = default;
};
using node_info_ptr = std::shared_ptr<const node_info>;

/// One node class and what it says, decoded once.
struct class_entry {
  base::class_id id;
  std::shared_ptr<const api::class_terms> terms; ///< null: the blob is not readable
  std::uint32_t nodes = 0; ///< how many are of it; 0 = the entry may be reused
};
/// Entry 0 of every class table: the class of an empty slot, of which nothing fits.
inline constexpr std::uint32_t no_class = 0;
/// `block::only_class` of a block whose nodes are of several classes.
inline constexpr std::uint32_t many_classes = ~std::uint32_t{0};

/// Pods of equal ties, decoded once. Shared by all nodes that have some.
struct tied_kind {
  base::ties_id id;
  std::uint32_t number = 0; ///< below the number of kinds there are; that of a kind gone is reused
  bool has_terms = false;
  base::ties_id asks;                         ///< equal if all but the labels is equal
  std::shared_ptr<const api::pod_ties> terms; ///< null: the blob is not readable
};
using tied_kind_ptr = std::shared_ptr<const tied_kind>;
/// How many pods of a kind a node has, marked seats included.
struct tied_row {
  tied_kind_ptr kind;
  std::uint32_t count = 0;
};
using tied_rows = std::vector<tied_row>; ///< ascending by id

/// Labels of the namespaces that are known.
using space_table = std::map<std::string, api::string_map, std::less<>>;

using column = std::vector<std::int64_t>;
using amounts = boost::container::small_vector<std::int64_t, 8>;

/// Nodes with one topology path. An empty slot has no node, class 0 and zeros in every column.
/// A column may be missing at the end: then no node of the block has that resource.
struct block {
  topology_path path;
  std::vector<node_info_ptr> nodes;   ///< by slot; null = empty
  std::vector<std::uint32_t> classes; ///< by slot: index into `snapshot::classes`
  std::vector<column> free;           ///< [dimension][slot], marks already subtracted
  std::vector<column> allocatable;    ///< [dimension][slot]
  std::vector<base::port_list> ports; ///< by slot: taken ones
  /// By slot; null = no pod with ties there, and empty where no node of the block has one.
  std::vector<std::shared_ptr<const tied_rows>> tied;
  std::vector<std::uint16_t> by_name;   ///< live slots in the order of node names
  std::vector<std::int64_t> most_free;  ///< by dimension: the largest amount in the column
  std::vector<std::int64_t> least_free; ///< … and the smallest, live nodes only
  std::vector<std::int64_t> most_allocatable;
  std::vector<std::int64_t> least_allocatable;
  std::uint32_t only_class = no_class; ///< of all live nodes, or `many_classes`
  std::uint64_t version = 0;           ///< equal versions are equal content, in one process
  std::uint64_t layout_version = 0;    ///< as `version`, but for all except free, ports and tied
  std::uint64_t tied_version = 0;      ///< … and for `tied` alone; 0 = never had any

  std::size_t size() const { return nodes.size(); }
};
using block_ptr = std::shared_ptr<const block>;

/// Blocks of one topology domain.
struct domain_blocks {
  std::string name;
  std::vector<std::uint32_t> blocks; ///< in the order of paths

  friend bool operator==(const domain_blocks&, const domain_blocks&) = default;
};

/// Which blocks form which domain. Changes only when a block is added.
struct block_index {
  std::vector<std::uint32_t> in_order;             ///< all blocks by path, then by number
  std::vector<std::vector<domain_blocks>> domains; ///< per level, ascending by name
};

/// A state of the cluster. Copies are cheap (two pointers a block) and independent: copying and
/// reading on several threads needs no lock.
struct snapshot {
  std::vector<std::string> levels; ///< label keys, outermost first
  std::vector<block_ptr> blocks;
  std::shared_ptr<const block_index> index;
  std::shared_ptr<const std::vector<class_entry>> classes;
  std::vector<base::symbol> extended; ///< names of the dimensions from `first_extended` on
  std::int64_t nodes = 0;             ///< live ones
  std::uint64_t view_life = 0;      ///< of the view that it is of: versions of others mean nothing
  std::uint64_t version = 0;        ///< grows with every change
  std::uint64_t layout_version = 0; ///< grows when nodes come, go, or change class or path
  std::uint32_t soft_classes = 0;   ///< classes in use that have a PreferNoSchedule taint
  /// Kinds of pods that ask something of others, ascending by id. Null = none.
  std::shared_ptr<const std::vector<tied_kind_ptr>> asking;
  std::uint64_t asking_version = 0;          ///< grows with every change of `asking`
  std::shared_ptr<const space_table> spaces; ///< null = none is known
  std::uint64_t spaces_version = 0;          ///< grows with every change of `spaces`

  const block& at(node_ref x) const { return *blocks[x.block]; }
  const node_info& node(node_ref x) const { return *blocks[x.block]->nodes[x.slot]; }
  /// Null if there is no pod with ties on the node.
  const tied_rows* tied(node_ref x) const {
    const auto& all = blocks[x.block]->tied;
    return all.empty() ? nullptr : all[x.slot].get();
  }
  /// Null if nothing is known of the namespace.
  const api::string_map* labels_of_space(std::string_view space) const;
  std::size_t dimensions() const { return first_extended + extended.size(); }
};

/// Number of a resource, or `snapshot::dimensions()` if no node has it.
dimension dimension_of(const snapshot& where, base::symbol extended_name);
/// "cpu", "memory", "ephemeral-storage", "pods" or the extended name.
std::string_view name_of(const snapshot& where, dimension x);

/// One row of the columns as resources: what is free on a node, or what it offers.
base::resources free_of(const snapshot& where, node_ref x);
base::resources allocatable_of(const snapshot& where, node_ref x);

} // namespace tutti::placement::engine
