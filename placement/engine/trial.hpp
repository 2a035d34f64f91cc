// A placement being tried: seats taken on top of a snapshot that stays as it is, and given back.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "placement/engine/policy.hpp"
#include "placement/engine/tied_problem.hpp"
#include "placement/engine/workspace.hpp"

namespace tutti::placement::engine {

/// A shape in use by one call of `plan`.
struct shape_use {
  std::shared_ptr<shape_memory> memory;
  std::vector<need> needs;
  double weight = 0; ///< largest share of what the best node offers: how bulky a pod is
  std::shared_ptr<const node_caps> caps; ///< null: ties leave every node as it is
};

/// In which order nodes are filled. Tight leaves large nodes whole; roomy is the second thought
/// where tight does not come out even; by policy, member by member, the best seat by its score.
enum class node_order : std::uint8_t { tightest, roomiest, by_policy };

/// The policy of one call of `plan`, and what it is told.
struct policy_use {
  const policy* rule = nullptr; ///< not null
  std::vector<usual_pod> usual;
  std::vector<dimension> gpus; ///< which resources are GPUs
};

/// `count` pods of one lot on one node.
struct run {
  std::uint32_t lot = 0;
  std::uint32_t shape = 0;
  node_ref node;
  std::uint32_t count = 0;

  friend bool operator==(const run&, const run&) = default;
};

/// Members already placed count for the next member: the trial copies the columns of each block it
/// writes to, and counts slots there from its copy. Everything else comes from the snapshot's
/// cache.
class trial {
public:
  /// `rule`: null if no policy was asked for; else it must outlive the trial.
  trial(const snapshot& where, measure by, const std::vector<shape_use>& shapes,
        const policy_use* rule = nullptr)
      : where_(where), by_(by), shapes_(shapes), rule_(rule),
        overlay_of_(where.blocks.size(), none) {}

  bool has_policy() const { return rule_ != nullptr; }
  /// The order to begin with.
  node_order first_order() const { return rule_ ? node_order::by_policy : node_order::tightest; }

  const snapshot& where() const { return where_; }
  measure by() const { return by_; }
  const shape_use& shape(std::uint32_t i) const { return shapes_[i]; }

  /// How many more pods of the shape fit on each node of the block, with what was taken here. The
  /// reference is good until the next `take` or `undo`.
  const slot_counts& slots(std::uint32_t shape, std::uint32_t block_number);
  std::uint64_t slots_in(std::uint32_t shape, const domain_view& domain);
  std::uint32_t slots_on(std::uint32_t shape, node_ref node);

  /// Takes room for `x`, which must fit: `x.count` at most the node's slots.
  void take(const run& x);
  /// Takes up to `want` slots in the domain, in the given order, ties by preference, then topology
  /// path, then name. Returns how many it took: all that there are, or `want`.
  std::uint64_t fill(std::uint32_t lot, std::uint32_t shape, std::uint64_t want,
                     const domain_view& domain, node_order order);

  /// All that was taken, in order.
  const std::vector<run>& taken() const { return taken_; }
  /// Gives back everything after the first `keep` runs.
  void undo(std::size_t keep);

  /// Amount of a resource now, trial included.
  std::int64_t amount(dimension what, node_ref node);
  /// What preferred terms among pods say of the node.
  std::int32_t taste_of(std::uint32_t shape, node_ref node) const;
  /// Ports that the trial itself took there.
  base::port_list ports_taken(node_ref node);

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct counted {
    std::uint64_t version = 0;
    slot_counts counts;
  };
  struct overlay {
    std::vector<std::vector<std::uint32_t>> used; // by shape and slot; where it has caps
    std::vector<column> values;
    std::vector<std::int64_t> most;  // not lowered by what is taken: a bound
    std::vector<std::int64_t> least; // not raised by what is given back: a bound
    std::vector<std::pair<std::uint32_t, base::host_port>> ports;
    std::uint64_t version = 1;
    std::vector<counted> by_shape;
  };
  struct choice {
    std::int32_t preference;
    node_ref node;
    std::uint32_t slots;
  };
  struct cut {
    std::uint32_t bucket;
    std::uint64_t before_bucket; // slots of the nodes that are filled whole
    std::uint64_t from_bucket;   // slots that this bucket still gives
    node_order order;
  };
  const slot_counts& capped(std::uint32_t shape, std::uint32_t block_number,
                            const slot_counts& counts);
  void apply_caps(std::uint32_t shape, std::uint32_t block_number, slot_counts& counts) const;
  bool has_caps(std::uint32_t shape) const {
    return shapes_[shape].caps && by_ != measure::free_anyhow;
  }
  overlay& writable(std::uint32_t block_number);
  void apply();
  void change(const run& x, std::int64_t sign);
  void choose(std::uint32_t shape, const domain_view& domain, const cut& at);
  bool tastes_matter(std::uint32_t shape) const;
  std::uint64_t fill_by_policy(std::uint32_t lot, std::uint32_t shape, std::uint64_t want,
                               const domain_view& domain);
  node_room room_of(node_ref node);
  pod_need need_of(std::uint32_t shape) const;

  const snapshot& where_;
  measure by_;
  const std::vector<shape_use>& shapes_;
  const policy_use* rule_;
  std::vector<std::uint32_t> overlay_of_;                         // by block number
  std::vector<std::vector<std::unique_ptr<slot_counts>>> capped_; // by shape and block; no overlay
  std::vector<std::unique_ptr<overlay>> overlays_;
  std::vector<run> taken_;
  std::size_t applied_ = 0; // runs that the overlays show; the rest is written when somebody looks
  std::vector<choice> chosen_;
};

} // namespace tutti::placement::engine
