// Attempts that are over, so that a word of them that comes late or twice changes nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

#include "base/ids.hpp"

namespace tutti::queue {

/// The last attempt that ended, per gang, for the gangs of the last few thousand ends: far more
/// than a network keeps messages for (F1, F2).
class over_log {
public:
  static constexpr std::size_t longest = 4096;

  void add(const base::attempt_id& x) {
    auto [pos, is_new] = last_.try_emplace(x.gang, x);
    if (!is_new) {
      if (pos->second < x)
        pos->second = x;
      return;
    }
    order_.push_back(x.gang);
    if (order_.size() > longest) {
      last_.erase(order_.front());
      order_.pop_front();
    }
  }

  /// True if this attempt, or a later one of the same gang, is known to be over.
  bool has(const base::attempt_id& x) const {
    const auto pos = last_.find(x.gang);
    return pos != last_.end() && !(pos->second < x);
  }

private:
  std::map<base::gang_uid, base::attempt_id> last_;
  std::deque<base::gang_uid> order_;
};

} // namespace tutti::queue
