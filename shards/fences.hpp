// What a shard knows of its coordinators' generations: whose word still counts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "protocol/records.hpp"

namespace tutti::shards {

/// A paused owner may wake long after its successor took over, and a PREPARE may be delivered after
/// its attempt was given up. Per coordinator partition the shard therefore keeps the highest epoch
/// it has heard of and, within that epoch, the smallest try that may still be alive. Both only
/// grow. Upholds S8.
class fence_table {
public:
  struct mark {
    base::epoch_no seen;
    std::uint64_t low_water = 0;
    std::uint64_t recorded_low_water = 0; ///< as last handed out for the journal
  };

  /// Takes in what a message said. True if the epoch is a higher one: it must be durable before
  /// anything is answered under it (`record`). A low water of an older epoch says nothing.
  [[nodiscard]] bool hear(base::partition_id from, base::epoch_no epoch, std::uint64_t low_water);

  /// True if nothing of `epoch` is obeyed any more.
  bool is_over(base::partition_id from, base::epoch_no epoch) const;
  /// True if the attempt cannot be alive: its epoch is over, or its try is below the low water.
  bool is_dead(base::partition_id from, const base::attempt_id& attempt) const;

  /// What is to be journalled of the partition now.
  protocol::epoch_record record(base::partition_id of);
  /// The same if the low water has moved on far enough to be worth a (lazy) record.
  std::optional<protocol::epoch_record> overdue(base::partition_id of);
  /// A record from the journal or a snapshot.
  void apply(const protocol::epoch_record& x);

  const std::map<base::partition_id, mark>& all() const { return marks_; }

private:
  std::map<base::partition_id, mark> marks_;
};

} // namespace tutti::shards
