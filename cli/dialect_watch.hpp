// Looks now and then whether the cluster still speaks of groups of pods as it did.
#pragma once

#include <future>
#include <optional>

#include "api/dialect.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/doorkeeper.hpp"

namespace tutti::cli {

/// An API server may be upgraded, or its groups be switched off and on, while we run. As long as
/// what we speak is served, nothing else matters. Gone for several looks: if there is another
/// dialect, the process must start again to speak it; if there is none, gangs wait for it to come
/// back.
class dialect_watch {
public:
  /// `door` outlives it.
  dialect_watch(doorkeeper& door, api::dialect spoken) : door_(door), spoken_(spoken) {}

  /// Never blocks. `unavailable` once another dialect has taken the place of ours.
  std::optional<base::error> look(base::time_point now);
  /// What one look at the cluster says.
  std::optional<base::error> judge(const cluster_facts& found);
  /// Of what we speak nothing has been served for some looks.
  bool is_away() const { return is_away_; }

private:
  doorkeeper& door_;
  const api::dialect spoken_;
  std::optional<std::future<base::result<cluster_facts>>> asked_;
  std::optional<base::time_point> due_;
  int misses_ = 0; ///< looks in a row
  bool is_away_ = false;
};

} // namespace tutti::cli
