// The judge of a run: watches every step, every durable write and every object, and says which
// promise was broken first.
//
// It believes only what is durable and what the API server holds; what roles say of themselves is
// compared with that. invariant.hpp says what is judged when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chaos/decision_reading.hpp"
#include "chaos/invariant.hpp"
#include "chaos/patience.hpp"
#include "chaos/rivalry.hpp"
#include "chaos/room_book.hpp"
#include "chaos/term_judge.hpp"
#include "chaos/truth.hpp"
#include "protocol/decision.hpp"
#include "protocol/ownership.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/world.hpp"

namespace tutti::shards {
class reservation_book;
} // namespace tutti::shards

namespace tutti::chaos {

class checker final : public sim::observer {
public:
  struct options {
    std::string scheduler = "tutti";
    bool errors_are_explained = true; ///< something fails on purpose: roles may report it (E1)
  };
  checker(sim::world& on, options how);

  /// The first promise that did not hold; nothing is checked after it.
  const std::optional<violation>& broken() const { return broken_; }
  /// Asked before each step of the world: counts everything anew, and looks at what must have come
  /// right in a calm world, when it is time for that.
  void look_around();
  /// Something fails now, and is over by `until`; waiting for the consequences begins then.
  void disturbed(base::time_point until) { calm_since_ = std::max(calm_since_, until); }
  /// After faults have stopped and everything had its time: what must have come right.
  void audit();
  /// How often each promise was looked at.
  const std::map<std::string, std::uint64_t, std::less<>>& looks() const { return looks_; }

  const truth& real() const { return truth_; }
  /// The sums that are kept: to be spoilt by a test of the judge.
  room_book& kept_sums() { return room_; }
  /// A decision for this gang is durable, or its condition says that it has started.
  bool has_started(const group_truth& group) const;

  void stepped(sim::process& who, const protocol::address& where, const protocol::event& e,
               const protocol::effects& wanted) override;
  void arrives(std::string_view client, const protocol::http_request& request) override;
  void api_turned() override;
  void durable(sim::process& who, const persistence::batch& written) override;
  void began(sim::process& who) override;
  void ended(sim::process& who, std::string_view why) override;

private:
  struct known_decision {
    protocol::decision first;  ///< with the whole plan
    protocol::decision latest; ///< as it stands
    bool is_lost = false;      ///< its disk was lost
    bool is_over = false;      ///< its object has gone with its gang, and its slot with it
    bool has_begun = false;    ///< a Binding of it has come
    bool is_live() const {
      return !is_lost && first.what == protocol::verdict::committed && !latest.is_done;
    }
  };

  /// A role of one process, and the gang or node that it is for.
  using place = std::pair<std::string, std::string>;

  /// Per gang: the attempt in its coordinator's hands, in this life of the coordinator.
  struct gang_word {
    base::attempt_id attempt;
    std::set<std::uint32_t> acked; ///< shards
    bool is_covered = false;
    base::epoch_no held_by{}; ///< epoch in which it decides or has adopted the attempt
  };

  void disk_is_lost(const std::string& who, bool held_decisions);
  /// Several processes share the cluster: decisions are objects, and no journal is read again.
  bool has_replicas() const { return on_.processes() > 1; }
  void say(std::string_view id, std::string what);
  bool look(std::string_view id);

  // what is durable (checker_store.cpp)
  void take_decision(protocol::decision now);
  void follow_decision_objects();
  void object_is_gone(const protocol::decision& last);
  void check_new(const base::slot_id& slot, const protocol::decision& x);
  void check_change(const known_decision& before, const protocol::decision& now);
  bool is_settled(const known_decision& x, const base::pod_uid& pod) const;
  void check_done(const known_decision& x);
  void check_minimum(const protocol::decision& x);
  void check_victims(const protocol::decision& x);
  std::int32_t priority_of(const pod_truth& pod) const;
  void keep_sums(const base::slot_id& slot, const protocol::decision& now, bool is_new);

  // how much is promised (checker_room.cpp)
  struct shard_word;
  void check_room(const protocol::decision& x);
  void check_room_of_all(const protocol::decision& x);
  void check_room_of_shard(const protocol::decision& x, const protocol::slice& part,
                           const shard_word& of);
  void check_ack(const std::string& who, const protocol::ack& said);
  std::map<std::string, base::resources>
  victims_by_node(const protocol::decision* besides = nullptr) const;
  bool is_bound_by_another_shard(const std::string& pod, const std::string& node,
                                 base::shard_id shard) const;
  bool may_come(const std::string& pod, const std::string& node) const;
  bool is_cancelled(const known_decision& x, const base::pod_uid& pod) const;

