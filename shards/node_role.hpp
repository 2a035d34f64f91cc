// The node actor's role: the one who says "held" or "does not fit", from its own state.
#pragma once

#include "protocol/role.hpp"
#include "shards/node_ledger.hpp"

namespace tutti::shards {

/// A plan is made on a view that is always a little old. Whether its seats really fit is decided
/// here, where the node's facts, its pods and all promises meet, and never from what the plan
/// believed: a hold that quotes other facts than the node's is refused as `moved`.
///
/// Nothing of it is durable. Its shard keeps the facts, the pods and the reservations; a role that
/// died is made anew and gets them with `node_begin`, before which it holds nothing and allows
/// nothing. It ends when its shard forwards `node_gone`.
class node_role final : public protocol::role {
public:
  explicit node_role(base::node_uid uid) : uid_(std::move(uid)) {}

  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

  const node_ledger& ledger() const { return ledger_; }

private:
  void hear(const protocol::node_begin& x);
  void hear(const protocol::node_changed& x);
  void hear(const protocol::hold& x);
  void hear(const protocol::let_go& x);
  void hear(const protocol::pod_arrived& x);
  void hear(const protocol::pod_left& x);
  void hear(const protocol::may_bind& x);
  void hear(const protocol::node_gone& x);
  template <class M>
  void hear(const M&) {} // not for a node

  void tell_room();

  const base::node_uid uid_;
  protocol::address shard_; ///< who began this life
  protocol::node_facts_ptr facts_;
  node_ledger ledger_;

  protocol::address from_; ///< of the event at hand
  protocol::effects out_;
};

} // namespace tutti::shards
