// The shard actor's role: participant of two-phase reservation, keeper of its node actors.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "protocol/role.hpp"
#include "shards/fences.hpp"
#include "shards/gathering.hpp"
#include "shards/guards.hpp"
#include "shards/reservations.hpp"
#include "shards/view.hpp"

namespace tutti::shards {

/// A coordinator asks several shards for parts of one gang. Each must be able to say "yes" without
/// knowing the others, keep its word through crashes, and never keep it longer than the decision
/// needs. This role is one of them.
///
///     PREPARE ─▶ own checks ─▶ hold on every node ─▶ all held: PREPARED (lazy) ─▶ vote yes
///                    └──────────── any no: let go, nothing written ──────────────▶ vote no
///     COMMIT  ─▶ COMMITTED (synced) ─▶ ack, if the room is there *now*
///
/// It answers at once, from its own state: it waits for node actors only, so there is no deadlock
/// between shards. What it holds in doubt it holds, however long, and asks the owner meanwhile.
///
/// Durable: reservations, fences, guard versions (`snapshot` and the journal). Not durable: nodes
/// and pods, which the mirror tells again; until that is complete it votes no (S12). After a
/// restart PREPARED and COMMITTED hold their capacity before anything is served: a node actor gets
/// them with its first message.
///
/// A node whose label names another shard is kept for what is promised on it and leaves after it,
/// for a ledger knows the promises of one shard only. What is held is told before any node is, so
/// that this holds across restarts.
///
/// Handlers are spread over files by subject: shard_vote.cpp, shard_commit.cpp, shard_nodes.cpp,
/// shard_life.cpp (start, recovery, snapshots, timers), shard_inspect.cpp.
class shard_role final : public protocol::role {
public:
  struct options {
    base::shard_id shard;
    std::uint32_t shards = base::limits::default_shards;
    bool fast_path = true; ///< a PREPARE that asks for it may do without a record of its own
    /// Topologies of other replicas follow this shard over links that lose words: one that has lost
    /// the last of them must not have to wait for news.
    bool has_others = false;
  };

  explicit shard_role(options how) : how_(how) {}

  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::string snapshot() const override;
  [[nodiscard]] base::result<void> restore(std::string_view bytes) override;
  std::uint64_t state_hash() const override;

  const reservation_book& reservations() const { return book_; }
  const node_table& nodes() const { return nodes_; }

private:
  // ---- voting: shard_vote.cpp
  void hear(const protocol::prepare& x);
  void hear(const protocol::held& x);
  void hear(const protocol::abort_attempt& x);
  void hear(const protocol::named_wanted& x);
  std::optional<refusal> refusal_of(const protocol::prepare& x) const;
  std::optional<refusal> refusal_of_nodes(const protocol::slice& asked) const;
  void correct_view(const protocol::slice& asked);
  std::optional<refusal> refusal_of_victims(const base::attempt_id& attempt, std::int32_t below,
                                            const protocol::slice& asked) const;
  void gather(const base::attempt_id& attempt, gathering what);
  void conclude(const base::attempt_id& attempt);
  void give_back(const base::attempt_id& attempt, const gathering& what);
  void promise(const base::attempt_id& attempt, const gathering& what);
  void vote_yes(const base::attempt_id& attempt);
  void vote_no(const base::attempt_id& attempt, refusal why);
  void give_up(const base::attempt_id& attempt);
  void bury(const base::attempt_id& attempt);

  // ---- after the decision: shard_commit.cpp
  void hear(const protocol::commit& x);
  void hear(const protocol::release& x);
  void hear(const protocol::finish& x);
  void hear(const protocol::inquiry_answer& x);
  void reserve_again(const protocol::commit& x);
  void become_committed(const base::attempt_id& attempt, base::partition_id coordinator,
                        const protocol::slice_ptr& asked);
  void answer_commit(const base::attempt_id& attempt);
  std::optional<refusal> lost_room(const base::attempt_id& attempt, const reservation& r,
                                   bool& cannot_know) const;
  void refuse_commit(const base::attempt_id& attempt, refusal why);
  void finish_attempt(const base::attempt_id& attempt);
  void forget(const base::attempt_id& attempt);

  // ---- nodes and pods: shard_nodes.cpp
  void hear(const protocol::node_seen& x);
  void hear(const protocol::node_leaves& x);
  void hear(const protocol::node_gone& x);
  void hear(const protocol::pod_arrived& x);
  void hear(const protocol::pod_left& x);
  void hear(const protocol::guards_seen& x);
  void hear(const protocol::view_trust& x);
  void hear(const protocol::view_wanted& x);
  void hear(const protocol::room& x);
  void hear(const protocol::may_bind& x);
  void on_child_died(const base::node_uid& node);
  void take_node(const protocol::node_facts_ptr& facts, std::uint64_t move);
  void lose_node(const base::node_uid& node);
  void tell_held();
  void tell_idle();
  bool is_promised(const base::node_uid& node) const;
  void begin_node(const base::node_uid& node);
  void fail_gatherings_on(const base::node_uid& node);
  void consume(const base::pod_uid& pod, const base::node_uid& told_node);
  bool is_crowded(const reservation& r, const base::node_uid& node) const;
  void press(const base::node_uid& node);
  void tell_view();
  void add_guards(protocol::view_delta& to);
  void tell_ties(const protocol::slice& asked);
  void add_ties(protocol::view_delta& to) const;

  // ---- life: shard_life.cpp
  void on_replayed(const protocol::record& x);
  void on_started(const protocol::started& x);
  void enter(base::epoch_no epoch);
  void adopt(const protocol::decision& x);
  void hear(const protocol::new_epoch& x);
  void take_in(base::partition_id from, base::epoch_no epoch, std::uint64_t low_water);
  void on_timer(const protocol::timer_id& x);
  void on_disk(const protocol::disk_told& x);
  void ask_owner(const base::attempt_id& attempt);
  void watch_over(const base::attempt_id& attempt);
  void stop_watching(const base::attempt_id& attempt);
  void press_again(const base::attempt_id& attempt, const reservation& r);
  void drop_unseen(const base::attempt_id& attempt, reservation& r);
  void ask_about(const std::vector<base::attempt_id>& attempts);

  // ---- reading: shard_inspect.cpp
  void hear(const protocol::inspect& x);

  template <class M>
  void hear(const M&) {} // not for a shard

  const options how_;

  // Durable, as far as the records that were appended are on disk.
  base::epoch_no epoch_;
  reservation_book book_;
  guard_table guards_;
  fence_table fences_;

  // Of this life only.
  base::incarnation_no incarnation_;
  bool is_view_wanted_ = true; ///< what a life before this one told may have gone since
  bool is_beat_due_ = false;   ///< a delta is sent even if it has nothing to say
  bool is_started_ = false;
  bool is_disk_scarce_ = false; ///< nothing new is promised
  node_table nodes_;
  std::map<base::attempt_id, gathering> gatherings_;
  std::set<base::attempt_id> dead_; ///< given up lately: a PREPARE that was overtaken stays out
  std::deque<base::attempt_id> dead_in_order_;
  std::map<std::uint64_t, base::attempt_id> watched_; ///< timer key → attempt

  base::time_point now_; ///< of the event at hand
  protocol::address from_;
  protocol::effects out_;
};

} // namespace tutti::shards
