// Who keeps whom out, and which quoted version is too old.
#include "shards/guards.hpp"

#include <algorithm>

#include "base/ensure.hpp"
#include "base/mutant.hpp"

namespace tutti::shards {

using base::attempt_id;
using protocol::guard_use;

std::optional<guard_table::objection>
guard_table::crowded(const attempt_id& attempt, const std::vector<guard_use>& uses) const {
  for (const auto& wanted : uses) {
    auto pos = uses_.find(wanted.id);
    if (pos == uses_.end())
      continue;
    objection found{wanted.id, false, {}};
    for (const auto& [other, is_exclusive] : pos->second)
      if (other.gang != attempt.gang && (is_exclusive || wanted.is_exclusive)
          && !base::is_planted(base::mutant::share_an_exclusive_guard))
        found.holders.push_back(other);
    if (!found.holders.empty())
      return found;
  }
  return std::nullopt;
}

std::optional<guard_table::objection>
guard_table::object(const attempt_id& attempt, const std::vector<guard_use>& uses) const {
  if (auto found = crowded(attempt, uses))
    return found;
  for (const auto& wanted : uses) {
    const auto now = of(wanted.id);
    if (wanted.seen < (wanted.is_exclusive ? now.any : now.exclusive)
        && !base::is_planted(base::mutant::believe_an_old_version))
      return objection{wanted.id, true, {}};
  }
  return std::nullopt;
}

void guard_table::claim(const attempt_id& attempt, const std::vector<guard_use>& uses) {
  for (const auto& wanted : uses)
    uses_[wanted.id][attempt] |= wanted.is_exclusive;
}

void guard_table::drop(const attempt_id& attempt, const std::vector<guard_use>& uses) {
  for (const auto& used : uses) {
    auto pos = uses_.find(used.id);
    if (pos == uses_.end())
      continue;
    pos->second.erase(attempt);
    if (pos->second.empty())
      uses_.erase(pos);
  }
}

void guard_table::raise(const std::vector<guard_use>& uses) {
  for (const auto& used : uses) {
    auto now = of(used.id);
    const auto before = now.any;
    now.any = {std::max(floor_.value, std::uint64_t{1}), ++counter_};
    ensure(before < now.any, before.counter, now.any.counter);
    if (used.is_exclusive)
      now.exclusive = now.any;
    raised_[used.id] = now;
  }
}

void guard_table::begin(base::epoch_no epoch) {
  ensure(floor_ < epoch, floor_.value, epoch.value);
  if (!base::is_planted(base::mutant::restart_a_guards_version))
    floor_ = epoch;
  counter_ = 0;
  raised_.clear();
}

void guard_table::restore(base::epoch_no floor, std::uint64_t counter, raised_versions raised) {
  floor_ = floor;
  counter_ = counter;
  raised_ = std::move(raised);
}

guard_table::versions guard_table::of(const protocol::guard_id& guard) const {
  if (auto pos = raised_.find(guard); pos != raised_.end())
    return pos->second;
  return {{floor_.value, 0}, {floor_.value, 0}};
}

} // namespace tutti::shards