  // what the API server sees (checker_api.cpp)
  void check_binding(const protocol::http_request& request);
  void check_eviction(const protocol::http_request& request);
  bool is_of_degraded(const pod_truth& pod) const;
  void pod_changed(const pod_truth* before, const pod_truth* now);
  void check_node(const pod_truth& newly_bound);

  // terms that span nodes (checker_terms.cpp)
  void follow_departed(const pod_truth* before, const pod_truth* now);
  std::vector<standing> all_standing() const;
  void add_seats(const known_decision& x, std::vector<standing>& to) const;
  void check_terms(const std::string& uid, const std::string& node);
  bool has_terms_about(const std::vector<const pod_truth*>& pending) const;

  // what roles do (checker_roles.cpp)
  void check_shard(sim::process& who, std::uint32_t shard, const protocol::event& e,
                   const protocol::effects& wanted);
  void check_yes(std::uint32_t shard, const protocol::vote& said, const std::string& where);
  void check_partition(const protocol::effects& wanted);
  void follow_mirror(const std::string& who, const protocol::event& e);
  void check_taken_back(std::uint32_t shard, const protocol::event& e,
                        const protocol::effects& wanted, const std::string& where);
  void follow_node(const place& node, const protocol::event& e);
  void check_leave(const place& node, const protocol::effects& wanted);

  // what coordinators do (checker_gangs.cpp)
  void follow_queue(const protocol::event& e, const protocol::effects& wanted);
  void check_gang(const place& gang, const protocol::event& e, const protocol::effects& wanted);
  void hear_ack(const protocol::ack& x, gang_word& of);
  bool is_covered(const known_decision& x, const gang_word& of) const;
  void check_look(const protocol::decide& wanted);
  void check_rivals(const protocol::event& e, const protocol::effects& wanted);
  void check_release(const protocol::release& wanted);
  void check_bound_by(const pod_truth& newly_bound);

  // what a shard begins with (checker_journal.cpp)
  void follow_journal(const std::string& who, const std::string& key, const std::string& value);
  void follow_checkpoint(sim::process& who, const std::string& key, const std::string& value);
  void follow_tail(sim::process& who);
  void check_replay(sim::process& who, std::uint32_t shard);
  void compare_replay(const std::string& who, std::uint32_t shard,
                      const shards::reservation_book& found, bool is_log_elsewhere);
  void check_replay_twice(const std::string& who, const persistence::disk& left,
                          std::uint32_t shards);

  // everything from scratch (recount.cpp)
  void recount();
  void recount_decisions();
  void recount_room();
  void recount_plans();
  void recount_bound();
  void recount_roles(sim::process& who);
  void take_durable(const protocol::decision& x, std::set<base::slot_id>& found);

  // partition maps (checker_store.cpp)
  void follow_maps();

  // what must have come right (audit.cpp)
  void rest();
  void wrong(std::string_view id, const std::string& about, std::string what);
  struct whereabouts {
    std::size_t bound = 0;
    std::vector<const pod_truth*> pending;
    std::set<std::string> domains;
    bool is_nowhere = false; ///< a member is on a node that is gone, or has no domain
    bool has_moved = false;  ///< a node has changed its rack under its pods
    bool has_heirs = false;  ///< members were bound before the group of this uid came
  };
  /// The gang is pinned to what does not exist: nobody of it may be placed (T-3).
  static bool is_torn(const whereabouts& where, const group_truth& group);
  whereabouts whereabouts_of(const std::string& name, const group_truth& group) const;
  std::size_t need_of(const group_truth& group, std::size_t bound) const;
  void check_domains(const std::string& name, const group_truth& group);
  void audit_members();
  void audit_gangs();
  void audit_started(const group_truth& group);
  void audit_queue(sim::process& who);
  void audit_shards(sim::process& who);
  void audit_nodes(sim::process& who);
  bool fits(const group_truth& group, const std::vector<const pod_truth*>& pending,
            std::size_t need, const std::string& domain, bool counts_promises) const;
  bool fits_now(const std::string& gang) const;

