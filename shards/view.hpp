// What a shard knows of its nodes, and what it tells the topology of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "base/ids.hpp"
#include "base/kinds.hpp"
#include "base/resources.hpp"
#include "base/uid.hpp"
#include "protocol/facts.hpp"
#include "protocol/messages.hpp"
#include "shards/pod_takes.hpp"

namespace tutti::shards {

/// One node as its shard keeps it: enough to bring its actor up again, and its last word.
struct node_entry {
  protocol::node_facts_ptr facts; ///< null: pods were told before the node itself
  pod_takes residents;
  /// Of residents that have any.
  boost::container::flat_map<base::packed_uid, base::ties_ptr> ties;
  /// Of residents that have one other than 0.
  boost::container::flat_map<base::packed_uid, std::int32_t> priorities;
  std::optional<base::footprint> free; ///< as the node actor last said; none while it comes up
  std::set<base::attempt_id> pressed;  ///< attempts that were told that their room is not there
  std::uint64_t move = 0;    ///< it belongs to another shard, as this telling said; 0 = it is ours
  bool is_idle_told = false; ///< that telling was answered: nothing is promised here any more

  bool is_up() const { return facts != nullptr && free.has_value(); }
  bool is_leaving() const { return move != 0; }
};

/// The nodes of a shard and the versioned view of them. Changes gather until `take_delta`; a delta
/// carries each changed node once, with facts only if they are news. Whether the whole can be
/// trusted (S12) is told by the mirror.
class node_table {
public:
  using all_of_them = std::map<base::node_uid, node_entry>;

  const all_of_them& all() const { return all_; }
  /// Null if the node was never told, or is gone.
  node_entry* find(const base::node_uid& node);
  const node_entry* find(const base::node_uid& node) const;
  /// Like `find`, null also while only its pods are known.
  const node_entry* known(const base::node_uid& node) const;
  bool is_resident(const base::node_uid& node, const base::pod_uid& pod) const;
  /// Of a resident, as the mirror told it last.
  std::int32_t priority_of(const base::node_uid& node, const base::pod_uid& pod) const;

  /// The mirror's word. `seen` returns true if the node is new here; with a `move` it belongs to
  /// another shard, is kept for what is promised on it, and offers nothing.
  bool seen(const protocol::node_facts_ptr& facts, std::uint64_t move = 0);
  void gone(const base::node_uid& node);
  void arrived(const protocol::pod_arrived& pod);
  void left(const protocol::pod_left& pod);

  /// The node actor's word; none when it died.
  void say_free(const base::node_uid& node, base::footprint free);
  void say_down(const base::node_uid& node);
  /// A plan believed in more room than the node has: what the topology was told of it may be wrong,
  /// so the next delta says it once more, facts and all.
  void tell_again(const base::node_uid& node);
  /// Who is promised there has changed. Also of a node whose actor has not spoken: it offers
  /// nothing, and its pods count.
  void touch(const base::node_uid& node);

  /// Nodes that belong to another shard and have not been called idle yet.
  const std::set<base::node_uid>& leaving() const { return leaving_; }
  void say_idle(const base::node_uid& node);

  bool is_fresh() const { return is_fresh_; }
  /// True from the first moment on at which the mirror has told all and every node actor has
  /// spoken. A view of a part would make gangs wait that fit, and say so with wrong numbers.
  bool has_been_whole();
  /// Takes the mirror's word on the whole. With `is_anew` everything will be told again; when
  /// `fresh` comes then, `untold` says what was not.
  void trust(const protocol::view_trust& x);
  struct missing {
    std::vector<base::node_uid> nodes;
    std::vector<protocol::pod_left> pods;
  };
  /// What was known and has not been told again since `is_anew`. Empty unless such a telling has
  /// just become complete; asking twice answers once.
  missing untold();

  /// `attempt` is held or released here now.
  void settled(const base::attempt_id& attempt) { settled_.insert(attempt); }
  bool has_news() const { return !changed_.empty() || !settled_.empty() || !tied_.empty(); }
  /// All news, in one delta with the next version.
  protocol::view_delta take_delta(base::shard_id shard, base::incarnation_no incarnation);
  /// The whole view, with the next version; `live` attempts are named as settled.
  protocol::view_delta take_whole(base::shard_id shard, base::incarnation_no incarnation,
                                  std::vector<base::attempt_id> live);

  /// All but the number of deltas so far: it says who missed one, and decides nothing here.
  std::uint64_t state_hash() const;

private:
  void mark(const base::node_uid& node, bool facts_are_news);
  static protocol::node_view view_of(const base::node_uid& node, const node_entry& e,
                                     bool with_facts);

  all_of_them all_;
  std::set<base::node_uid> leaving_;
  bool is_fresh_ = false;
  bool has_been_whole_ = false;
  bool is_telling_anew_ = false;
  std::set<base::node_uid> untold_nodes_;
  std::map<base::pod_uid, base::node_uid> untold_pods_;

  std::uint64_t version_ = 0;
  std::map<base::node_uid, bool> changed_; ///< for the next delta; true: the facts are news, too
  std::map<base::node_uid, bool> silent_;  ///< changed, but the node actor has not spoken yet
  std::set<base::node_uid> tied_;          ///< of those, where the ties of pods are news
  std::set<base::attempt_id> settled_;
};

} // namespace tutti::shards
