// What may be so for a while, and not for long: remembers since when it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.hpp"

namespace tutti::chaos {

/// Some promises do not hold at each moment: a queue hears of a pod after the pod is there. They
/// are looked at again and again; what was found in each look of a long enough time is broken.
/// Times during which something fails do not count.
class patience {
public:
  /// A look begins, at `now`. Nothing has failed since `calm`: waiting begins there at the
  /// earliest.
  void begin(base::time_point now, base::time_point calm) {
    now_ = now;
    calm_ = calm;
    ++look_;
  }
  /// `what` is found in this look. True if it was in every look for `grace`, all of it calm.
  bool is_over(std::string_view id, const std::string& what, base::duration grace) {
    auto& x = seen_[{std::string{id}, what}];
    if (x.last_look + 1 < look_)
      x.since = now_;
    x.last_look = look_;
    return now_ - std::max(x.since, calm_) >= grace;
  }
  /// Forgets what this look has not found.
  void end() {
    std::erase_if(seen_, [this](const auto& x) { return x.second.last_look != look_; });
  }

private:
  struct suspicion {
    base::time_point since{};
    std::uint64_t last_look = 0;
  };
  std::map<std::pair<std::string, std::string>, suspicion> seen_;
  base::time_point now_{};
  base::time_point calm_{};
  std::uint64_t look_ = 1;
};

} // namespace tutti::chaos
