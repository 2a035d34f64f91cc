// Which gang may be tried now, and in what order: the queue of a replica.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/resources.hpp"
#include "protocol/role.hpp"
#include "queue/gate.hpp"
#include "queue/memory.hpp"
#include "queue/options.hpp"
#include "queue/order.hpp"
#include "queue/over_log.hpp"
#include "queue/registry.hpp"
#include "queue/report.hpp"

namespace tutti::queue {

/// The role at `queue`. Hears facts from the mirror, growth from the topology and ends of attempts
/// from partitions; sends `try_gang` to partitions, at most `options::attempts_in_flight` at a
/// time, in the order of priority and age; writes why a gang waits to the status writer; answers
/// last looks and readers. `inspect` "retry" reads a gang, too, and has it tried now, whatever it
/// rests for: somebody asks for that by hand.
///
/// The pools and their edges are drawn in gang_state.hpp. A gang comes back after
///
///     bound      to queued at once if members are left (Q-17, Q-18a: its age is never refreshed);
///                to waiting if it was said why they do not fit, and nothing has changed since
///     refused    to waiting, until an event that may help or the flush of five minutes; rested as
///                Q-21 says; at once, but not twice in a row, if the view grew meanwhile
///     conflict   to backing_off, for some jittered milliseconds
///     withdrawn, degraded, stopped    to backing_off, by Q-21 counted in errors; the first
///                                     repair follows at once, whenever a gang that has started
///                                     falls below its minimum
///
/// and is gated again whenever its facts say so. Upholds S13 and S14.
///
/// What is created in one moment is heard of in any order and tried in one: after something new to
/// place nobody is released before `options::burst_pause` has passed without more of it.
///
/// What is there is what the mirror has told since it last began anew: the rest goes with
/// `facts_synced`, as if it had been deleted. Until then nobody is tried. What people must know of
/// a gang follows from facts, so that it is said again whenever it may have been lost.
///
/// With several replicas each has a queue that knows all gangs. A partition that begins says so
/// (`new_epoch`), and its gangs are tried from then on; `new_epoch` with epoch 0 says that it is
/// not here any more: whatever was under way there is another replica's, and gated here.
class queue_role final : public protocol::role {
public:
  explicit queue_role(options how = {});
  ~queue_role() override;
  queue_role(queue_role&&) = delete;

  [[nodiscard]] protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::string snapshot() const override;
  [[nodiscard]] base::result<void> restore(std::string_view bytes) override;
  std::uint64_t state_hash() const override;

private:
  // What is heard; messages not listed are not for the queue.
  void hear(const protocol::pod_seen& x);
  void hear(const protocol::pod_gone& x);
  void hear(const protocol::group_seen& x);
  void hear(const protocol::group_gone& x);
  void hear(const protocol::view_trust& x);
  void hear(const protocol::facts_synced& x);
  void hear(const protocol::view_grew& x);
  void hear(const protocol::gang_progress& x);
  void hear(const protocol::attempt_over& x);
  void hear(const protocol::new_epoch& x);
  void hear(const protocol::gangs_kept& x);
  void hear(const protocol::view_wanted& x);
  bool may_be_decided(const gang_entry& g) const;
  void hear_last_look(const protocol::last_look& x, const protocol::address& from);
  void hear_inspect(const protocol::inspect& x, const protocol::address& from);
  void retry(const protocol::object_name& name);
  void hear_message(const protocol::received& x);

  // Where gangs go (queue_role.cpp).
  gang_life& life_of(gang_entry& g);
  void notice_holder(pod_entry& pod);
  bool is_here(const gang_entry& g) const;
  void put_aside(gang_entry& g);
  void take_partition(base::partition_id which);
  void lose_partition(base::partition_id which);
  void reconsider(gang_entry& g, bool may_help);
  void open(gang_entry& g, bool may_help);
  void stay_gated(gang_entry& g, bool is_news, base::time_point told_at);
  void make_ready(gang_entry& g);
  void wait_for_room(gang_entry& g);
  void depart(gang_entry& g);
  void come_to_rest(gang_entry& g);
  bool is_name_in_use(const gang_entry& g) const;
  void tell_deleted(const base::gang_uid& gang);
  void answer_kept();
  void drop_untold();
  void explain(gang_life& life, base::reason_code reason, std::string detail = {});
  void keep_why(gang_life& life, base::explanation why);
  void write_down(const gang_entry& g, memory_writer& out) const;

  // How attempts are asked for and followed (attempts.cpp).
  void heard_of_something_new();
  bool is_in_burst();
  void fill_window();
  void try_now(gang_entry& g);
  void offer(gang_entry& g, attempt_now& attempt);
  void ask(attempt_now& attempt);
  void adopt_stray(gang_entry& g);
  void fire_due();
  void rearm();
  std::size_t in_flight() const { return pools_.size(pool::attempting) + strays_.size(); }

  // How attempts end (outcomes.cpp).
  void finish(gang_entry& g, const protocol::attempt_over& x);
  void settle_members(gang_entry& g, const protocol::attempt_over& x);
  void judge_outcome(gang_entry& g, const attempt_now& tried, const protocol::attempt_over& x);
  void after_bound(gang_entry& g, const attempt_now& tried, const protocol::attempt_over& x);
  void after_refusal(gang_entry& g, const attempt_now& tried, base::explanation why);
  void after_conflict(gang_entry& g, base::explanation why);
  void after_error(gang_entry& g, base::explanation why, bool runs_already = false);
  void wake_by_arrivals();

  // Gangs below their minimum after their start (minimum.cpp).
  void watch_minimum(gang_entry& g);
  void say_standing(gang_entry& g);
  void tell_gated_again(gang_entry& g);
  void forget_minimum(gang_entry& g);
  void fire_repairs();
  void hurry(gang_entry& g);
  std::optional<base::time_point> next_repair() const;

  // Policy: degraded gangs go (evictions.cpp).
  bool may_be_evicted(const gang_entry& g) const;
  void evict_degraded();
  void evict_members(gang_entry& g);
  bool is_being_evicted(const gang_entry& g) const;

  const options how_;
  registry registry_;
  pools pools_;
  strays strays_;
  over_log over_;
  /// Started groups that are below their minimum, and when they count as degraded.
  std::map<protocol::object_name, base::time_point> repairs_;
  std::set<protocol::object_name> degraded_; ///< groups that count as such
  /// Groups whose members are being evicted, and when that is said again.
  std::map<protocol::object_name, base::time_point> evictions_;
  memories remembered_;               ///< restored, not yet met again
  std::set<base::pod_uid> holders_;   ///< gated pods that held their gangs back, likewise
  std::set<base::partition_id> here_; ///< partitions of this replica, where there are others
  std::vector<base::gang_uid> kept_;  ///< that partitions asked about before the first list

  std::deque<explanation_ptr> words_; ///< of the latest refusals that differ, newest first

  /// What was created in one moment is still being told.
  struct burst {
    base::time_point until;
    base::time_point latest; ///< `until` goes no further
  };
  std::optional<burst> burst_;

  bool is_started_ = false;
  bool is_being_told_ = false; ///< the mirror began anew and has not come to the end
  bool is_synced_ = false;
  std::optional<base::time_point> api_lost_; ///< no complete and fresh view since then
  bool has_arrival_waiters_ = false;
  std::uint64_t seed_ = 0;
  std::uint64_t view_version_ = 0;
  base::time_point now_{};
  std::uint64_t events_ = 0; ///< heard so far: slow checks do not follow each of them
  std::optional<base::time_point> armed_for_;
  protocol::effects out_; ///< of the event in hand
};

} // namespace tutti::queue
