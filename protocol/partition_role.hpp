// One coordinator partition: who coordinates which gang, under which epoch, and what became of old
// attempts.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/time.hpp"
#include "protocol/role.hpp"

namespace tutti::protocol {

/// Rival attempts of one gang would fight each other, and an attempt that died leaves shards in
/// doubt. So a gang's attempts are all begun here, one at a time, numbered; and whoever asks about
/// an attempt that is no longer live is answered from what the decision log said when this owner
/// began.
///
///     started: life_record under the new epoch, synced ─▶ new_epoch to all shards
///                                                      ─▶ a pod group actor per unfinished
///                                                      decision
///     try_gang ─▶ begin_attempt ─▶ … ─▶ attempt_over ─▶ (to the queue)
///     inquiry  ─▶ aborted | done | silence while it is live
///     child_died of a gang under way ─▶ rebuild: all its gangs' actors end, and a new life begins
///     gang_deleted ─▶ forgotten, once nothing of the gang is under way
///     try_gang of a quarantined gang ─▶ attempt_over at once, SchedulerError: its actor is not
///     made. After a rest it is like any other, and what was decided is resumed
///     try_gang by facts that show a bound member pending ─▶ attempt_over at once, ViewStale
///     view_wanted  ─▶ gangs_kept: the queue began anew and knows of none
///     cancel_gang  ─▶ the gang ─▶ gang_cancelled ─▶ admin; a gang that stays silent: its slot is
///                     closed by ABORTED and the attempt is over, or it is decided: rebuild
///     evict_degraded ─▶ evict, for each member, unless something of the gang is under way
///     fence_found above the epoch ─▶ life_record under a higher one, synced ─▶ new_epoch to all
///                                    shards and to live gangs
///
/// A new life, after a crash of the process or of an actor, knows what is decided and nothing of
/// what was not: those attempts are dead, and nobody is told so one by one. Its `new_epoch` says it
/// to all: shards ask about what they hold in doubt, and the queue asks again at once for every
/// gang that it believes to be under way here. Whoever is not resumed is tried anew.
///
/// Presumed abort: an attempt of this epoch that is not live, and one of an older epoch that is not
/// the last decided one, is aborted. The second is allowed because the store's lock proves the
/// older owner dead (rule 4).
///
/// In a log that several owners share (`shares_log`) an older owner may merely be paused, so
/// (partition_takeover.cpp):
///
///     unfinished decision of an older epoch ─▶ amend{adopt} ─▶ a pod group actor (2.7)
///     inquiry about an empty slot ─▶ decide{ABORTED} there ─▶ whoever asked: aborted, unless the
///                                    older owner came first: then its decision is adopted
///     an attempt lost its slot ─▶ it tells the winner (`resume_decision`), which is adopted; so is
///                                 what the keeper tells of later
///     fence_found above the epoch ─▶ the keeper is asked for a higher one: this life ends with it
///
/// Nobody but the queue knows the name of a gang that was never decided, under which its slot is to
/// be closed. Of a gang that the queue says is gone, and which it may only not have heard of yet,
/// the log is read: a decision that stands there is taken up; an empty slot needs no closing, for
/// acks decide (rule 5).
class partition_role final : public role {
public:
  struct options {
    base::partition_id partition;
    std::uint32_t shards = 1;
    bool shares_log = false; ///< other replicas write into the same decision log
  };

  explicit partition_role(options how) : how_(how) {}