  sim::world& on_;
  const options how_;
  truth truth_;
  std::optional<violation> broken_;
  std::map<std::string, std::uint64_t, std::less<>> looks_;

  // when it looks
  std::uint64_t deliveries_ = 0;
  std::uint64_t recounted_at_ = 0; ///< deliveries
  base::time_point rested_at_{};
  base::time_point calm_since_{};
  patience patience_;
  bool is_over_ = false; ///< the end: nothing is waited for any more

  room_book room_;
  rivalry rivals_;
  std::size_t maps_seen_ = 0;
  std::map<protocol::address, protocol::owner> owners_; ///< as the partition map says
  /// Of the recount: what a pod's object asks for, read once per version.
  std::map<std::string, std::pair<std::uint64_t, base::resources>> asks_;

  std::map<base::slot_id, known_decision> decisions_;
  decision_objects_reader objects_;
  /// (pod uid, node name), ever: by which shard's slice.
  std::map<std::pair<std::string, std::string>, std::uint32_t> decided_;
  std::map<base::slot_id, std::set<base::pod_uid>> cancels_; ///< asked for, ever
  std::set<std::string> victims_;                            ///< pod uids, ever
  struct departed {
    pod_truth pod;
    std::map<std::string, std::string> labels; ///< of its node
    base::time_point at;
  };
  std::vector<departed> departed_; ///< pods that have left their nodes, ever
  std::map<std::string, std::shared_ptr<const api::pod_ties>> ties_ever_; ///< by pod uid
  std::set<std::string> started_; ///< gang uids with a committed decision

  /// Per process and shard.
  struct shard_word {
    bool is_fresh = false;
    std::set<base::attempt_id> voted;    ///< yes, in this life
    std::set<base::attempt_id> given_up; ///< told so, in this life
    std::set<base::attempt_id> promised; ///< yes, in this life of the shard
    /// Promised, listed at the beginning or acked, in this life of the shard.
    std::set<base::attempt_id> known;
    std::set<base::attempt_id> told_over;          ///< aborted or done, in any life
    std::map<std::uint32_t, std::uint64_t> epochs; ///< highest obeyed, by partition
  };
  std::map<std::pair<std::string, std::uint32_t>, shard_word> shards_;
  std::map<std::uint32_t, std::string> last_begun_; ///< shard → the process of its present life
  /// Since when a mirror knows that it hears nothing of nodes or pods, by process and channel.
  std::map<std::pair<std::string, std::uint64_t>, base::time_point> deaf_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> opened_; ///< last, by exchange

  base::time_point life_began_{};           ///< of the process that began last
  base::time_point facts_synced_{};         ///< when its queue has heard of everything
  base::time_point writer_began_{};         ///< when its status writer began
  std::set<base::attempt_id> told_aborted_; ///< by whoever may say so, ever
  std::set<std::pair<base::attempt_id, std::uint32_t>> committed_; ///< durable, by shard, ever
  std::set<std::pair<std::string, std::string>> asked_;    ///< (pod uid, version): to be bound so
  std::set<base::attempt_id> begun_;                       ///< attempts, ever
  std::map<base::attempt_id, protocol::gang_ptr> looked_;  ///< what the last look has shown
  std::map<std::string, std::string> touch_at_cancel_;     ///< by pod uid
  std::set<std::pair<base::slot_id, std::string>> let_go_; ///< (slot, pod uid): released

  std::map<place, gang_word> gangs_;

  /// Per node actor: what it was told of, and what it has allowed.
  struct node_word {
    std::set<std::string> told; ///< pod uids
    std::map<std::string, base::attempt_id> allowed;
  };
  std::map<place, node_word> leaves_;

  /// Per process: its shards' promises as the records say that are durable.
  struct journal_word {
    std::uint64_t last = 0;
    bool is_whole = true; ///< no record was cut off before it was seen
    std::map<std::uint32_t, std::map<base::attempt_id, bool>> open; ///< shard → attempt: committed
    /// Shard → promises of its checkpoint that no record tells of, as those of the fast path.
    std::map<std::uint32_t, std::set<base::attempt_id>> unrecorded;
    std::set<std::uint32_t> unchecked; ///< shards that have not begun in this life
  };
  std::map<std::string, journal_word> journals_;
};

} // namespace tutti::chaos
