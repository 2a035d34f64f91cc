// Epochs and low waters: taken in, compared, written down now and then.
#include "shards/fences.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "base/mutant.hpp"

namespace tutti::shards {

bool fence_table::hear(base::partition_id from, base::epoch_no epoch, std::uint64_t low_water) {
  auto& m = marks_[from];
  if (epoch < m.seen)
    return false;
  if (m.seen < epoch) {
    m = {epoch, low_water, 0};
    return true;
  }
  m.low_water = std::max(m.low_water, low_water);
  return false;
}

bool fence_table::is_over(base::partition_id from, base::epoch_no epoch) const {
  auto pos = marks_.find(from);
  return pos != marks_.end() && epoch < pos->second.seen
         && !base::is_planted(base::mutant::ignore_epoch);
}

bool fence_table::is_dead(base::partition_id from, const base::attempt_id& attempt) const {
  auto pos = marks_.find(from);
  if (pos == marks_.end())
    return false;
  const auto& m = pos->second;
  if (base::is_planted(base::mutant::ignore_epoch))
    return attempt.epoch == m.seen && attempt.try_no < m.low_water;
  if (base::is_planted(base::mutant::ignore_low_water))
    return attempt.epoch < m.seen;
  return attempt.epoch < m.seen || (attempt.epoch == m.seen && attempt.try_no < m.low_water);
}

protocol::epoch_record fence_table::record(base::partition_id of) {
  auto& m = marks_[of];
  m.recorded_low_water = m.low_water;
  return {of, m.seen, m.low_water};
}

std::optional<protocol::epoch_record> fence_table::overdue(base::partition_id of) {
  auto pos = marks_.find(of);
  if (pos == marks_.end()
      || pos->second.low_water < pos->second.recorded_low_water + base::limits::attempts_in_flight)
    return std::nullopt;
  return record(of);
}

void fence_table::apply(const protocol::epoch_record& x) {
  auto& m = marks_[x.partition];
  if (m.seen < x.seen)
    m = {x.seen, x.low_water, x.low_water};
  else if (m.seen == x.seen)
    m.low_water = m.recorded_low_water = std::max(m.low_water, x.low_water);
}

} // namespace tutti::shards
