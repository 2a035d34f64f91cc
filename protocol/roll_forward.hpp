// After the decision: who has acked, who is bound, what is covered. Plain bookkeeping of one
// committed plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "protocol/attempt_state.hpp"
#include "protocol/decision.hpp"

namespace tutti::protocol {

/// One seat of the committed plan and how far it has come.
struct seat_progress {
  const seat* where = nullptr; ///< in the decision's plan, which the tracker owns
  std::size_t slice = 0;       ///< index into the plan's slices
  seat_state state = seat_state::waiting;
  std::string resource_version;                  ///< as last read; empty = not known
  std::uint64_t look_due = 0;                    ///< bound only after so many amendments
  std::string cause;                             ///< why it was given up
  bool was_cancelled = false;                    ///< CANCEL is durable, or on its way
  bool needs_touch = true;                       ///< rule 7b: not skipped
  bool was_touched = false;                      ///< by a withdrawal's first round
  base::time_point since{};                      ///< of `state`
  std::optional<base::time_point> blocked_since; ///< by its node or the API server; not bound since
  bool lacks_room = false;                       ///< blocked, because its node refuses leave
};

/// What a shard said of a slice, and under which epoch.
struct shard_word {
  base::epoch_no epoch;
  bool refused = false;
};

/// One slice of the committed plan and its shard's word.
struct slice_progress {
  slice_ptr asked;
  base::epoch_no epoch; ///< highest heard of; an ack of a lower one does not count
  base::epoch_no owner; ///< as the map said after the decision; 0 = not read (one replica: never)
  std::optional<shard_word> early; ///< came before the map's word on its epoch
  bool acked = false;
  bool refused = false; ///< the last word was a refusal
};

/// Bookkeeping of one committed decision. Knows no messages and no time-outs.
class roll_forward {
public:
  explicit roll_forward(decision_ptr what);

  const decision& what() const { return *what_; }
  std::vector<slice_progress>& slices() { return slices_; }
  const std::vector<slice_progress>& slices() const { return slices_; }
  std::vector<seat_progress>& seats() { return seats_; }
  const std::vector<seat_progress>& seats() const { return seats_; }

  /// Null if the plan has no such member.
  seat_progress* find(const base::pod_uid& pod);
  slice_progress* find(base::shard_id shard);

  /// Every slice without members is acked, and in every group the members already bound, those of
  /// this plan that are bound, and the live seats of acked slices reach the minimum (rule 6).
  bool is_covered() const;

  /// Cover can still come about if all that is silent acks.
  bool can_be_covered() const;

  /// Members of this plan that are bound; and with those bound before.
  std::uint32_t bound_count() const;
  std::uint32_t bound_in_all() const;
  /// A slice whose members are all given up: nobody is to be held there any more.
  bool is_abandoned(const slice_progress& s) const;
  bool has_minimum_bound() const;
  /// The minimum is bound if every member that is not given up yet will be.
  bool can_reach_minimum() const;
  /// Without this plan: then it adds to a gang that runs.
  bool had_minimum_bound() const;
  bool all_settled() const;

private:
  /// Per group: reaches the minimum when every seat for which `counts` holds is added.
  template <class Counts>
  bool reaches_minimum(Counts counts) const;

  decision_ptr what_;
  std::vector<slice_progress> slices_;
  std::vector<seat_progress> seats_;
  boost::unordered_flat_map<std::string_view, std::size_t> index_; // by uid, into seats_
};

} // namespace tutti::protocol
