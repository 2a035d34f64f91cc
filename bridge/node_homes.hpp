// Which shard has a node: the one that its rack label names, or one that still has promises on it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/ids.hpp"
#include "protocol/facts.hpp"
#include "protocol/messages.hpp"

namespace tutti::bridge {

/// The label says where a node belongs; but it may have been changed while another shard had room
/// promised there, also while nobody ran. A node that were given to its new shard at once would be
/// promised twice. So every shard says first what it holds (`nodes_held`), and a node that others
/// hold goes to each of them, to be kept and not promised from, before it comes home. A claim that
/// is out of date costs a moment, for the shard then says `node_idle` at once.
class node_homes {
public:
  /// With `only_expected`, shards may be another replica's: only those named by `expect` are waited
  /// for.
  explicit node_homes(std::uint32_t shards, bool only_expected = false);

  /// `shard` is about to say what it holds.
  void expect(base::shard_id shard) { unheard_.insert(shard); }

  /// `shard` has ended, or is another replica's now: its word is neither awaited nor believed.
  void is_gone(base::shard_id shard);

  /// True once every shard has said what it holds: before, nobody may be told of a node.
  bool are_known() const { return unheard_.empty(); }
  /// Takes a shard's word. True if it was the last that was missing. Later words change nothing:
  /// where a node is, is known better here by then.
  bool hear(const protocol::nodes_held& x);

  /// The shard that the label names.
  base::shard_id home_of(const protocol::node_facts& node) const;
  /// Where the node is to be now: at its home, unless another shard holds something on it.
  base::shard_id place_of(const protocol::node_facts& node) const;

  /// `shard` has said that it holds nothing on the node any more.
  void is_idle(base::shard_id shard, const base::node_uid& node);
  void forget(const base::node_uid& node) { holders_.erase(node); }

private:
  std::uint32_t shards_;
  std::set<base::shard_id> unheard_;
  std::map<base::node_uid, std::set<base::shard_id>> holders_; ///< as said at the start
};

} // namespace tutti::bridge
