// Keeps this replica's place among several: its Lease, and its share of the partition map.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.hpp"
#include "bridge/lease_times.hpp"
#include "bridge/own_lease.hpp"
#include "bridge/partition_map.hpp"
#include "bridge/replica_watch.hpp"
#include "protocol/role.hpp"

namespace tutti::bridge {

/// Several replicas run the same cluster, each a part of it, and any of them may die, pause or be
/// cut off. The keeper is the only one here who knows that there are others. In this order:
///
///     own Lease written ─▶ others' Leases and the map read ─▶ map changed by compare-and-set
///        ─▶ decisions listed (`slots_wanted`) ─▶ `own`: the shell begins what is listed
///
/// What is given up is ended at once, with the change that gives it up. The list comes after the
/// change (2.7): the former owner of a shard decides, then reads the map; this one changes the map,
/// then lists; so one of the two sees the other.
///
///   * Whatever begins, begins under a new epoch: what this replica owned in an earlier life, what
///     it owned when its Lease ran out, and what an actor of died (`child_died`). There is no other
///     way to begin.
///   * `given_up` without a renewal that went through: `own` with nothing owned.
///   * Another process under the same name (own_lease.hpp): nothing is owned until it is silent.
///   * A map that makes no sense is left as it is, and what is owned stays owned.
///   * `map_wanted` is answered by a read that was sent after the question came (rule 5); one read
///     serves all that had asked by then.
///   * Unfinished decisions that `decisions` has come upon are passed on to the partitions that run
///     here (`resume_decision`).
///   * A partition that finds a fence above its epoch asks for a higher one (`new_epoch`).
///
/// At an orderly stop the shell fires `stop_timer`: everything is ended, handed over in the map,
/// the Lease released, and the role retires.
class keeper_role final : public protocol::role {
public:
  struct options {
    std::string replica;
    std::string holder; ///< names the process; see own_lease
    std::string link;   ///< where its link listens, for the others
    lease_times times;
    std::uint32_t shards = 1;
    std::uint32_t partitions = base::limits::partitions;
    base::wall_time wall_at_zero; ///< wall time at the zero of the monotonic time line
  };

  explicit keeper_role(options o);

  protocol::effects on(const protocol::event& e, base::time_point now) override;
  std::uint64_t state_hash() const override;

  enum timer : std::uint32_t { beat_timer = 1, lease_timer, map_timer, stop_timer };

private:
  enum class channel : std::uint8_t { lease, list, map };
  struct exchange_state {
    std::uint64_t id = 0; ///< 0 = none is open
    base::time_point asked{};
  };
  enum class map_step : std::uint8_t { idle, reading, creating, writing };
  /// Somebody who wants to hear of a read that begins after the question.
  struct question {
    protocol::address from;
    base::attempt_id attempt;
  };
  /// A list of decisions: of what it was asked for, and what it said.
  struct listing {
    std::uint64_t id = 0;
    base::time_point asked{};
    std::map<protocol::address, base::epoch_no> of;
    std::optional<std::vector<protocol::decision_ptr>> said;
  };

  // keeper_role.cpp
  void beat();
  void ask(channel which, protocol::http_request what);
  void on_answer(std::uint64_t id, int status, const std::string& body);
  void on_answer(channel which, int status, const std::string& body);
  void hear(const protocol::received& x);
  void pump_lease();
  void settle();
  void stop_step();
  base::wall_time wall_now() const;
  std::string describe() const;

  // keeper_map.cpp
  void pump_map();
  void read_map();
  bool change_map();
  void on_map_answer(int status, const std::string& body);
  bool take_map(const std::string& body);
  void map_is(partition_map map);
  void map_failed(std::string why);
  void answer_questions();
  void begin_list();
  void ask_list(std::map<protocol::address, base::epoch_no> of);
  void hear(const protocol::slots_told& x);
  void pass_on(const protocol::slots_told& x);
  void end_list();
  void tell_owned(std::vector<protocol::decision_ptr> open);
  bool update_told();
  const std::string& run_by(const protocol::address& unit) const;
  bool is_mine(const protocol::address& unit) const;

  const options how_;
  const partition_map like_; ///< how many units there are
  own_lease lease_;
  replica_watch watch_;
  std::array<exchange_state, 3> open_;
  std::uint64_t last_id_ = 0;
  bool has_lease_ = false;
  base::time_point armed_for_{}; ///< the lease timer: when the Lease is given up
  bool has_told_rival_ = false;
  bool is_stopping_ = false;
  bool has_handed_over_ = false; ///< or tried to
  bool is_over_ = false;

  map_step step_ = map_step::idle;
  bool must_read_ = true;    ///< what is known may not be written over
  bool begins_anew_ = false; ///< the Lease is new: all that is ours begins under new epochs
  std::optional<partition_map> map_;
  std::string map_version_;
  /// What a body that made sense meant: the same one comes again and again.
  struct {
    std::string body;
    std::string version;
    partition_map map;
  } last_read_;
  std::string map_problem_;
  std::uint32_t map_failures_ = 0;
  base::time_point map_retry_{};
  units_anew anew_;
  std::vector<question> waiting_; ///< for a read that has not begun
  std::vector<question> asking_;  ///< the read that is open is for them
  std::optional<listing> listing_;
  std::uint64_t last_list_ = 0;
  std::map<protocol::address, base::epoch_no> listed_; ///< what the shell may run
  protocol::ownership told_;

  std::uint64_t seed_ = 0;
  base::time_point now_{};
  protocol::effects out_;
};

} // namespace tutti::bridge
