// The pod group actor's role: coordinator of two-phase reservation for one gang, one attempt long.
//
// Start reading here: `decide_now()` in gang_role_prepare.cpp asks for the one durable record that
// decides the gang's fate (the commit point). Everything before it may be forgotten; everything
// after it is rolled forward in gang_role_commit.cpp and gang_role_bind.cpp, or withdrawn whole in
// gang_role_withdraw.cpp. protocol/README.md is the specification.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/limits.hpp"
#include "protocol/attempt_state.hpp"
#include "protocol/role.hpp"
#include "protocol/roll_forward.hpp"

namespace tutti::protocol {

/// A gang must start whole or not at all, but its members' room is kept by several shards, any of
/// which, and this role itself, may die between any two messages. The role therefore collects
/// promises first (votes), then writes one record, and only then acts; and after the record it
/// never again asks whether, only how far. States and edges: attempt_state.hpp.
///
/// Hears `begin_attempt` or `resume_decision` first, from its partition. Ends with `attempt_over`
/// to the partition (which tells the queue) and `retire`. Not thread-safe; owned by one actor.
class gang_role final : public role {
public:
  struct options {
    bool fast_path = false; ///< all shards of every plan share this process and its store
    /// Nodes may be another replica's, and only their shards can be found: leave to bind is asked
    /// of the node by way of its shard.
    bool asks_by_shard = false;
    /// Shards may change owners under the feet of whoever decides: acks count only with the epoch
    /// that the partition map has after the decision (rule 5). And a later owner may have written
    /// into the record: it is looked at between reading a pod and posting for it (rule 7).
    bool reads_map = false;
    bool writes_pod_events = true;  ///< one `Scheduled` Event per bound pod, as kube-scheduler does
    bool writes_gang_events = true; ///< GangBound, GangReservationAborted on the gang's root
    /// GangReserved and GangCommitted too: two more API writes per attempt, for which `tutti trace`
    /// has more to say.
    bool writes_step_events = false;
    /// What is not bound so long after the first could be is given up by rule 7.
    base::duration repair_deadline = base::limits::repair_deadline;
    std::string started_condition = "PodGroupInitiallyScheduled"; ///< by dialect; empty = groups
                                                                  ///< are no objects (1.35)
  };

  explicit gang_role(options how) : how_(std::move(how)) {}

