// Deltas of all shards become one view: versions are checked, gaps found, marks settled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "placement/engine/capacity_view.hpp"
#include "protocol/messages.hpp"

namespace tutti::placement {

/// A shard's deltas form a chain: each is only right on top of the one before. The feed applies a
/// delta if it continues the chain or replaces it whole, ignores one that it has seen, and asks for
/// the whole where a link is missing or the shard lives a new life. Until the whole comes, what was
/// known stays: an old view is better than none, for shards check every plan anyway.
class view_feed {
public:
  view_feed(std::vector<std::string> levels, std::uint32_t shards);

  engine::capacity_view& view() { return view_; }
  const engine::capacity_view& view() const { return view_; }
  std::uint32_t shards() const { return shards_; }

  /// What a delta did.
  struct outcome {
    bool is_applied = false;
    bool wants_whole = false; ///< the chain is broken: ask the shard for everything
    /// Shards that told of a node which another shard has taken out since: ask them, too.
    std::vector<base::shard_id> others_to_ask;
    std::uint32_t grown = 0;   ///< nodes that may take a pod now that they refused before
    base::resources most_free; ///< over those, each amount on its own
    bool has_moved = false;    ///< a node is in another domain: then any node may be one of them
  };
  outcome apply(const protocol::view_delta& x);

  /// Drops all marks of an attempt; `grown` and `most_free` as for a delta.
  outcome unmark(const base::attempt_id& attempt);

  /// True while the shard's chain is unbroken.
  bool is_in_step(base::shard_id shard) const;
  std::uint32_t shards_in_step() const;
  /// Shards that have told their view at least once in our life.
  std::uint32_t shards_heard() const;

  /// Grows with each delta that is applied and each mark that is dropped early.
  std::uint64_t version() const { return version_; }

  /// What a plan made on this view quotes for a use of `guard`: the version of its last committed
  /// use, for a shared one of its last exclusive use.
  protocol::guard_version version_of(const protocol::guard_id& guard, bool is_exclusive,
                                     base::shard_id shard) const;
  /// All guards of which `shard` has told were looked at: what a slice quotes.
  protocol::guard_version guards_known(base::shard_id shard) const;
  /// Guards of any shard, and a number that changes when there are others.
  const std::map<protocol::guard_id, std::uint32_t>& guards() const { return guards_; }
  std::uint64_t guards_version() const { return guards_version_; }

  struct known_node {
    protocol::node_facts_ptr facts;
    base::shard_id shard;
  };
  /// Null if unknown.
  const known_node* find(const base::node_uid& node) const;

private:
  struct chain {
    base::incarnation_no incarnation;
    std::uint64_t version = 0;
    bool is_heard = false;
    bool is_in_step = false;
    protocol::guard_version guards_known;
    base::epoch_no guards_from; ///< version of guards that were never used in the shard's life
    std::map<protocol::guard_id, protocol::guard_view> guards;
  };
  /// What a node offered before a change, to be compared with what it offers after it.
  struct offer {
    std::optional<base::resources> free;
    base::port_list ports;
    bool is_admitting = false; // labels or taints let somebody in who was kept out
  };
  using offers = std::map<base::node_uid, offer>;

  static bool continues(const chain& c, const protocol::view_delta& x);
  offer offer_of(const base::node_uid& node);
  std::optional<engine::topology_path> path_of(const base::node_uid& node);
  void remember_marked(const base::attempt_id& attempt, offers& before);
  void apply_node(const protocol::node_view& x, base::shard_id shard, offers& before, outcome& out);
  void forget_unlisted(const protocol::view_delta& x, outcome& out);
  void remove(const base::node_uid& node, base::shard_id shard, outcome& out);
  void apply_guards(chain& c, const protocol::view_delta& x);
  void forget_guards(chain& c);
  void compare(const offers& before, outcome& out);

  engine::capacity_view view_;
  std::uint32_t shards_;
  std::vector<chain> chains_;
  boost::unordered_flat_map<base::node_uid, known_node, std::hash<base::node_uid>> nodes_;
  /// A node on its way from one shard to another is told by both, in any order: who told it besides
  /// the one whose word counts now.
  std::map<base::node_uid, std::set<base::shard_id>> told_besides_;
  std::uint64_t version_ = 0;
  std::map<protocol::guard_id, std::uint32_t> guards_; ///< how many shards tell of it
  std::uint64_t guards_version_ = 0;
};

} // namespace tutti::placement
