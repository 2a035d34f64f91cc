// What participants write into the journal, as plain values. persistence/FORMAT.md has the bytes.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "protocol/plan.hpp"

namespace tutti::protocol {

/// A shard promised the slice to the attempt.
struct prepared_record {
  base::attempt_id attempt;
  base::partition_id coordinator;
  slice_ptr asked;

  friend bool operator==(const prepared_record& a, const prepared_record& b) {
    return a.attempt == b.attempt && a.coordinator == b.coordinator && *a.asked == *b.asked;
  }
};

/// The attempt is decided; the slice stays held until each pod is seen bound or gone, or released.
struct committed_record {
  base::attempt_id attempt;
  base::partition_id coordinator;
  slice_ptr asked; ///< whole again: a shard that forgot the PREPARED re-reserves from this

  friend bool operator==(const committed_record& a, const committed_record& b) {
    return a.attempt == b.attempt && a.coordinator == b.coordinator && *a.asked == *b.asked;
  }
};

/// `pods` of the attempt are no longer held; empty = all of it.
struct released_record {
  base::attempt_id attempt;
  std::vector<base::pod_uid> pods;

  friend bool operator==(const released_record&, const released_record&) = default;
};

/// Highest epoch heard of per partition, and the smallest try still alive there (S8).
struct epoch_record {
  base::partition_id partition;
  base::epoch_no seen;
  std::uint64_t low_water = 0;

  friend bool operator==(const epoch_record&, const epoch_record&) = default;
};

/// A shard or partition begins a new life under this number; passes through the store's queue, so
/// that everything an earlier life still had there is behind it.
struct life_record {
  base::epoch_no epoch;
  base::incarnation_no incarnation;

  friend bool operator==(const life_record&, const life_record&) = default;
};

using record =
    std::variant<prepared_record, committed_record, released_record, epoch_record, life_record>;

} // namespace tutti::protocol