  effects on(const event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

  attempt_state state() const { return state_; }

private:
  enum timer : std::uint32_t { resend_timer, deadline_timer };

  struct shard_vote {
    slice_ptr asked;
    std::optional<vote> said;
    bool is_sent = false;
  };

  // One function per event; each is in the file that its state belongs to.
  void on(const started&);
  void on(const received& x);
  void on(const decided& x);
  void on(const decide_refused& x);
  void on(const decide_unknown& x);
  void on(const amended& x);
  void on(const amend_refused& x);
  void on(const timer_fired& x);

  void hear(const begin_attempt& x);
  void hear(const resume_decision& x);
  void hear(const plan_answer& x);
  void hear(const victims_answer& x);
  void hear(const vote& x);
  void hear(const last_look_answer& x);
  void hear(const pressure& x);
  void hear(const ack& x);
  void hear(const released& x);
  void hear(const may_bind_answer& x);
  void hear(const bind_answer& x);
  void hear(const pod_read& x);
  void hear(const victim_gone& x);
  void hear(const eviction_stopped& x);
  void hear(const gang_deleted& x);
  void hear(const new_epoch& x);
  void hear(const map_told& x);
  void hear(const cancel_gang& x);
  template <class M>
  void hear(const M&) {} // not for a coordinator: a stray copy from an earlier life

  // planning and promises (gang_role_prepare.cpp)
  void take_plan(plan_ptr placement);
  void send_prepares();
  void send_prepare(shard_vote& to);
  void note_vote(const vote& x);
  void votes_are_late();
  void look_again();
  std::optional<base::explanation> disagreement(const gang& seen) const;
  void decide_now();
  std::vector<rider> riders() const;
  void give_up(attempt_outcome how, base::explanation why);

  // after the decision (gang_role_commit.cpp)
  void begin_roll_forward(decision_ptr what);
  void send_commits();
  void ask_map();
  void count(slice_progress& s, shard_word said);
  void advance();
  void settle_cover();
  void start_evicting();
  void ask_evictor_again();
  void ask_evictor(const victim& v);
  void mark_groups();
  void say_started(bool has_started, const char* reason, const std::string& text);
  std::vector<victim> victims() const;
  void finish_if_settled();

  // Bindings (gang_role_bind.cpp)
  void start_binding();
  void begin_binding();
  void give_up_blocked();
  void keep_version(seat_progress& s, const std::string& version);
  bool is_looked_at(const seat_progress& s) const;
  bool must_look() const;
  void ask_leave(bool again);
  void post(seat_progress& s);
  void became_bound(seat_progress& s);
  void on_read(seat_progress& s, const pod_read& x);
  void ask_binder_again();

  // giving up members (gang_role_withdraw.cpp)
  void cancel(seat_progress& s, std::string cause, bool needs_touch);
  void amend_record();
  void fence(seat_progress& s);
  void let_go(seat_progress& s);
  void send_releases();
  void withdraw(std::string cause);
  void on_first_touch(seat_progress& s, const pod_read& x);
  void cancel_all();

  // an operator's word (gang_role_cancel.cpp)
  std::string take_back_attempt(const cancel_gang& x);
  std::string take_back_members(const cancel_gang& x);
  std::string objection(const cancel_gang& x) const;
  std::string objection_to(const std::string& pod) const;
  void tell_cancelled(const std::string& text);

  // common
  void go(attempt_state next);
  void move(seat_progress& s, seat_state next);
  void restart_resend();
  void resend();
  object_name pod_name(const seat& s) const;
  bool is_mine(const base::attempt_id& x) const { return x == attempt_; }
  void end(attempt_outcome how, base::explanation why);
  void progress(base::reason_code reason);
  void tell_people(bool is_warning, std::string reason, std::string action, std::string text);

  options how_;
  attempt_state state_ = attempt_state::planning;
  base::time_point now_{};
  effects out_;

  // who we are: set by the first message, constant afterwards
  base::attempt_id attempt_;
  std::uint64_t low_water_ = 0;
  base::partition_id partition_;
  base::epoch_no fence_epoch_; ///< of the present owner: `attempt_.epoch` unless resumed
  object_name name_;
  bool is_lone_pod_ = false;
  std::uint32_t tries_ = 0;

  // before the decision
  gang_ptr gang_;
  plan_ptr plan_;
  base::explanation refusal_;     ///< of the planner, while victims are sought
  base::explanation left_out_;    ///< why the plan leaves members out; none if it does not, or may
  std::vector<shard_vote> votes_; ///< ascending by shard
  std::uint32_t silences_ = 0;    ///< times that no shard had said a word when votes were due
  gang_ptr seen_;                 ///< by the last look
  std::optional<decision> proposed_;

  // after the decision
  std::optional<roll_forward> rolling_;
  bool was_covered_ = false;
  std::size_t victims_left_ = 0;
  bool is_late_ = false;    ///< evicting ends: deadline, operator, or resumed and past covering
  std::string late_;        ///< why, if it is not the deadline
  bool is_overdue_ = false; ///< binding: the repair deadline has passed
  std::vector<base::pod_uid> victims_gone_;
  std::vector<base::pod_uid> to_cancel_; ///< wait for the amendment under way to come back
  bool is_amending_ = false;
  std::uint64_t amendments_ = 0; ///< asked for; all but one under way are answered
  bool is_map_asked_ = false;
  bool first_touch_ = false; ///< withdrawing: every member is touched before anything is cancelled
  std::size_t touches_left_ = 0;
  std::string withdrawal_; ///< why, for the members' records

  base::duration resend_after_{};
};

} // namespace tutti::protocol
