// The write-once record that decides a gang's fate: the only commit point of the system.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "protocol/plan.hpp"

namespace tutti::protocol {

enum class verdict : std::uint8_t { committed, aborted };

/// What stands in a decision slot. `by`, `what`, `chosen` and the gang's facts never change once
/// written (S2); `cancelled`, `adopted_by` and `is_done` only grow.
struct decision {
  base::attempt_id by;
  verdict what = verdict::aborted;
  object_name gang_name;
  bool is_lone_pod = false;
  std::int32_t priority = 0;
  std::vector<gang_group> groups;           ///< with the minimum of the last look
  std::vector<std::uint32_t> bound_already; ///< per group: members bound before this plan (S4)
  plan chosen;                              ///< empty if aborted
  std::vector<std::string>
      seat_versions;                    ///< resourceVersion per seat at the last look, slice order
  std::vector<base::pod_uid> cancelled; ///< members given up, durable before they are touched
  base::epoch_no adopted_by;            ///< 0 = nobody but `by.epoch`
  bool is_done = false;
  /// Members of a done one that are bound, by `base::hash_of` their uid, ascending: while the plan
  /// is there only those given up and bound all the same, and all of them in what is kept of it.
  /// There may be a hundred thousand.
  std::vector<std::uint64_t> bound;

  friend bool operator==(const decision&, const decision&) = default;
};
using decision_ptr = std::shared_ptr<const decision>;

/// A change to a decision that is already there. Refused if a later epoch has adopted it.
struct amendment {
  base::epoch_no by;
  std::vector<base::pod_uid> cancel; ///< CANCEL records, all in one write
  bool adopt = false;                ///< put `by` into `adopted_by`
  bool finish = false;               ///< DONE
  /// With DONE: who was given up and is bound all the same, by a Binding that was under way.
  std::vector<base::pod_uid> bound;

  friend bool operator==(const amendment&, const amendment&) = default;
};

} // namespace tutti::protocol
