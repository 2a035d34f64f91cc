// Which other replicas live, judged by changes of their Leases and our own clock.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.hpp"

namespace tutti::bridge {

/// Clocks of machines differ, so nobody reads another's `renewTime`: a replica lives while its
/// Lease has a holder and changes. It is dead when two lists, `lease_duration` apart by our own
/// monotonic clock, show the same version; a time in which we could not look proves nothing. No
/// safety depends on it.
class replica_watch {
public:
  explicit replica_watch(base::duration lease_duration) : lease_duration_(lease_duration) {}

  /// A whole list of Leases, asked for at `asked`, heard at `now`. False, and nothing changes, if
  /// it cannot be read.
  bool take(const std::string& list, base::time_point asked, base::time_point now);
  bool has_looked() const { return looked_.has_value(); }
  bool is_live(const std::string& replica) const;
  std::set<std::string> live() const;

  struct seen {
    std::string holder;
    std::string version;
    std::string link;         ///< where its link listens
    base::time_point changed; ///< when this version was first seen
  };
  /// By name, the dead and released ones included; one whose Lease was deleted, too: it comes back
  /// with its holder's next renewal, or is dead.
  const std::map<std::string, seen>& all() const { return seen_; }

private:
  bool is_live(const seen& x) const;

  base::duration lease_duration_;
  std::map<std::string, seen> seen_;
  std::optional<base::time_point> looked_; ///< when the newest list was asked for
};

} // namespace tutti::bridge
