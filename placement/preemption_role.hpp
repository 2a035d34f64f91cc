// Decides whether a gang that found no room may get it by evicting others, and whom.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "placement/engine/workspace.hpp"
#include "placement/offered_units.hpp"
#include "placement/preemption_options.hpp"
#include "placement/search_board.hpp"
#include "protocol/role.hpp"

namespace tutti::placement {

/// What can be freed is known in three places: the mirror sees who runs, the shards know whose
/// victims some of them are already, and the topology has the view on which places are sought. So a
/// question is answered in rounds of asking, and the answer is only a proposal, like every plan:
/// the shards check each victim again before they promise its room, and nobody goes before the
/// decision is durable and covered.
///
///     victims_wanted ─▶ refused at once: the gang may not preempt, or nobody may
///                    ─▶ `offers_wanted` to the mirror ─▶ refused: nobody runs who could go
///                         └─▶ `named_wanted` to all shards
///                               └─▶ the view: `plan_request` to the topology, like a gang
///                                     └─▶ `plan_request` back, the view is on the board: the
///                                         search
///                                           └─▶ `plan_answer` to the topology, like a planner; it
///                                               marks the seats and adds the guards
///                                                 └─▶ `plan_answer` back ─▶ victims_answer
///
///     whoever is silent for the prepare timeout: refused as view_stale or shard_unavailable, which
///     is tried again soon
///
/// Two gangs never get the same victim from here: whom an answer has named is left out until its
/// shards must know. What is answered twice is answered from the topology's memory (F2). Evictions
/// per minute are bounded by a setting; a round that goes beyond waits for its time.
///
/// Keeps nothing across restarts: gangs repeat what they were not answered.
class preemption_role final : public protocol::role {
public:
  struct options {
    preemption_options how{};
    search_board_ptr board; ///< shared with the topology; null only where nobody may be evicted
    std::uint32_t shards = 1;
    base::wall_time wall_at_zero{}; ///< wall time at the zero of the monotonic time line
  };

  explicit preemption_role(options how);

  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  enum class timer : std::uint32_t { round_is_late = 1, window_opens = 2 };
  enum class step : std::uint8_t { resting, asking, naming, planning, proposed };
  struct round {
    protocol::address asker;
    protocol::gang_ptr who;
    step at = step::resting;
    offered found;
    std::set<std::uint32_t> pieces; ///< of the mirror's answer that have come
    std::set<base::shard_id> shards_heard;
    base::reason_code refusal = base::reason_code::preemption_would_not_help;
    std::vector<base::pod_uid> victims; ///< of the proposal
    std::uint64_t timer_key = 0;
  };
  using rounds = std::map<base::attempt_id, round>;

  void hear(const protocol::address& from, const protocol::message& what);
  void take_question(const protocol::address& from, const protocol::victims_wanted& x);
  void take_offers(const protocol::offers& x);
  void take_named(const protocol::named_told& x);
  void search(const protocol::plan_request& x);
  void take_proposal(const protocol::plan_answer& x);
  void begin(const base::attempt_id& attempt, round& r);
  void ask_shards(const base::attempt_id& attempt, round& r);
  void late(const base::attempt_id& attempt);
  void refuse(const protocol::address& asker, const base::attempt_id& attempt,
              base::reason_code refusal, base::explanation why);
  void end(rounds::iterator pos);
  void drop_older(const base::attempt_id& attempt);

  /// How many may go now.
  std::size_t left_of_window();
  void wait_for_window(const base::attempt_id& attempt, round& r);
  void note_plan(const base::attempt_id& attempt, const round& r, std::size_t units);
  base::wall_time wall_now() const;

  options how_;
  rounds rounds_;
  /// Victims of answers that their shards may not know yet, and until when.
  struct given_victims {
    std::vector<base::pod_uid> pods;
    base::time_point until;
  };
  std::map<base::attempt_id, given_victims> given_;
  std::deque<std::pair<base::time_point, std::size_t>> window_; ///< evictions of the last minute
  std::map<std::uint64_t, base::attempt_id> timers_;            ///< by key
  std::uint64_t last_key_ = 0;
  engine::workspace memory_;
  base::time_point now_{};
  protocol::effects out_; ///< of the event being handled
};

} // namespace tutti::placement