  effects on(const event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

private:
  /// The last decided ordinal of a gang, and the attempt under way, if any.
  struct entry {
    std::uint64_t ordinal = 0;
    base::attempt_id decided_by;      ///< of `ordinal`
    bool is_done = true;              ///< nothing is left to do for `ordinal`
    base::attempt_id live;            ///< try_no 0 = none
    bool is_deleted = false;          ///< to be forgotten when nothing of it is under way
    std::vector<std::uint64_t> bound; ///< hashes of the pods that `decided_by` has bound, ascending
    object_name name;                 ///< empty = not heard yet
    bool is_lone_pod = false;
    decision_ptr overtaken_by; ///< stands in the slot for which `live` competed
  };
  /// An empty slot of older epochs, and the shards that wait to hear of it.
  struct closing {
    std::uint64_t ordinal = 0;
    bool is_deciding = false;
    std::set<std::pair<base::attempt_id, base::shard_id>> askers;
  };

  void on(const started& x);
  void on(const received& x);
  void on(const child_died& x);
  void on(const timer_fired& x);
  void on(const decided& x);
  void on(const decide_refused& x);
  void on(const decide_unknown& x);
  void on(const amended& x);
  void on(const amend_refused& x);
  void hear(const try_gang& x);
  void hear(const attempt_over& x);
  void hear(const inquiry& x);
  void hear(const gang_deleted& x);
  void hear(const view_wanted& x);
  void hear(const fence_found& x);
  void hear(const last_look_answer& x);
  void hear(const slots_told& x);
  void hear(const resume_decision& x);
  void hear(const evict_degraded& x);
  void hear(const cancel_gang& x);
  void hear(const gang_cancelled& x);
  template <class M>
  void hear(const M&) {}

  // An operator's word, carried out (partition_override.cpp).
  using pending_cancel = std::map<base::gang_uid, cancel_gang>::iterator;
  using gang_entry = std::map<base::gang_uid, entry>::iterator;
  void answer(const cancel_gang& x, bool is_done, std::string text);
  void lift_quarantine(const cancel_gang& x);
  void gang_is_silent(std::uint64_t question);
  void close_slot(const cancel_gang& x, const base::attempt_id& live);
  void slot_is_closed(gang_entry pos, const base::slot_id& slot);
  void end_live(entry& mine, const std::string& reason);
  void make_anew(pending_cancel asked);
  void override_settled(const decided& x);
  void override_refused(const decide_refused& x);
  void override_unknown(const decide_unknown& x);

  bool is_under_way(const base::gang_uid& gang, const entry& mine) const;
  static std::vector<base::pod_uid> bound_unseen(const entry& mine, const gang& shown);
  void resume(const decision_ptr& what);
  void refuse_late_facts(const try_gang& x, const entry& mine, std::vector<base::pod_uid> unseen);
  void refuse_quarantined(const try_gang& x, const entry& mine);
  void forget_if_over(std::map<base::gang_uid, entry>::iterator pos);
  void take_up(const decision_ptr& what);
  void adopt(const decision_ptr& what);
  bool must_close(const inquiry& x) const;
  void stands_there(const decision_ptr& what);
  void close_for(const inquiry& x);
  void go_on_closing(const base::gang_uid& gang);
  void answer_askers(const base::gang_uid& gang);
  decision closing_decision(const base::gang_uid& gang);
  void tell_shards_epoch();
  void tell_kept();
  std::uint64_t low_water() const;

  options how_;
  effects out_;
  base::epoch_no epoch_;
  base::incarnation_no incarnation_;
  bool has_heard_fence_ = false; ///< what is found later is not an earlier owner's
  std::uint64_t next_try_ = 1;
  std::map<base::gang_uid, entry> gangs_;
  std::map<base::gang_uid, base::attempt_id> resumed_; ///< live attempts of earlier owners
  std::map<base::gang_uid, decision_ptr> adopting_; ///< of `resumed_`: not a word before it is ours
  std::map<base::gang_uid, closing> closing_;
  std::map<base::gang_uid, std::uint64_t>
      reading_; ///< of `closing_`: by the list that was asked for
  std::uint64_t reads_ = 0;
  std::set<std::uint64_t> live_tries_;
  std::set<base::gang_uid> quarantined_;          ///< whoever hosts them dies
  std::vector<decision_ptr> resting_;             ///< theirs, unfinished
  std::map<base::gang_uid, cancel_gang> cancels_; ///< not answered yet
};

} // namespace tutti::protocol
