// What planning remembers between calls: decoded shapes, slot counts of unchanged blocks, domains.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/key_map.hpp"
#include "placement/engine/slots.hpp"

namespace tutti::placement::engine {

using slot_mask = std::bitset<block_nodes_max>;

/// Some nodes of the cluster: whole blocks, or the masked slots of each.
struct domain_view {
  std::string_view name; ///< label value; empty = the whole cluster
  std::span<const std::uint32_t> blocks;
  std::span<const slot_mask> masks; ///< one per block, or none = whole blocks

  bool has(std::size_t i, std::uint32_t slot) const { return masks.empty() || masks[i].test(slot); }
};

/// One shape that planning met, and how many slots each block has for it.
class shape_memory {
public:
  explicit shape_memory(const base::shape_ptr& kind) : view(kind) {}

  /// Slots of the block as `where` shows it; counted anew only if the block changed since.
  const slot_counts& slots(const snapshot& where, std::uint32_t block_number,
                           const std::vector<need>& needs, measure by);

  /// Becomes another shape and keeps the memory of this one.
  void reuse(const base::shape_ptr& kind);

  shape_view view;
  std::uint64_t last_used = 0;

private:
  struct known_block {
    std::uint64_t version = 0; // of block contents; 0 = never counted
    slot_counts counts;
  };
  std::array<std::vector<known_block>, 3> known_; // per measure, by block number
};

/// A cache, not a state: plans are the same with an empty one. It may serve any snapshots of one
/// capacity view, in any order; those of another view empty it. One thread at a time.
class workspace {
public:
  /// Call before anything else is asked of the snapshot: whoever made the view may have died, and
  /// the versions of its successor begin anew.
  void follow(const snapshot& where);

  /// Forgets domains that were asked for long ago, if they have become many. What `domains`
  /// returned before is not valid any more.
  void trim();

  /// Never null. The shape stays valid for whoever holds it, also when the cache drops it.
  std::shared_ptr<shape_memory> shape(const base::shape_ptr& kind);

  /// Domains of a label key, ascending by name; nodes without the key are in none. Of several keys
  /// joined by `key_joint` those with equal values of all, named by the values joined by "/". Valid
  /// until the next call with another snapshot, or of `trim`.
  std::vector<domain_view> domains(const snapshot& where, const std::string& key);

  std::shared_ptr<const place_map> places(const snapshot& where);
  /// Domains of a label key by node.
  std::shared_ptr<const key_map> key(const snapshot& where, const std::string& key);

  /// What is known of a member's ties.
  struct tied_memory {
    std::shared_ptr<const api::pod_ties> terms; ///< null: not readable
    base::ties_id asks;                         ///< equal if all but the labels is equal
    bool is_selected = false; ///< a required anti-affinity of a pod that is there means it
    std::uint64_t asking_version = ~std::uint64_t{0}; ///< of `is_selected`
    std::uint64_t spaces_version = 0;
  };
  /// Good until the next call.
  tied_memory& ties(const base::ties& kind);
  /// Of the pods that are there and ask something of others, one for each way to ask.
  const std::vector<tied_kind_ptr>& askers(const snapshot& where);

private:
  struct flat_domain {
    std::string name;
    std::vector<std::uint32_t> blocks;
    std::vector<slot_mask> masks;
  };
  struct flat_key {
    std::uint64_t layout_version = 0;
    std::vector<flat_domain> domains;
  };

  boost::unordered_flat_map<base::shape_id, std::shared_ptr<shape_memory>,
                            std::hash<base::shape_id>>
      shapes_;
  std::shared_ptr<shape_memory> fresh(const base::shape_ptr& kind);

  boost::unordered_flat_map<std::string, std::unique_ptr<flat_key>> flat_keys_;
  std::shared_ptr<const place_map> places_;
  boost::unordered_flat_map<std::string, std::shared_ptr<const key_map>> keys_;
  std::uint64_t keys_version_ = ~std::uint64_t{0}; // of the layout
  boost::unordered_flat_map<base::ties_id, tied_memory, std::hash<base::ties_id>> ties_;
  std::vector<tied_kind_ptr> askers_;
  std::uint64_t askers_version_ = ~std::uint64_t{0};
  std::uint64_t clock_ = 0;
  std::uint64_t view_life_ = 0;
};

/// Between keys that are looked at together; no key and no value has one.
inline constexpr char key_joint = '+';
/// The node's values of the keys in `key`, joined by "/"; nothing if it lacks one.
api::label_value joined_value(const snapshot& where, node_ref node, std::string_view key,
                              std::string& memory);

/// The whole cluster as one domain.
domain_view whole(const snapshot& where);
/// Position of `key` in the configured levels, or -1.
int level_of(const snapshot& where, std::string_view key);
/// The node's value of a label key, levels and host name included.
api::label_value value_of(const snapshot& where, node_ref node, std::string_view key);

} // namespace tutti::placement::engine
