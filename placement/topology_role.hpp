// Keeps the merged capacity view and proposes a placement for each gang that asks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "placement/engine/workspace.hpp"
#include "placement/plan_guards.hpp"
#include "placement/planning_turns.hpp"
#include "placement/search_board.hpp"
#include "placement/view_feed.hpp"
#include "protocol/role.hpp"

namespace tutti::placement {

struct topology_options {
  std::vector<std::string> levels;  ///< label keys, outermost first; facts carry their values
  std::uint32_t shards = 1;         ///< fixed in the cluster's identity
  std::uint32_t planners = 0;       ///< workers for long searches; 0 = bounded searches only
  search_board_ptr board = nullptr; ///< shared with the planners; needed if there are any
};

/// The topology reads columns and never asks a node: a proposal costs microseconds, and may be out
/// of date. That is safe, because shards decide from their own state and every proposal quotes the
/// node facts it rests on. It is also polite: what was offered to one gang is marked and not
/// offered to the next until the shards have settled it.
///
///     plan_request ─▶ (waits a moment for shards that have not told their nodes yet, and for gangs
///                      that a `plan_order` names before it)
///                  ─▶ engine ─▶ placed ─▶ marks, plan_answer
///                            ─▶ refused ─▶ plan_answer with numbers
///                            ─▶ undecided ─▶ planner ─▶ checked against the view of then ─▶ as
///                            above
///
/// The preemption coordinator asks like a gang and searches like a planner: it gets the view of
/// this moment, and what it finds is marked and answered as everything else. Victims' room is not
/// in the view; a seat on it counts as taken all the same.
///
///     a mark ends:  the view delta lists the attempt as settled (shard by shard)
///                   plan_dropped · a newer attempt of the gang · twice the prepare timeout
///
/// Nothing survives a restart: the shards tell everything again.
class topology_role final : public protocol::role {
public:
  explicit topology_role(topology_options how);

  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  enum class timer : std::uint32_t {
    offer_expires = 1,
    view_missing = 2,
    view_is_late = 3,
    turn_is_late = 4
  };
  /// A placement that was proposed and is not settled everywhere.
  struct offer {
    protocol::plan_ptr placement;
    base::explanation left_out; ///< why the plan leaves members out
    std::uint64_t timer_key = 0;
  };
  /// A search that a planner has.
  struct search {
    protocol::address asker;
    protocol::gang_ptr who;
    base::explanation so_far;
    guard_quotes guards; ///< of the view that it searches
    std::uint64_t timer_key = 0;
  };

  void start();
  void hear(const protocol::address& from, const protocol::message& what);
  void take_delta(const protocol::view_delta& x);
  void take_request(const protocol::address& from, const protocol::plan_request& x);
  void take_order(const protocol::plan_order& x);
  void plan_in_turn();
  void wait_for_view();
  void plan_early();
  void refuse_early();
  void drop_early(const base::attempt_id& first, const base::attempt_id& last);
  void take_searched(const protocol::plan_answer& x);
  void drop(const base::attempt_id& attempt);
  void describe(const protocol::address& from, const protocol::inspect& x);
  std::string describe_marks() const;
  void expire(const protocol::timer_id& which);

  void drop_older(const base::attempt_id& attempt);
  void plan(const protocol::address& asker, const base::attempt_id& attempt,
            const protocol::gang_ptr& who, bool may_search);
  void propose(const protocol::address& asker, const base::attempt_id& attempt,
               const protocol::gang& who, std::shared_ptr<protocol::plan> found,
               const guard_quotes& guards);
  base::explanation why_left_out(const protocol::gang& who, const protocol::plan& found);
  void refuse(const protocol::address& asker, const base::attempt_id& attempt,
              base::explanation why);
  void hand_over(const protocol::address& asker, const base::attempt_id& attempt,
                 const protocol::gang_ptr& who, base::explanation so_far,
                 const protocol::address& worker);
  void propose_with_victims(const search& mine, const protocol::plan_answer& x);
  bool are_quotes_true(const protocol::plan& x) const;
  base::explanation view_is_not_whole() const;
  bool still_fits(const protocol::plan& x);
  void announce(const view_feed::outcome& x);
  void want_view(base::shard_id shard);
  std::uint64_t arm_expiry(const base::attempt_id& attempt);
  void disarm_expiry(std::uint64_t key);
  void forget_settled(const std::vector<base::attempt_id>& settled);

  topology_options how_;
  view_feed feed_;
  plan_guards guards_;
  engine::workspace memory_;
  std::map<base::attempt_id, offer> offers_;
  std::map<base::attempt_id, search> searches_;
  planning_turns turns_;
  std::vector<planning_turns::request>
      early_; // that have no turn, before all shards had told their nodes
  bool is_waiting_for_view_ = false;
  std::map<std::uint64_t, base::attempt_id> expiries_; // by timer key
  std::uint64_t last_key_ = 0;
  std::uint32_t next_planner_ = 0;
  protocol::effects out_; // of the event being handled
};

} // namespace tutti::placement
